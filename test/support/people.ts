/**
 * Accounts with devices, certificates, lists and prekeys, built in memory from one generator, and
 * the small steps that tests of sealing and opening repeat.
 *
 * Draw order of a person: AIK seed 32, account mailbox 16, access key 32; then for each device id 16,
 * mailbox 16, DSK seed 32, X-Wing seed 32.
 */
import { type Certificate, signCertificate } from "../../src/shared/crypto/certificate.ts";
import {
  type DeviceEntry,
  type DeviceList,
  deviceState,
  signDeviceList,
} from "../../src/shared/crypto/device-list.ts";
import { originHash } from "../../src/shared/crypto/origin.ts";
import { type Prekey, signPrekey } from "../../src/shared/crypto/prekey.ts";
import { type Renewal, signRenewal } from "../../src/shared/crypto/renewal.ts";
import { newSigningKey, type SigningKeyPair } from "../../src/shared/crypto/sodium.ts";
import { keyKind } from "../../src/shared/crypto/token.ts";
import { dayOf } from "../../src/shared/clock.ts";
import { equalBytes, utf8 } from "../../src/shared/bytes.ts";
import type { Result } from "../../src/shared/result.ts";
import type { Rng } from "../../src/shared/rng.ts";
import { encodeItem, parseUpload } from "../../src/shared/wire/envelope.ts";
import type { KnownSender, SenderContext } from "../../src/device/crypto/judge-sender.ts";
import type { Opener } from "../../src/device/crypto/open.ts";
import { xwingPublicKey } from "../../src/device/crypto/primitives.ts";
import { type SealMessage, type SealRequest, sealUpload } from "../../src/device/crypto/seal.ts";
import type { Relation } from "../../src/device/crypto/type-rules.ts";

/** Friday 15 January 2027, 08:00 UTC. */
export const testNowMs = 1_800_000_000_000;
export const testOrigin = "https://relay.example";

export type SeededKey = SigningKeyPair & { readonly seed: Uint8Array };

export interface TestDevice {
  readonly deviceId: Uint8Array;
  readonly mailbox: Uint8Array;
  readonly dsk: SeededKey;
  readonly xwingSeed: Uint8Array;
  readonly prekey: Prekey;
  readonly certificate: Certificate;
}

export interface TestPerson {
  readonly aik: SeededKey;
  readonly accountMailbox: Uint8Array;
  readonly accessKey: Uint8Array;
  /** The first is admin. */
  readonly devices: readonly TestDevice[];
  readonly list: DeviceList;
}

/** Takes a success out of a Result, or fails the test. */
export function valueOf<T, E>(result: Result<T, E>): T {
  if (!result.ok) throw new Error(`expected a success, got ${JSON.stringify(result.error)}`);
  return result.value;
}

/** Takes the code of a failure out of a Result, or fails the test. */
export function failureOf<T, E extends { readonly type: string }>(result: Result<T, E>): string {
  if (result.ok) throw new Error("expected a failure, got a success");
  return result.error.type;
}

/** The element at an index, or the test fails. */
export function at<T>(list: readonly T[], index: number): T {
  const element = list[index];
  if (element === undefined) throw new RangeError(`no element ${index} of ${list.length}`);
  return element;
}

/** Builds a person with that many devices, all in list version 1. */
export function createPerson(rng: Rng, deviceCount = 1, nowMs: number = testNowMs): TestPerson {
  const aik = newSigningKey(rng);
  const accountMailbox = rng(16);
  const accessKey = rng(32);
  const devices = Array.from({ length: deviceCount }, () => createDevice(rng, aik, nowMs));
  const list = signDeviceList(
    {
      aik: aik.publicKey,
      version: 1,
      issuedMs: BigInt(nowMs),
      prevHash: new Uint8Array(32),
      entries: devices.map((device, index) => entryFor(device, index === 0, nowMs)),
    },
    aik.privateKey,
  );
  return { aik, accountMailbox, accessKey, devices, list };
}

/** A person under a new identity key, with the same devices, and the renewal that says so. */
export function renewedPerson(
  rng: Rng,
  person: TestPerson,
  nowMs: number = testNowMs,
): { readonly renewal: Renewal; readonly person: TestPerson } {
  const { publicKey, privateKey, seed } = newSigningKey(rng);
  const aik = { publicKey, privateKey, seed };
  const issuedMs = BigInt(nowMs);
  const { version, hash } = person.list;
  const claim = { oldListVersion: version, oldListHash: hash, issuedMs };
  const devices = person.devices.map((device) => {
    const { deviceId, dsk } = device;
    const xwingSeed = rng(32);
    const key = { deviceId, notBeforeMs: issuedMs, publicKey: xwingPublicKey(xwingSeed) };
    const claimed = { aik: publicKey, deviceId, dsk: dsk.publicKey, listVersion: 1, issuedMs };
    return {
      ...device,
      xwingSeed,
      prekey: signPrekey(key, publicKey, dsk.privateKey),
      certificate: signCertificate(claimed, privateKey),
    };
  });
  const { entries } = person.list;
  const first = { aik: publicKey, version: 1, issuedMs, prevHash: new Uint8Array(32), entries };
  return {
    renewal: signRenewal(claim, person.aik, aik),
    person: { ...person, aik, devices, list: signDeviceList(first, privateKey) },
  };
}

/** Builds one device of an account. Its certificate names list version 1. */
export function createDevice(rng: Rng, aik: SigningKeyPair, nowMs: number = testNowMs): TestDevice {
  const deviceId = rng(16);
  const mailbox = rng(16);
  const dsk = newSigningKey(rng);
  const xwingSeed = rng(32);
  const notBeforeMs = BigInt(nowMs);
  return {
    deviceId,
    mailbox,
    dsk,
    xwingSeed,
    prekey: signPrekey(
      { deviceId, notBeforeMs, publicKey: xwingPublicKey(xwingSeed) },
      aik.publicKey,
      dsk.privateKey,
    ),
    certificate: signCertificate(
      {
        aik: aik.publicKey,
        deviceId,
        dsk: dsk.publicKey,
        listVersion: 1,
        issuedMs: notBeforeMs,
      },
      aik.privateKey,
    ),
  };
}

/** The list entry of a device. */
export function entryFor(
  device: TestDevice,
  admin: boolean,
  nowMs: number = testNowMs,
): DeviceEntry {
  return {
    deviceId: device.deviceId,
    dsk: device.dsk.publicKey,
    mailbox: device.mailbox,
    addedMs: BigInt(nowMs),
    state: admin ? deviceState.admin : deviceState.active,
    changedMs: BigInt(nowMs),
  };
}

/** Signs the list that follows a person's newest one. */
export function nextList(person: TestPerson, entries: readonly DeviceEntry[]): DeviceList {
  return signDeviceList(
    {
      aik: person.aik.publicKey,
      version: person.list.version + 1,
      issuedMs: person.list.issuedMs + 1_000n,
      prevHash: person.list.hash,
      entries,
    },
    person.aik.privateKey,
  );
}

/** A message with defaults: the text "hello", an id of 0x11. */
export function messageOf(fields: Partial<SealMessage> = {}): SealMessage {
  return {
    typeTag: 0,
    flags: 0,
    messageId: new Uint8Array(16).fill(0x11),
    sentAtMs: BigInt(testNowMs),
    content: utf8("hello"),
    ...fields,
  };
}

/** A request to seal from the first device of one person to all devices of another. */
export function requestOf(
  from: TestPerson,
  to: TestPerson,
  message: Partial<SealMessage> = {},
): SealRequest {
  const device = at(from.devices, 0);
  return {
    sender: { dskPrivateKey: device.dsk.privateKey, certificate: device.certificate.record },
    recipient: {
      aik: to.aik.publicKey,
      accountMailbox: to.accountMailbox,
      listVersion: to.list.version,
      listHash: to.list.hash,
      targets: to.devices,
    },
    message: messageOf(message),
    token: {
      keyKind: keyKind.access,
      key: to.accessKey,
      expiryMs: BigInt(testNowMs + 600_000),
      originDigest: originHash(testOrigin),
    },
    slotDay: dayOf(testNowMs),
  };
}

/** Cuts an upload into the items that its devices receive, as the relay does. */
export function itemsOf(upload: Uint8Array): readonly Uint8Array[] {
  const { bucket, body, entries } = valueOf(parseUpload(upload));
  return entries.map(({ header }) => encodeItem({ bucket, header, body }));
}

/** Seals and returns the item for the recipient's first device. */
export function sealItem(request: SealRequest, rng: Rng): Uint8Array {
  return at(itemsOf(valueOf(sealUpload(request, rng)).upload), 0);
}

/** A device that opens with its one prekey. */
export function openerOf(person: TestPerson, index = 0): Opener {
  const device = at(person.devices, index);
  return {
    deviceId: device.deviceId,
    findPrekey: (id) =>
      equalBytes(id, device.prekey.id)
        ? { seed: device.xwingSeed, aik: person.aik.publicKey }
        : undefined,
  };
}

/** What a device knows: one relation for everybody, with the person's list. */
export function knowing(person: TestPerson, relation: Relation): SenderContext {
  const known: KnownSender = {
    relation,
    lists: relation === "unknown" ? [] : [person.list],
  };
  return { senderOf: () => known, isOpenInvite: () => false };
}
