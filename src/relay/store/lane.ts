/**
 * Lanes: a stable hash of the account mailbox modulo a stored count. An account's mailboxes, items
 * and shared bodies live in one lane, every hot statement binds one, and each lane has one writer.
 * One lane by default: it makes the largest batches.
 *
 * Spec: docs/operating.md "Shape of the tables".
 */
import { blake2b } from "../../shared/crypto/sodium.ts";
import { idFromText } from "../../shared/ids.ts";

/** The lane of an account. Units: `lanes` is the stored count, at least 1. */
export function laneOf(account: string, lanes: number): number {
  if (lanes === 1) return 0;
  const hash = blake2b(16, idFromText(account));
  return new DataView(hash.buffer, hash.byteOffset).getUint32(0) % lanes;
}
