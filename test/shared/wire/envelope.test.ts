/** Upload and item: exact bytes, exact lengths, and what must be refused. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { concat, u16, u64, u8 } from "../../../src/shared/bytes.ts";
import { keyKind } from "../../../src/shared/crypto/token.ts";
import { maxUploadBytes } from "../../../src/shared/limits.ts";
import {
  bodyBytes,
  encodeItem,
  encodeItemDelivery,
  encodeUpload,
  makeSlot,
  parseItem,
  parseUpload,
  setUploadToken,
  type UploadContent,
} from "../../../src/shared/wire/envelope.ts";
import { encodeDelivery } from "../../../src/shared/wire/frames.ts";
import { at, failureOf, valueOf } from "../../support/people.ts";
import { seededRng } from "../../support/seeded-rng.ts";

const rng = seededRng("envelope");

function contentOf(devices: number, bucket = 0, kind: 0 | 1 = keyKind.access): UploadContent {
  return {
    bucket,
    keyKind: kind,
    accountMailbox: rng(16),
    slot: makeSlot(20_833, rng(14)),
    tokenExpiryMs: 77n,
    entries: Array.from({ length: devices }, () => ({ mailbox: rng(16), header: rng(1_176) })),
    body: rng(bodyBytes(bucket)),
  };
}

/** Equality of large values by their bytes: a deep comparison of a megabyte takes seconds. */
function digest(value: object): string {
  return JSON.stringify(value, (_key, field: unknown) =>
    field instanceof Uint8Array
      ? Buffer.from(field).toString("base64")
      : typeof field === "bigint"
        ? field.toString()
        : field,
  );
}

describe("upload", () => {
  it("has the layout of the specification", () => {
    const content = contentOf(2, 0, keyKind.invite);
    const token = rng(32);
    const bytes = encodeUpload(content);
    setUploadToken(bytes, token);
    const [first, second] = [at(content.entries, 0), at(content.entries, 1)];
    expect(bytes).toEqual(
      concat(
        Uint8Array.of(1, 0, 2, 1),
        content.accountMailbox,
        content.slot,
        u64(77n),
        token,
        first.mailbox,
        first.header,
        second.mailbox,
        second.header,
        content.body,
      ),
    );
    expect(content.slot.slice(0, 2)).toEqual(u16(20_833));
  });

  it("round-trips for 1 to 16 devices in every bucket", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 16 }), fc.nat(2), fc.nat(1), (n, bucket, kind) => {
        const content = contentOf(n, bucket, kind === 0 ? 0 : 1);
        const { token, day, ...parsed } = valueOf(parseUpload(encodeUpload(content)));
        const sorted = { ...content, ...parsed };
        expect(digest(sorted) === digest(content)).toBe(true);
        expect([token, day]).toEqual([new Uint8Array(32), 20_833]);
      }),
      { numRuns: 20 },
    );
    const largest = encodeUpload(contentOf(16, 4));
    expect(largest).toHaveLength(maxUploadBytes);
    expect(valueOf(parseUpload(largest)).entries).toHaveLength(16);
  });

  it("refuses 0 and 17 devices, and a mailbox that is addressed twice", () => {
    expect(failureOf(parseUpload(encodeUpload(contentOf(0))))).toBe("upload-malformed");
    expect(failureOf(parseUpload(encodeUpload(contentOf(17))))).toBe("upload-malformed");
    const content = contentOf(2);
    const twice = [at(content.entries, 0), { ...at(content.entries, 0), header: rng(1_176) }];
    expect(failureOf(parseUpload(encodeUpload({ ...content, entries: twice })))).toBe(
      "upload-malformed",
    );
  });

  it("refuses other versions, buckets, key kinds, counts and lengths", () => {
    const bytes = encodeUpload(contentOf(2));
    const changes: [number, number][] = [
      [0, 0],
      [0, 2],
      [1, 5],
      [1, 1],
      [2, 1],
      [2, 3],
      [3, 2],
    ];
    for (const [offset, value] of changes) {
      const changed = bytes.slice();
      changed[offset] = value;
      expect(failureOf(parseUpload(changed)), `byte ${offset} = ${value}`).toBe("upload-malformed");
    }
    for (const length of [0, 1, 75, 76, bytes.length - 1]) {
      expect(failureOf(parseUpload(bytes.slice(0, length)))).toBe("upload-malformed");
    }
    expect(failureOf(parseUpload(concat(bytes, u8(0))))).toBe("upload-malformed");
  });

  it("gives views of the caller's bytes: an upload is not copied before it is written", () => {
    const bytes = encodeUpload(contentOf(1));
    const parsed = valueOf(parseUpload(bytes));
    expect([parsed.body.buffer, parsed.entries[0]?.header.buffer]).toEqual([
      bytes.buffer,
      bytes.buffer,
    ]);
  });
});

describe("item", () => {
  const item = { bucket: 0, header: rng(1_176), body: rng(1_072) };

  it("stands in a delivery as if encoded apart", () => {
    for (const [seq, redelivered] of [
      [1n, false],
      [2n ** 63n, true],
    ] as const) {
      const apart = encodeDelivery({ seq, redelivered, item: encodeItem(item) });
      expect(encodeItemDelivery(seq, redelivered, item)).toEqual(apart);
    }
  });

  it("round-trips in every bucket", () => {
    for (const bucket of [0, 1, 2, 3, 4]) {
      const made = { bucket, header: rng(1_176), body: rng(bodyBytes(bucket)) };
      const bytes = encodeItem(made);
      expect(bytes.slice(0, 2)).toEqual(Uint8Array.of(1, bucket));
      expect(digest(valueOf(parseItem(bytes))) === digest(made)).toBe(true);
    }
  });

  it("names version, then bucket, then length", () => {
    const bytes = encodeItem(item);
    const with2 = (version: number, bucket: number): Uint8Array =>
      concat(u8(version), u8(bucket), bytes.slice(2));
    expect(failureOf(parseItem(new Uint8Array(0)))).toBe("version");
    expect(failureOf(parseItem(with2(2, 9)))).toBe("version");
    expect(failureOf(parseItem(with2(1, 5)))).toBe("bucket");
    expect(failureOf(parseItem(Uint8Array.of(1)))).toBe("bucket");
    expect(failureOf(parseItem(with2(1, 1)))).toBe("length");
    expect(failureOf(parseItem(bytes.slice(0, -1)))).toBe("length");
    expect(failureOf(parseItem(concat(bytes, u8(0))))).toBe("length");
  });
});
