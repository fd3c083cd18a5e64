import { describe, expect, it } from "vitest";
import { parseRecoveryCode } from "../../../src/device/crypto/recovery-code.ts";
import { answerChallenge, drawAccount, ownIdentity } from "../../../src/device/identity/keys.ts";
import { newestList } from "../../../src/device/identity/lists.ts";
import { identityView } from "../../../src/device/identity/devices.ts";
import { currentOwnPrekey } from "../../../src/device/store/identity.ts";
import { parseBase64Url } from "../../../src/shared/bytes.ts";
import { deviceState, parseDeviceList } from "../../../src/shared/crypto/device-list.ts";
import { originHash } from "../../../src/shared/crypto/origin.ts";
import { parsePrekey } from "../../../src/shared/crypto/prekey.ts";
import { verifyChallenge, verifyRegistration } from "../../../src/shared/crypto/relay-auth.ts";
import { signingKeyPair } from "../../../src/shared/crypto/sodium.ts";
import { idText } from "../../../src/shared/ids.ts";
import { at, testNowMs, testOrigin, valueOf } from "../../support/people.ts";
import { seededRng } from "../../support/seeded-rng.ts";
import { memoryStore, registered } from "./identity-world.ts";

const wishes = { relayOrigin: testOrigin, accountName: "Alice", deviceName: "laptop" };
const bytesOf = (text: string): Uint8Array => valueOf(parseBase64Url(text));

describe("a new account", () => {
  it("makes a request that a relay verifies, for that relay alone", () => {
    const { request } = drawAccount(wishes, testNowMs, seededRng("a"));
    const list = valueOf(parseDeviceList(bytesOf(request.device_list)));
    const claim = {
      originDigest: originHash(testOrigin),
      listHash: list.hash,
      accessKey: bytesOf(request.access_key),
    };
    const signature = bytesOf(request.signature);
    expect(verifyRegistration(claim, list.aik, signature)).toBe(true);
    const elsewhere = { ...claim, originDigest: originHash("https://other.example") };
    expect(verifyRegistration(elsewhere, list.aik, signature)).toBe(false);
    expect(list).toMatchObject({ version: 1, entries: [{ state: deviceState.admin }] });
    const [entry] = list.entries;
    expect(parsePrekey(bytesOf(request.prekey), { aik: list.aik, ...at(list.entries, 0) }).ok).toBe(
      true,
    );
    expect(entry?.addedMs).toBe(BigInt(testNowMs));
    expect(request).not.toHaveProperty("registration_code");
  });

  it("carries a registration code when there is one", () => {
    const created = drawAccount({ ...wishes, registrationCode: "abc" }, testNowMs, seededRng("a"));
    expect(created.request.registration_code).toBe("abc");
  });

  it("gives a recovery code from which the account's key comes back", () => {
    const created = drawAccount(wishes, testNowMs, seededRng("a"));
    const code = valueOf(parseRecoveryCode(created.recoveryCode));
    expect(code.relayOrigin).toBe(testOrigin);
    expect(idText(signingKeyPair(code.aikSeed).publicKey)).toBe(created.account.aik);
  });

  it("draws every id and key of its own", () => {
    const [a, b] = ["a", "b"].map((seed) => drawAccount(wishes, testNowMs, seededRng(seed)));
    const parts = [a, b].flatMap((each) => [
      each?.account.aik,
      each?.account.accountMailbox,
      each?.device.deviceId,
      each?.device.mailbox,
      idText(each?.account.accessKey ?? new Uint8Array()),
      each?.prekey.prekeyId,
    ]);
    expect(new Set(parts).size).toBe(12);
  });
});

describe("this device's identity", () => {
  it("is nobody before registration", () => {
    using store = memoryStore();
    expect(store.read(ownIdentity)).toBeUndefined();
    expect(store.read(identityView)).toBeUndefined();
  });

  it("comes back from the store with the keys that were drawn", () => {
    const { store, own, created } = registered("Alice");
    expect(own.aikText).toBe(created.account.aik);
    expect(own.aikKey?.publicKey).toEqual(own.aik);
    expect(own.certificate).toMatchObject({ aik: own.aik, deviceId: own.deviceId, listVersion: 1 });
    expect(own.certificate.dsk).toEqual(own.dsk.publicKey);
    expect(store.read((tx) => newestList(tx, own.aikText)?.record)).toEqual(created.list.record);
    expect(store.read(currentOwnPrekey)?.prekeyId).toBe(created.prekey.prekeyId);
    expect(store.read(identityView)).toEqual({
      aik: own.aikText,
      accountName: "Alice",
      deviceId: idText(own.deviceId),
      deviceName: "Alice's laptop",
      admin: true,
      relayOrigin: testOrigin,
      listVersion: 1,
    });
  });

  it("answers a challenge for its own relay, and for no other time or nonce", () => {
    const { own } = registered("Alice");
    const nonce = new Uint8Array(32).fill(3);
    const claim = {
      originDigest: originHash(testOrigin),
      nonce,
      deviceId: own.deviceId,
      timeMs: 17n,
    };
    const signature = answerChallenge(own, nonce, 17n);
    const verifies = (change: Partial<typeof claim>): boolean =>
      verifyChallenge({ ...claim, ...change }, own.dsk.publicKey, signature);
    expect(verifies({})).toBe(true);
    expect(verifies({ timeMs: 18n })).toBe(false);
    expect(verifies({ nonce: new Uint8Array(32) })).toBe(false);
    expect(verifies({ originDigest: originHash("https://other.example") })).toBe(false);
  });
});
