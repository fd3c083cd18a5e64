/** WebSocket frames, JSON fields, refusals: the shapes that both programs read from one place. */
import fc from "fast-check";
import { Value } from "typebox/value";
import { describe, expect, it } from "vitest";
import { toBase64Url } from "../../../src/shared/bytes.ts";
import { refusal, refusalCodes, statusByRefusal } from "../../../src/shared/wire/errors.ts";
import {
  bytesField,
  parseU64,
  timeFromText,
  u64Field,
  variableBytesField,
} from "../../../src/shared/wire/fields.ts";
import {
  encodeDelivery,
  parseDelivery,
  parseDeviceFrame,
  parseRelayFrame,
} from "../../../src/shared/wire/frames.ts";
import { refusalReply } from "../../../src/shared/wire/http.ts";
import { softwareVersion } from "../../../src/shared/wire/version.ts";
import { failureOf, valueOf } from "../../support/people.ts";

const text = (bytes: number): string => toBase64Url(new Uint8Array(bytes).fill(0xa5));

describe("delivery", () => {
  it("round-trips", () => {
    fc.assert(
      fc.property(
        fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }),
        fc.boolean(),
        fc.uint8Array({ maxLength: 64 }),
        (seq, redelivered, item) => {
          const delivery = { seq, redelivered, item: Uint8Array.from(item) };
          expect(valueOf(parseDelivery(encodeDelivery(delivery)))).toEqual(delivery);
        },
      ),
    );
  });

  it("refuses a cut frame and an unknown flag", () => {
    const frame = encodeDelivery({ seq: 1n, redelivered: false, item: new Uint8Array(0) });
    expect(failureOf(parseDelivery(frame.slice(0, 8)))).toBe("frame-malformed");
    frame[8] = 2;
    expect(failureOf(parseDelivery(frame))).toBe("frame-malformed");
  });
});

describe("frames of a device", () => {
  const frames = {
    auth: { type: "auth", device_id: text(16), sig: text(64) },
    ack: { type: "ack", epoch: "e", seqs: ["1", "2"] },
    publish: { type: "publish-prekey", id: 1, prekey: text(1_305) },
    list: {
      type: "update-device-list",
      id: 2,
      expected_version: 1,
      expected_hash: text(32),
      device_list: text(223),
    },
    invite: { type: "invite-key", id: 3, key: text(32), expires: "9", revoked: false },
    status: { type: "mailbox-status", id: 4 },
  };

  it.each(Object.entries(frames))("reads %s", (_name, frame) => {
    expect(valueOf(parseDeviceFrame(JSON.stringify(frame)))).toEqual(frame);
  });

  it.each<[string, unknown]>([
    ["no object", 1],
    ["no type", { id: 1 }],
    ["an unknown type", { type: "hello" }],
    ["an unknown field", { ...frames.status, extra: 1 }],
    ["a short id", { ...frames.auth, device_id: text(15) }],
    ["no seqs", { ...frames.ack, seqs: [] }],
    ["257 seqs", { ...frames.ack, seqs: Array.from({ length: 257 }, String) }],
    ["a numeric seq", { ...frames.ack, seqs: [1] }],
    ["a signed seq", { ...frames.ack, seqs: ["-1"] }],
    ["list version 0", { ...frames.list, expected_version: 0 }],
    ["a frame of the relay", { type: "drained", through: "1" }],
  ])("refuses %s", (_name, frame) => {
    expect(failureOf(parseDeviceFrame(JSON.stringify(frame)))).toBe("frame-malformed");
  });

  it("refuses what is no JSON", () => {
    expect(failureOf(parseDeviceFrame("{"))).toBe("frame-malformed");
    expect(failureOf(parseDeviceFrame(""))).toBe("frame-malformed");
  });
});

describe("frames of the relay", () => {
  it.each([
    { type: "challenge", nonce: text(32), time: "1" },
    { type: "ready", epoch: "e", time: "1", queued: 0, refused: { count: 0, since: null } },
    { type: "drained", through: "18446744073709551615" },
    { type: "displaced" },
    { type: "refused", error: "malformed", message: "m", time: "1" },
    { type: "reply", id: 1, time: "1", ok: {} },
    { type: "reply", id: 1, time: "1", error: { code: "conflict", message: "m" } },
  ])("reads $type", (frame) => {
    expect(valueOf(parseRelayFrame(JSON.stringify(frame)))).toEqual(frame);
  });

  it("refuses an unknown code and a device's frame", () => {
    const unknown = { type: "refused", error: "nope", message: "m", time: "1" };
    expect(failureOf(parseRelayFrame(JSON.stringify(unknown)))).toBe("frame-malformed");
    expect(failureOf(parseRelayFrame('{"type":"mailbox-status","id":1}'))).toBe("frame-malformed");
  });
});

describe("fields", () => {
  it("round-trips every u64 as decimal text", () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }), (value) => {
        expect(valueOf(parseU64(value.toString()))).toBe(value);
        expect(Value.Check(u64Field("n"), value.toString())).toBe(true);
      }),
    );
  });

  it.each(["", "-1", "+1", "01", "1.0", "1e3", " 1", "0x1", "18446744073709551616"])(
    "refuses %j as a u64",
    (input) => {
      expect(failureOf(parseU64(input))).toBe("malformed-u64");
      expect(timeFromText(input)).toBeUndefined();
    },
  );

  it("clamps times and takes the length of bytes exactly", () => {
    expect(timeFromText("18446744073709551615")).toBe(Number.MAX_SAFE_INTEGER);
    expect(timeFromText("12")).toBe(12);
    for (const bytes of [1, 2, 3, 16, 32, 64]) {
      expect(Value.Check(bytesField(bytes, "b"), text(bytes))).toBe(true);
      expect(Value.Check(bytesField(bytes, "b"), `${text(bytes)}A`)).toBe(false);
      expect(Value.Check(variableBytesField(bytes, "b"), text(bytes))).toBe(true);
      expect(Value.Check(variableBytesField(bytes, "b"), "")).toBe(false);
    }
  });
});

describe("refusals", () => {
  it("has a status for every code, and a reply schema that knows them all", () => {
    for (const code of refusalCodes) {
      expect(statusByRefusal[code]).toBeGreaterThanOrEqual(400);
      expect(Value.Check(refusalReply, { error: code, message: "m", time: "1" })).toBe(true);
    }
    expect(refusal("overloaded", "later", { retryAfterMs: 5 })).toEqual({
      code: "overloaded",
      message: "later",
      retryAfterMs: 5,
    });
    expect(softwareVersion).toMatch(/^\d+\.\d+\.\d+$/);
  });
});
