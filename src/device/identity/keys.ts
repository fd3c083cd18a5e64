/**
 * The keys of this device and its account: drawing them, registering with them, and signing what
 * only they can sign. Private halves come from the store and go nowhere else.
 *
 * Nothing here talks to a relay: requests are built here and sent by the runtime.
 *
 * Spec: docs/protocol.md "Keys", "Registration", "The mailbox connection".
 */
import { toBase64Url } from "../../shared/bytes.ts";
import {
  type Certificate,
  parseCertificate,
  signCertificate,
} from "../../shared/crypto/certificate.ts";
import { type DeviceList, deviceState, signDeviceList } from "../../shared/crypto/device-list.ts";
import { originHash } from "../../shared/crypto/origin.ts";
import { signChallenge, signRegistration } from "../../shared/crypto/relay-auth.ts";
import { newSigningKey, type SigningKeyPair, signingKeyPair } from "../../shared/crypto/sodium.ts";
import { idFromText, idText, randomId } from "../../shared/ids.ts";
import type { Rng } from "../../shared/rng.ts";
import type { RegisterRequest } from "../../shared/wire/http.ts";
import { encodeRecoveryCode } from "../crypto/recovery-code.ts";
import {
  addOwnPrekey,
  getOwnAccount,
  getOwnDevice,
  markPrekeyPublished,
  type OwnAccountRow,
  type OwnDeviceRow,
  type OwnPrekeyRow,
  putOwnAccount,
  putOwnDevice,
} from "../store/identity.ts";
import type { ReadTx, WriteTx } from "../store/sqlite.ts";
import { learnLists } from "./lists.ts";
import { drawPrekey } from "./prekeys.ts";

/** Who this device is, with its private keys. */
export interface OwnIdentity {
  readonly aik: Uint8Array;
  readonly aikText: string;
  /** Present on admin devices only. */
  readonly aikKey: SigningKeyPair | undefined;
  readonly accountName: string;
  readonly accountMailbox: Uint8Array;
  readonly accessKey: Uint8Array;
  readonly relayOrigin: string;
  readonly deviceId: Uint8Array;
  readonly deviceName: string;
  readonly mailbox: Uint8Array;
  readonly dsk: SigningKeyPair;
  readonly certificate: Certificate;
}

/** What this device keeps of its account once the relay has agreed. */
export interface KeptAccount {
  readonly account: OwnAccountRow;
  readonly device: OwnDeviceRow;
  readonly list: DeviceList;
  readonly prekey: OwnPrekeyRow;
}

/** A new account with its first device, not registered yet. */
export interface NewAccount extends KeptAccount {
  readonly request: RegisterRequest;
  /** Shown once; whoever reads it owns the account. */
  readonly recoveryCode: string;
}

/** What a new account is made from. `relayOrigin` is parsed, names went through parseName. */
export interface AccountWishes {
  readonly relayOrigin: string;
  readonly accountName: string;
  readonly deviceName: string;
  readonly registrationCode?: string;
}

/** This device's identity; `undefined` until it is registered or linked. */
export function ownIdentity(tx: ReadTx): OwnIdentity | undefined {
  const account = getOwnAccount(tx);
  const device = getOwnDevice(tx);
  if (account === undefined || device?.certificate == null) return undefined;
  const certificate = parseCertificate(device.certificate);
  if (!certificate.ok) throw new Error("the stored certificate of this device does not verify");
  return {
    aik: idFromText(account.aik, 32),
    aikText: account.aik,
    aikKey: account.aikSeed === null ? undefined : signingKeyPair(account.aikSeed),
    accountName: account.name,
    accountMailbox: idFromText(account.accountMailbox),
    accessKey: account.accessKey,
    relayOrigin: account.relayOrigin,
    deviceId: idFromText(device.deviceId),
    deviceName: device.name,
    mailbox: idFromText(device.mailbox),
    dsk: signingKeyPair(device.dskSeed),
    certificate: certificate.value,
  };
}

/** Draws an account with this device as its admin. Units: `relayNowMs` on the relay's clock. */
export function drawAccount(wishes: AccountWishes, relayNowMs: number, rng: Rng): NewAccount {
  const aik = newSigningKey(rng);
  const dsk = newSigningKey(rng);
  const [accountMailbox, deviceId, mailbox] = [randomId(rng), randomId(rng), randomId(rng)];
  const accessKey = rng(32);
  const nowMs = BigInt(relayNowMs);
  const entry = { deviceId, dsk: dsk.publicKey, mailbox };
  const list = signDeviceList(
    {
      aik: aik.publicKey,
      version: 1,
      issuedMs: nowMs,
      prevHash: new Uint8Array(32),
      entries: [{ ...entry, addedMs: nowMs, state: deviceState.admin, changedMs: nowMs }],
    },
    aik.privateKey,
  );
  const certificate = signCertificate(
    { aik: aik.publicKey, deviceId, dsk: dsk.publicKey, listVersion: 1, issuedMs: nowMs },
    aik.privateKey,
  );
  const prekey = drawPrekey({ aik: aik.publicKey, deviceId, dsk }, relayNowMs, rng);
  const originDigest = originHash(wishes.relayOrigin);
  const claim = { originDigest, listHash: list.hash, accessKey };
  return {
    account: {
      aik: idText(aik.publicKey),
      aikSeed: aik.seed,
      accountMailbox: idText(accountMailbox),
      accessKey,
      relayOrigin: wishes.relayOrigin,
      name: wishes.accountName,
    },
    device: {
      deviceId: idText(deviceId),
      dskSeed: dsk.seed,
      mailbox: idText(mailbox),
      name: wishes.deviceName,
      certificate: certificate.record,
      createdMs: relayNowMs,
    },
    list,
    prekey,
    request: {
      account_mailbox: toBase64Url(accountMailbox),
      device_list: toBase64Url(list.record),
      prekey: toBase64Url(prekey.record),
      access_key: toBase64Url(accessKey),
      signature: toBase64Url(signRegistration(claim, aik.privateKey)),
      ...(wishes.registrationCode === undefined
        ? {}
        : { registration_code: wishes.registrationCode }),
    },
    recoveryCode: encodeRecoveryCode({ aikSeed: aik.seed, relayOrigin: wishes.relayOrigin }),
  };
}

/** Stores an account that the relay has accepted. */
export function keepAccount(tx: WriteTx, created: KeptAccount, relayNowMs: number): void {
  putOwnAccount(tx, created.account);
  putOwnDevice(tx, created.device);
  addOwnPrekey(tx, created.prekey);
  markPrekeyPublished(tx, created.prekey.prekeyId, relayNowMs);
  learnLists(tx, created.account.aik, [created.list]);
}

/** Signs the relay's challenge as this device. */
export function answerChallenge(own: OwnIdentity, nonce: Uint8Array, timeMs: bigint): Uint8Array {
  return signChallenge(
    { originDigest: originHash(own.relayOrigin), nonce, deviceId: own.deviceId, timeMs },
    own.dsk.privateKey,
  );
}
