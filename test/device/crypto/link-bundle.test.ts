/** The link code, the bundle that it stands for, and box 1 as an admin device reads it. */
import { describe, expect, it } from "vitest";
import { concat, utf8 } from "../../../src/shared/bytes.ts";
import { newSigningKey } from "../../../src/shared/crypto/sodium.ts";
import { maxRendezvousBytes } from "../../../src/shared/limits.ts";
import { linkKeys } from "../../../src/device/crypto/kdf.ts";
import { admitLink } from "../../../src/device/crypto/link-admin.ts";
import { openLinkBox, sealLinkBox } from "../../../src/device/crypto/link-box.ts";
import {
  encodeLinkCode,
  parseLinkBundle,
  parseLinkCode,
  signLinkBundle,
} from "../../../src/device/crypto/link-bundle.ts";
import { startLink } from "../../../src/device/crypto/link-new-device.ts";
import { flip } from "../../support/forge.ts";
import { start } from "../../support/linking.ts";
import { createPerson, failureOf, valueOf } from "../../support/people.ts";
import { seededRng } from "../../support/seeded-rng.ts";

const rng = seededRng("link bundle");
const alice = createPerson(rng);

describe("the code", () => {
  it("round-trips, with white space around it", () => {
    const { codeText, code, device } = start(rng);
    expect(valueOf(parseLinkCode(` ${codeText}\n`))).toEqual(code);
    expect(codeText).toMatch(/^pixie-link:[\w-]{43}$/);
    expect(linkKeys(code.secret)).toEqual(device.keys);
  });

  it.each(["", "pixie-invite:AAAA", "pixie-link:", "pixie-link:AAAA", "AAAA"])(
    "refuses %j",
    (text) => {
      expect(failureOf(parseLinkCode(text))).toBe("link-code");
    },
  );

  it("has four keys that differ", () => {
    const { boxId, newDeviceKey, adminKey, proofKey } = linkKeys(rng(16));
    const all = [boxId, newDeviceKey, adminKey, proofKey].map((key) => key.slice(0, 16).join());
    expect(new Set(all).size).toBe(4);
  });
});

describe("the bundle", () => {
  const bundle = {
    dsk: newSigningKey(rng),
    xwingPublicKey: rng(1_216),
    deviceId: rng(16),
    mailbox: rng(16),
    name: "T",
  };
  const record = signLinkBundle({ ...bundle, dsk: bundle.dsk.publicKey }, bundle.dsk.privateKey);

  it("refuses every flipped byte of its keys and signature, and a cut record", () => {
    for (let i = 0; i < 1_345; i += 5) {
      expect(failureOf(parseLinkBundle(flip(record, i)))).toBe("link-bundle");
    }
    for (const bytes of [new Uint8Array(0), record.slice(0, 1_344), record.slice(1)]) {
      expect(failureOf(parseLinkBundle(bytes))).toBe("link-bundle");
    }
  });

  it("refuses a name out of bounds, on both sides", () => {
    const fixed = record.slice(0, 1_345);
    for (const name of ["\n", "a".repeat(129)]) {
      expect(failureOf(parseLinkBundle(concat(fixed, utf8(name))))).toBe("link-bundle");
    }
    expect(failureOf(parseLinkBundle(concat(fixed, Uint8Array.of(0xff))))).toBe("link-bundle");
    expect(valueOf(parseLinkBundle(fixed)).name).toBe("");
    expect(() => startLink("a\0", rng)).toThrow(/control/);
  });
});

describe("box 1 in front of the admin", () => {
  it("is refused when the relay puts another bundle", () => {
    const [mine, foreign] = [start(rng), start(rng)];
    expect(failureOf(admitLink(mine.code, foreign.box1, alice.aik.publicKey, rng))).toBe(
      "link-box",
    );
    const record = openLinkBox(foreign.device.keys, 1, foreign.box1) ?? new Uint8Array(0);
    const rewrapped = sealLinkBox(mine.device.keys, 1, record, rng);
    expect(failureOf(admitLink(mine.code, rewrapped, alice.aik.publicKey, rng))).toBe(
      "link-code-mismatch",
    );
  });

  it("is refused with a name that the code does not cover", () => {
    const mine = start(rng);
    const record = openLinkBox(mine.device.keys, 1, mine.box1) ?? new Uint8Array(0);
    const renamed = sealLinkBox(mine.device.keys, 1, concat(record, utf8("!")), rng);
    expect(failureOf(admitLink(mine.code, renamed, alice.aik.publicKey, rng))).toBe(
      "link-code-mismatch",
    );
  });

  it("is refused when it is damaged, cut, too large, or of another direction", () => {
    const mine = start(rng);
    const record = openLinkBox(mine.device.keys, 1, mine.box1) ?? new Uint8Array(0);
    const boxes = [
      new Uint8Array(0),
      mine.box1.slice(0, 23),
      flip(mine.box1, 0),
      flip(mine.box1, -1),
      new Uint8Array(maxRendezvousBytes + 1),
      sealLinkBox(mine.device.keys, 2, record, rng),
      sealLinkBox(mine.device.keys, 3, record, rng),
    ];
    for (const box of boxes) {
      expect(failureOf(admitLink(mine.code, box, alice.aik.publicKey, rng))).toBe("link-box");
    }
  });

  it("is refused with keys that nothing can be sealed to, before any list is signed", () => {
    const dsk = newSigningKey(rng);
    const record = signLinkBundle(
      {
        dsk: dsk.publicKey,
        xwingPublicKey: new Uint8Array(1_216).fill(0xff),
        deviceId: rng(16),
        mailbox: rng(16),
        name: "T",
      },
      dsk.privateKey,
    );
    const secret = rng(16);
    const code = valueOf(parseLinkCode(encodeLinkCode(secret, record)));
    const box1 = sealLinkBox(linkKeys(secret), 1, record, rng);
    expect(failureOf(admitLink(code, box1, alice.aik.publicKey, rng))).toBe("link-bundle");
  });
});
