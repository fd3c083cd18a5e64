/**
 * Joining an account by its identity key alone: what is asked of the relay, what is believed of its
 * answer, and the next list, which this device signs itself. It comes as an admin with a new access key.
 *
 * Pure but for the randomness it is given; recover.ts beside the rooms talks to the relay and stores.
 * A chain that the relay rolled back cannot be noticed here (docs/threat-model.md).
 * Spec: docs/protocol.md "Recovery". Times are relay time.
 */
import { parseBase64Url, toBase64Url } from "../../shared/bytes.ts";
import { signCertificate } from "../../shared/crypto/certificate.ts";
import {
  type DeviceEntry,
  type DeviceList,
  type DeviceListContent,
  deviceState,
  followChain,
  liveEntries,
  parseDeviceList,
  signDeviceList,
} from "../../shared/crypto/device-list.ts";
import { originHash } from "../../shared/crypto/origin.ts";
import { signRecoverAsk, signRecovery } from "../../shared/crypto/relay-auth.ts";
import { newSigningKey, signingKeyPair } from "../../shared/crypto/sodium.ts";
import { idText, randomId } from "../../shared/ids.ts";
import { maxDevices, revokedEntryMs } from "../../shared/limits.ts";
import { err, ok, type Result } from "../../shared/result.ts";
import type { Rng } from "../../shared/rng.ts";
import type {
  RecoverBeginReply,
  RecoverBeginRequest,
  RecoverRequest,
} from "../../shared/wire/http.ts";
import type { RecoveryCode } from "../crypto/recovery-code.ts";
import type { DeviceError } from "../device.ts";
import type { KeptAccount } from "./keys.ts";
import { drawPrekey } from "./prekeys.ts";

/** What a person says about the device that recovers. Names went through parseName. */
export interface RecoveryWishes {
  readonly accountName: string;
  readonly deviceName: string;
  /** Revokes every other device of the account. */
  readonly revokeOthers: boolean;
}

/** An account with this device in it, and the request that makes it so. */
export interface DrawnRecovery extends KeptAccount {
  /** What was before its list, oldest first. */
  readonly chain: readonly DeviceList[];
  readonly request: RecoverRequest;
}

/** The question for the account of a key. */
export function recoverAsk(
  { aikSeed, relayOrigin }: RecoveryCode,
  relayNowMs: number,
): RecoverBeginRequest {
  const aik = signingKeyPair(aikSeed);
  const claim = { originDigest: originHash(relayOrigin), timeMs: BigInt(relayNowMs) };
  return {
    aik: toBase64Url(aik.publicKey),
    signed_at: claim.timeMs.toString(),
    signature: toBase64Url(signRecoverAsk(claim, aik.privateKey)),
  };
}

/** Draws this device into the account. Errors: `relay-chain`, `too-many-devices`. */
export function drawRecovery(
  { aikSeed, relayOrigin }: RecoveryCode,
  found: RecoverBeginReply,
  wishes: RecoveryWishes,
  { relayNowMs, rng }: { readonly relayNowMs: number; readonly rng: Rng },
): Result<DrawnRecovery, DeviceError> {
  const aik = signingKeyPair(aikSeed);
  const chain = readChain(found.device_lists, idText(aik.publicKey));
  if (!chain.ok) return chain;
  const dsk = newSigningKey(rng);
  const [deviceId, mailbox] = [randomId(rng), randomId(rng)];
  const joining = { deviceId, dsk: dsk.publicKey, mailbox };
  const next = nextContent(chain.value.newest, joining, { ...wishes, nowMs: BigInt(relayNowMs) });
  if (liveEntries(next).length > maxDevices) return err(tooMany);
  const list = signDeviceList(next, aik.privateKey);
  const { version: listVersion, issuedMs } = next;
  const certificate = signCertificate(
    { aik: aik.publicKey, deviceId, dsk: dsk.publicKey, listVersion, issuedMs },
    aik.privateKey,
  );
  const prekey = drawPrekey({ aik: aik.publicKey, deviceId, dsk }, relayNowMs, rng);
  const accessKey = rng(32);
  const claim = { originDigest: originHash(relayOrigin), listHash: list.hash, accessKey };
  return ok({
    account: {
      aik: idText(aik.publicKey),
      aikSeed,
      accountMailbox: found.account_mailbox,
      accessKey,
      relayOrigin,
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
    chain: chain.value.lists,
    list,
    prekey,
    request: {
      device_list: toBase64Url(list.record),
      prekey: toBase64Url(prekey.record),
      access_key: toBase64Url(accessKey),
      signature: toBase64Url(signRecovery(claim, aik.privateKey)),
    },
  });
}

/** The next list: what is known, and one admin more. */
function nextContent(
  known: DeviceList,
  joining: {
    readonly deviceId: Uint8Array;
    readonly dsk: Uint8Array;
    readonly mailbox: Uint8Array;
  },
  { nowMs, revokeOthers }: { readonly nowMs: bigint; readonly revokeOthers: boolean },
): DeviceListContent {
  const isForgotten = ({ state, changedMs }: DeviceEntry): boolean =>
    state === deviceState.revoked && nowMs > changedMs + BigInt(revokedEntryMs);
  const others = known.entries
    .filter((entry) => !isForgotten(entry))
    .map((entry) =>
      revokeOthers && entry.state !== deviceState.revoked
        ? { ...entry, state: deviceState.revoked, changedMs: nowMs }
        : entry,
    );
  const entry = { ...joining, addedMs: nowMs, state: deviceState.admin, changedMs: nowMs };
  return {
    aik: known.aik,
    version: known.version + 1,
    issuedMs: nowMs,
    prevHash: known.hash,
    entries: [...others, entry],
  };
}

interface Chain {
  readonly lists: readonly DeviceList[];
  readonly newest: DeviceList;
}

function readChain(texts: readonly string[], aik: string): Result<Chain, DeviceError> {
  const lists: DeviceList[] = [];
  for (const text of texts) {
    const record = parseBase64Url(text);
    const list = record.ok ? parseDeviceList(record.value) : record;
    if (!list.ok || idText(list.value.aik) !== aik) return err(badChain);
    lists.push(list.value);
  }
  const [first, ...later] = lists;
  const newest = first === undefined ? undefined : followChain(first, later);
  return newest?.ok === true ? ok({ lists, newest: newest.value }) : err(badChain);
}

const badChain: DeviceError = {
  type: "relay-chain",
  message:
    "the relay's device lists are not signed by the code's key, link by link: nothing was done",
};

const tooMany: DeviceError = {
  type: "too-many-devices",
  message: `the account has ${maxDevices} devices, the most there can be: recover with --revoke-others`,
};
