/**
 * Accounts, devices and uploads as the relay sees them: real keys, lists and tokens around random
 * bytes, because the relay cannot tell a sealed body from noise. For relay tests and benches.
 */
import { toBase64Url } from "../../src/shared/bytes.ts";
import { dayOf } from "../../src/shared/clock.ts";
import {
  type DeviceEntry,
  type DeviceList,
  type DeviceState,
  deviceState,
  signDeviceList,
} from "../../src/shared/crypto/device-list.ts";
import { originHash } from "../../src/shared/crypto/origin.ts";
import { type Prekey, signPrekey, xwingPublicKeyBytes } from "../../src/shared/crypto/prekey.ts";
import { signRegistration } from "../../src/shared/crypto/relay-auth.ts";
import { newSigningKey, type SigningKeyPair } from "../../src/shared/crypto/sodium.ts";
import {
  bundleTokenInput,
  deliveryTokenInput,
  type KeyKind,
  keyKind,
  makeToken,
} from "../../src/shared/crypto/token.ts";
import { idText } from "../../src/shared/ids.ts";
import { headerBytes, tokenLifetimeMs } from "../../src/shared/limits.ts";
import { type Rng, systemRng } from "../../src/shared/rng.ts";
import {
  bodyBytes,
  encodeUpload,
  makeSlot,
  setUploadToken,
} from "../../src/shared/wire/envelope.ts";
import type { BundleRequest, RegisterRequest } from "../../src/shared/wire/http.ts";

/** A device with its private key. */
export interface RelayDevice {
  readonly deviceId: Uint8Array;
  readonly mailbox: Uint8Array;
  readonly dsk: SigningKeyPair;
  /** Text form of `mailbox`, as results and frames name it. */
  readonly box: string;
}

/** An account with its private key, and its list as it stands. */
export interface RelayAccount {
  readonly aik: SigningKeyPair;
  readonly accountMailbox: Uint8Array;
  readonly accessKey: Uint8Array;
  readonly devices: readonly RelayDevice[];
  readonly list: DeviceList;
}

/** Draws a device. */
export function newDevice(rng: Rng = systemRng): RelayDevice {
  const mailbox = rng(16);
  return { deviceId: rng(16), mailbox, dsk: newSigningKey(rng), box: idText(mailbox) };
}

/** Draws an account with one admin device and list version 1. */
export function newAccount(nowMs: number, rng: Rng = systemRng): RelayAccount {
  const aik = newSigningKey(rng);
  const device = newDevice(rng);
  const list = signDeviceList(
    {
      aik: aik.publicKey,
      version: 1,
      issuedMs: BigInt(nowMs),
      prevHash: new Uint8Array(32),
      entries: [entryFor(device, deviceState.admin, nowMs)],
    },
    aik.privateKey,
  );
  return { aik, accountMailbox: rng(16), accessKey: rng(32), devices: [device], list };
}

/** An entry of a device list. */
export function entryFor(device: RelayDevice, state: DeviceState, nowMs: number): DeviceEntry {
  return {
    deviceId: device.deviceId,
    dsk: device.dsk.publicKey,
    mailbox: device.mailbox,
    addedMs: BigInt(nowMs),
    state,
    changedMs: BigInt(nowMs),
  };
}

/** The next list of an account, with other entries. */
export function nextList(
  account: RelayAccount,
  entries: readonly DeviceEntry[],
  change: { readonly version?: number; readonly prevHash?: Uint8Array } = {},
): DeviceList {
  return signDeviceList(
    {
      aik: account.aik.publicKey,
      version: change.version ?? account.list.version + 1,
      issuedMs: account.list.issuedMs + 1n,
      prevHash: change.prevHash ?? account.list.hash,
      entries,
    },
    account.aik.privateKey,
  );
}

/** A prekey of a device; its public key is noise. */
export function prekeyFor(
  account: RelayAccount,
  device: RelayDevice,
  notBeforeMs: number,
  rng: Rng = systemRng,
): Prekey {
  const content = {
    deviceId: device.deviceId,
    notBeforeMs: BigInt(notBeforeMs),
    publicKey: rng(xwingPublicKeyBytes),
  };
  return signPrekey(content, account.aik.publicKey, device.dsk.privateKey);
}

/** The request that registers an account. */
export function registrationOf(
  account: RelayAccount,
  origin: string,
  nowMs: number,
  change: Partial<RegisterRequest> = {},
): RegisterRequest {
  const [device] = account.devices;
  if (device === undefined) throw new Error("an account without a device");
  const { list, accessKey } = account;
  const claim = { originDigest: originHash(origin), listHash: list.hash, accessKey };
  return {
    account_mailbox: toBase64Url(account.accountMailbox),
    device_list: toBase64Url(list.record),
    prekey: toBase64Url(prekeyFor(account, device, nowMs).record),
    access_key: toBase64Url(accessKey),
    signature: toBase64Url(signRegistration(claim, account.aik.privateKey)),
    ...change,
  };
}

/** What an upload may differ in. */
export interface UploadOptions {
  readonly origin: string;
  readonly nowMs: number;
  readonly bucket?: number;
  readonly slot?: Uint8Array;
  /** The key of the token; the access key without it. */
  readonly key?: Uint8Array;
  readonly keyKind?: KeyKind;
  readonly tokenExpiryMs?: number;
  readonly body?: Uint8Array;
  readonly rng?: Rng;
}

/** An upload with its token, addressed to `mailboxes`. */
export function uploadTo(
  account: Pick<RelayAccount, "accountMailbox" | "accessKey">,
  mailboxes: readonly Uint8Array[],
  options: UploadOptions,
): Uint8Array {
  const rng = options.rng ?? systemRng;
  const bucket = options.bucket ?? 0;
  const upload = encodeUpload({
    bucket,
    keyKind: options.keyKind ?? keyKind.access,
    accountMailbox: account.accountMailbox,
    slot: options.slot ?? makeSlot(dayOf(options.nowMs), rng(14)),
    tokenExpiryMs: BigInt(options.tokenExpiryMs ?? options.nowMs + tokenLifetimeMs),
    entries: mailboxes.map((mailbox) => ({ mailbox, header: rng(headerBytes) })),
    body: options.body ?? noise(bodyBytes(bucket), rng),
  });
  const input = deliveryTokenInput(upload, originHash(options.origin));
  setUploadToken(upload, makeToken(input, options.key ?? account.accessKey));
  return upload;
}

/** A bundle request with its token. */
export function bundleRequestOf(
  account: Pick<RelayAccount, "accountMailbox" | "accessKey">,
  options: Pick<UploadOptions, "origin" | "nowMs" | "key" | "keyKind" | "tokenExpiryMs"> & {
    readonly since?: number;
  },
): BundleRequest {
  const claim = {
    accountMailbox: account.accountMailbox,
    keyKind: options.keyKind ?? keyKind.access,
    since: options.since ?? 0,
    expiryMs: BigInt(options.tokenExpiryMs ?? options.nowMs + tokenLifetimeMs),
  };
  const input = bundleTokenInput(claim, originHash(options.origin));
  return {
    account_mailbox: toBase64Url(account.accountMailbox),
    key_kind: claim.keyKind,
    since: claim.since,
    token_expiry: String(claim.expiryMs),
    token: toBase64Url(makeToken(input, options.key ?? account.accessKey)),
  };
}

// The platform's generator takes at most 65,536 bytes a call.
function noise(bytes: number, rng: Rng): Uint8Array {
  const out = new Uint8Array(bytes);
  for (let at = 0; at < bytes; at += 65_536) out.set(rng(Math.min(65_536, bytes - at)), at);
  return out;
}
