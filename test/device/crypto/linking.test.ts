/** Linking: the four boxes in order, and everybody who might stand between them. */
import { describe, expect, it } from "vitest";
import { label16, utf8 } from "../../../src/shared/bytes.ts";
import { deviceState } from "../../../src/shared/crypto/device-list.ts";
import { authenticate, blake2b } from "../../../src/shared/crypto/sodium.ts";
import { linkCommitment, linkKeys, linkProof } from "../../../src/device/crypto/kdf.ts";
import {
  type ApprovedLink,
  admitLink,
  checkLinkProof,
  grantLink,
} from "../../../src/device/crypto/link-admin.ts";
import { type LinkGrant, openLinkBox, sealLinkBox } from "../../../src/device/crypto/link-box.ts";
import { completeLink, proveLink } from "../../../src/device/crypto/link-new-device.ts";
import { flip } from "../../support/forge.ts";
import { admit, grantFor, recordsFor, start } from "../../support/linking.ts";
import { createPerson, failureOf, nextList, testOrigin, valueOf } from "../../support/people.ts";
import { seededRng } from "../../support/seeded-rng.ts";

const rng = seededRng("linking");
const alice = createPerson(rng);

describe("an honest linking", () => {
  it("joins the account", () => {
    const started = start(rng);
    const { admission, box2 } = admit(started, alice, rng);
    expect(admission.bundle).toMatchObject({
      name: "Tablet",
      deviceId: started.device.deviceId,
      mailbox: started.device.mailbox,
      dsk: started.device.dsk.publicKey,
    });
    expect(admission.digits).toMatch(/^\d{8}$/);
    const typed = `${admission.digits.slice(0, 4)} ${admission.digits.slice(4)}`;
    const { box3, proved } = valueOf(proveLink(started.device, box2, typed, rng));
    const approved = valueOf(checkLinkProof(admission, box3));
    const box4 = valueOf(grantLink(approved, grantFor(alice, started.device), rng));
    const { list, certificate } = recordsFor(alice, started.device);
    expect(valueOf(completeLink(proved, box4))).toEqual({
      aik: alice.aik.publicKey,
      accountName: "Alice",
      accountMailbox: alice.accountMailbox,
      accessKey: alice.accessKey,
      relayOrigin: testOrigin,
      list,
      certificate,
    });
  });

  it("derives commitment and proof as specified", () => {
    const started = start(rng);
    const { admission } = admit(started, alice, rng);
    const { opening, digits, bundleHash, commitment } = admission;
    expect(commitment).toEqual(
      blake2b(
        32,
        label16("PX1 link-commit"),
        opening,
        utf8(digits),
        alice.aik.publicKey,
        bundleHash,
      ),
    );
    const record = openLinkBox(started.device.keys, 1, started.box1);
    expect(bundleHash).toEqual(blake2b(32, record ?? new Uint8Array(0)));
    const { proofKey } = linkKeys(started.code.secret);
    expect(linkProof(proofKey, admission)).toEqual(
      authenticate(proofKey, label16("PX1 link-proof"), commitment, bundleHash, utf8(digits)),
    );
  });
});

describe("the proof", () => {
  it("burns the linking with wrong digits, even when the right ones follow", () => {
    const started = start(rng);
    const { admission, box2 } = admit(started, alice, rng);
    const wrong = String((Number(admission.digits) + 1) % 1e8).padStart(8, "0");
    const bad = valueOf(proveLink(started.device, box2, wrong, rng));
    const good = valueOf(proveLink(started.device, box2, admission.digits, rng));
    expect(failureOf(checkLinkProof(admission, bad.box3))).toBe("link-burned");
    expect(failureOf(checkLinkProof(admission, good.box3))).toBe("link-burned");
  });

  it("counts once: a second claim is refused", () => {
    const started = start(rng);
    const { admission, box2 } = admit(started, alice, rng);
    const { box3 } = valueOf(proveLink(started.device, box2, admission.digits, rng));
    expect(checkLinkProof(admission, box3).ok).toBe(true);
    expect(failureOf(checkLinkProof(admission, box3))).toBe("link-burned");
  });

  it("is worthless in another linking, and damaged", () => {
    const started = start(rng);
    const first = admit(started, alice, rng);
    const second = admit(started, alice, rng);
    const { box3 } = valueOf(proveLink(started.device, first.box2, first.admission.digits, rng));
    expect(failureOf(checkLinkProof(second.admission, box3))).toBe("link-burned");
    expect(failureOf(checkLinkProof(first.admission, flip(box3, 30)))).toBe("link-burned");
  });

  it("asks again for anything but 8 digits, without using the try", () => {
    const started = start(rng);
    const { box2 } = admit(started, alice, rng);
    for (const typed of ["", "1234567", "123456789", "1234567a", "１２３４５６７８"]) {
      expect(failureOf(proveLink(started.device, box2, typed, rng))).toBe("link-digits");
    }
  });

  it("is not made for a box that no admin with this code put", () => {
    const started = start(rng);
    const other = admit(start(rng), alice, rng);
    for (const box of [other.box2, new Uint8Array(5), started.box1]) {
      expect(failureOf(proveLink(started.device, box, "12345678", rng))).toBe("link-box");
    }
    const short = sealLinkBox(started.device.keys, 2, new Uint8Array(64).fill(1), rng);
    expect(failureOf(proveLink(started.device, short, "12345678", rng))).toBe("link-box");
    const version2 = sealLinkBox(started.device.keys, 2, new Uint8Array(65).fill(2), rng);
    expect(failureOf(proveLink(started.device, version2, "12345678", rng))).toBe("link-box");
  });
});

describe("box 4 in front of the new device", () => {
  const started = start(rng);
  const { admission, box2 } = admit(started, alice, rng);
  const { box3, proved } = valueOf(proveLink(started.device, box2, admission.digits, rng));
  const approved = valueOf(checkLinkProof(admission, box3));
  const sealed = (
    change: Partial<Omit<LinkGrant, "opening">>,
    link: ApprovedLink = approved,
  ): Uint8Array => valueOf(grantLink(link, { ...grantFor(alice, started.device), ...change }, rng));

  it("is opened by nobody else who has seen the code", () => {
    const box4 = sealed({});
    const spy = { ...proved, device: { ...started.device, xwingSeed: rng(32) } };
    expect(failureOf(completeLink(spy, box4))).toBe("link-grant");
    expect(completeLink(proved, box4).ok).toBe(true);
  });

  it("is refused when somebody else committed: he cannot know the digits", () => {
    const mallory = createPerson(rng);
    const caught = valueOf(admitLink(started.code, started.box1, mallory.aik.publicKey, rng));
    const typed = admission.digits;
    const { proved: deceived } = valueOf(proveLink(started.device, caught.box2, typed, rng));
    const box4 = sealed({}, { admission: caught.admission, bundle: caught.admission.bundle });
    expect(failureOf(completeLink(deceived, box4))).toBe("link-commitment");
    const opening = rng(32);
    const late = { ...caught.admission, opening };
    const again = sealed({}, { admission: late, bundle: late.bundle });
    expect(failureOf(completeLink(deceived, again))).toBe("link-commitment");
    expect(linkCommitment({ ...late, aik: mallory.aik.publicKey })).not.toEqual(late.commitment);
  });

  it("is refused with records that are not the committed account's, or not for this device", () => {
    const other = start(rng).device;
    const mallory = createPerson(rng);
    const changes: Partial<Omit<LinkGrant, "opening">>[] = [
      { deviceList: alice.list.record },
      { deviceList: mallory.list.record },
      { deviceList: flip(recordsFor(alice, started.device).list.record, -1) },
      { deviceList: new Uint8Array(0) },
      { deviceList: recordsFor(alice, other).list.record },
      { certificate: recordsFor(alice, other).certificate.record },
      { certificate: flip(recordsFor(alice, started.device).certificate.record, 0) },
    ];
    for (const change of changes) {
      expect(failureOf(completeLink(proved, sealed(change)))).toBe("link-records");
    }
  });

  it("is refused when the device is already revoked in it", () => {
    const { list } = recordsFor(alice, started.device);
    const entries = list.entries.map((entry, index) =>
      index === 0 ? entry : { ...entry, state: deviceState.revoked },
    );
    const box4 = sealed({ deviceList: nextList(alice, entries).record });
    expect(failureOf(completeLink(proved, box4))).toBe("link-records");
  });

  it("is refused when it is damaged, cut, or malformed inside", () => {
    const box4 = sealed({});
    expect(failureOf(completeLink(proved, flip(box4, -1)))).toBe("link-box");
    expect(failureOf(completeLink(proved, box3))).toBe("link-box");
    const { keys } = started.device;
    const content = openLinkBox(keys, 4, box4) ?? new Uint8Array(0);
    for (const bytes of [new Uint8Array(0), content.slice(0, 1_119), flip(content, 0)]) {
      const rewrapped = sealLinkBox(keys, 4, bytes, rng);
      expect(failureOf(completeLink(proved, rewrapped))).toBe("link-grant");
    }
    for (const change of [{ accountName: "a\nb" }, { relayOrigin: "https://a/b" }]) {
      expect(failureOf(completeLink(proved, sealed(change)))).toBe("link-grant");
    }
  });

  it("says when a list is too long for a box", () => {
    const long = grantLink(
      approved,
      { ...grantFor(alice, started.device), deviceList: new Uint8Array(20_000) },
      rng,
    );
    expect(failureOf(long)).toBe("too-large");
  });
});
