/**
 * This device's prekeys: when a new one is published, which private halves are still held, and when
 * each is destroyed. Destroying them is the forward secrecy of the protocol; destroying one too
 * early loses what was sealed to it while this device was away.
 *
 * A private half goes at the end of the first full drain that began at least 48 h after its
 * successor was published: whatever was sealed before anyone knew the successor has then arrived.
 *
 * Spec: docs/protocol.md "Keys" (SPK). Times are relay time.
 */
import { ByteReader } from "../../shared/bytes.ts";
import { deviceState } from "../../shared/crypto/device-list.ts";
import { type Prekey, signPrekey } from "../../shared/crypto/prekey.ts";
import type { SigningKeyPair } from "../../shared/crypto/sodium.ts";
import { idFromText, idText } from "../../shared/ids.ts";
import {
  maxPrekeyLeadMs,
  maxPrekeyLifeMs,
  prekeyGraceMs,
  prekeyRotationJitterMs,
  prekeyRotationMs,
} from "../../shared/limits.ts";
import type { Rng } from "../../shared/rng.ts";
import type { Opener } from "../crypto/open.ts";
import { xwingPublicKey, xwingSeedBytes } from "../crypto/primitives.ts";
import {
  addOwnPrekey,
  currentOwnPrekey,
  deleteOwnPrekey,
  markPrekeyPublished,
  type OwnPrekeyRow,
  ownPrekeyById,
  ownPrekeys,
} from "../store/identity.ts";
import { getSetting, putSetting } from "../store/settings.ts";
import type { ReadTx, WriteTx } from "../store/sqlite.ts";
import { newestList } from "./lists.ts";

/** Who signs a prekey. */
export interface PrekeySigner {
  readonly aik: Uint8Array;
  readonly deviceId: Uint8Array;
  readonly dsk: SigningKeyPair;
}

const prekeyIdBytes = 8;

/** Draws a prekey that is valid from now on. Draws 32 bytes. */
export function drawPrekey(signer: PrekeySigner, notBeforeMs: number, rng: Rng): OwnPrekeyRow {
  const seed = rng(xwingSeedBytes);
  const publicKey = xwingPublicKey(seed);
  const prekey: Prekey = signPrekey(
    { deviceId: signer.deviceId, notBeforeMs: BigInt(notBeforeMs), publicKey },
    signer.aik,
    signer.dsk.privateKey,
  );
  return {
    prekeyId: idText(prekey.id),
    seed,
    publicKey,
    aik: idText(signer.aik),
    record: prekey.record,
    notBeforeMs,
    publishedMs: null,
    supersededMs: null,
  };
}

/**
 * When the next prekey is due: 24 h after the last publication, give or take 4 h, so that a relay
 * sees no common rhythm of one person's devices. At once when none is out, the account's key changed,
 * or a device was removed since. The jitter follows from the prekey's id, so asking twice gives one
 * answer.
 */
export function prekeyDueMs(tx: ReadTx, aik: string): number {
  const current = currentOwnPrekey(tx);
  if (current === undefined || current.publishedMs === null || current.aik !== aik) return 0;
  if (lastRemoval(tx, aik) !== (getSetting(tx, removalSetting) ?? "0")) return 0;
  const word = new ByteReader(idFromText(current.prekeyId, prekeyIdBytes)).u32();
  const fraction = word / 2 ** 32;
  const jitterMs = (2 * fraction - 1) * prekeyRotationJitterMs;
  return current.publishedMs + prekeyRotationMs + Math.round(jitterMs);
}

/**
 * The prekey to publish now, or `undefined` when none is due. It is stored before it is sent: the
 * relay may have taken it although its reply got lost, so the same record is offered again. Confirm
 * with `prekeyPublished`.
 */
export function preparePrekey(
  tx: WriteTx,
  signer: PrekeySigner,
  relayNowMs: number,
  rng: Rng,
): OwnPrekeyRow | undefined {
  const aik = idText(signer.aik);
  if (relayNowMs < prekeyDueMs(tx, aik)) return undefined;
  // One that was dated by a clock far ahead is refused by every relay: it neither blocks nor leads.
  const rows = ownPrekeys(tx).filter((row) => row.notBeforeMs <= relayNowMs + maxPrekeyLeadMs);
  const pending = rows.findLast((row) => row.publishedMs === null);
  if (pending !== undefined) {
    const recent = relayNowMs - pending.notBeforeMs < prekeyRotationMs;
    if (recent && pending.aik === aik) return pending;
    // Too old to start its life now, but someone may have sealed to it: it is superseded in turn.
    markPrekeyPublished(tx, pending.prekeyId, relayNowMs);
  }
  const newest = rows.at(-1)?.notBeforeMs ?? 0;
  const drawn = drawPrekey(signer, Math.max(relayNowMs, newest + 1), rng);
  addOwnPrekey(tx, drawn);
  return drawn;
}

/** The relay has it: every earlier prekey is superseded from now on. */
export function prekeyPublished(
  tx: WriteTx,
  { prekeyId, aik }: OwnPrekeyRow,
  relayNowMs: number,
): void {
  markPrekeyPublished(tx, prekeyId, relayNowMs);
  putSetting(tx, removalSetting, lastRemoval(tx, aik));
}

const removalSetting = "prekey-after-removal";

/** Names the newest removal of a device of ours: what the setting says that a prekey has answered. */
function lastRemoval(tx: ReadTx, aik: string): string {
  const entries = newestList(tx, aik)?.entries ?? [];
  const removed = entries.filter(({ state }) => state === deviceState.revoked);
  return removed
    .reduce((last, { changedMs }) => (changedMs > last ? changedMs : last), 0n)
    .toString();
}

/** Destroys what a drain made needless, and what reached the hard limit. Returns how many. */
export function destroySpentPrekeys(
  tx: WriteTx,
  drain: { readonly beganMs: number; readonly relayNowMs: number },
): number {
  const spent = ownPrekeys(tx).filter((row) => {
    const superseded =
      row.supersededMs !== null && drain.beganMs >= row.supersededMs + prekeyGraceMs;
    return superseded || drain.relayNowMs >= row.notBeforeMs + maxPrekeyLifeMs;
  });
  for (const row of spent) deleteOwnPrekey(tx, row.prekeyId);
  return spent.length;
}

/** This device as the one that opens: finds held prekeys by the id in a header. */
export function openerOf(tx: ReadTx, deviceId: Uint8Array): Opener {
  return {
    deviceId,
    findPrekey: (prekeyId) => {
      const row = ownPrekeyById(tx, idText(prekeyId));
      return row === undefined ? undefined : { seed: row.seed, aik: idFromText(row.aik, 32) };
    },
  };
}
