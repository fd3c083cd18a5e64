/**
 * Invites, from both ends: making one, judging the proof of a guest, and what a guest sends to
 * accept one. The secret goes from person to person; the relay learns one key that follows from it.
 *
 * Requests to the relay are built here and sent by the runtime. What an accepted invite does to the
 * list of people is `contacts.ts`.
 *
 * Spec: docs/protocol.md "Invite", "First contact". Times are relay time.
 */
import { clampU64, equalBytes } from "../../shared/bytes.ts";
import { encodeInvite, type Invite, parseInvite } from "../../shared/crypto/invite.ts";
import { idFromText, idText, randomId } from "../../shared/ids.ts";
import { inviteLifetimeMs, maxOpenInvites } from "../../shared/limits.ts";
import { err, ok, type Result } from "../../shared/result.ts";
import type { Rng } from "../../shared/rng.ts";
import type { AcceptClaim } from "../crypto/judge-sender.ts";
import { inviteKeys, inviteProof, verifyInviteProof } from "../crypto/kdf.ts";
import { encodeContactAccept } from "../crypto/payload.ts";
import type { Profile } from "../crypto/profile.ts";
import type { DeviceError } from "../device.ts";
import { getOwnAccount } from "../store/identity.ts";
import { addInvite, allInvites, closeInvite, getInvite, type InviteRow } from "../store/invites.ts";
import type { ReadTx, WriteTx } from "../store/sqlite.ts";
import type { OwnIdentity } from "./keys.ts";

/** What a person asks for. */
export interface InviteWishes {
  readonly multipleUse?: boolean;
  readonly lifetimeMs?: number;
}

/** What the relay is told about an invite: its key, and until when it opens the mailbox. */
export interface InviteKeyRequest {
  readonly type: "invite-key";
  readonly key: Uint8Array;
  readonly expiresMs: number;
  readonly revoked: boolean;
}

/** An invite before the relay knows it. Store it with `keepInvite` once the relay has agreed. */
export interface InviteDraft {
  readonly row: InviteRow;
  readonly link: string;
  readonly request: InviteKeyRequest;
}

/** Draws an invite. Errors: `too-many-invites`, `lifetime`. */
export function draftInvite(
  tx: ReadTx,
  own: OwnIdentity,
  at: { readonly relayNowMs: number; readonly rng: Rng },
  wishes: InviteWishes = {},
): Result<InviteDraft, DeviceError> {
  const lifetimeMs = wishes.lifetimeMs ?? inviteLifetimeMs;
  if (!Number.isSafeInteger(lifetimeMs) || lifetimeMs <= 0) {
    return refuse("lifetime", "expected a lifetime of more than 0 ms for the invite");
  }
  const open = allInvites(tx).filter((row) => isOpen(row, at.relayNowMs)).length;
  if (open >= maxOpenInvites) {
    return refuse(
      "too-many-invites",
      `${open} invites are open, expected fewer than ${maxOpenInvites}: wait until one is used or expires`,
    );
  }
  const expiresMs = at.relayNowMs + lifetimeMs;
  const inviteId = randomId(at.rng);
  const secret = at.rng(32);
  const link = encodeInvite({
    inviteId,
    secret,
    aik: own.aik,
    accountMailbox: own.accountMailbox,
    expiryMs: BigInt(expiresMs),
    relayOrigin: own.relayOrigin,
  });
  const row: InviteRow = {
    inviteId: idText(inviteId),
    secret,
    expiresMs,
    singleUse: wishes.multipleUse !== true,
    createdMs: at.relayNowMs,
    closedMs: null,
  };
  return ok({ row, link, request: keyRequest(row, false) });
}

/** Stores an invite that the relay knows. */
export function keepInvite(tx: WriteTx, draft: InviteDraft): void {
  addInvite(tx, draft.row);
}

/** Closes an invite here and says what to tell the relay. `undefined`: it was not open. */
export function closeOwnInvite(
  tx: WriteTx,
  inviteId: string,
  relayNowMs: number,
): InviteKeyRequest | undefined {
  const row = getInvite(tx, inviteId);
  if (row === undefined || row.closedMs !== null) return undefined;
  closeInvite(tx, inviteId, relayNowMs);
  return keyRequest(row, true);
}

/** What to tell a relay that was out of reach when invites were closed. It may be told twice. */
export function closedInviteRequests(tx: ReadTx, relayNowMs: number): readonly InviteKeyRequest[] {
  return allInvites(tx)
    .filter((row) => row.closedMs !== null && relayNowMs < row.expiresMs)
    .map((row) => keyRequest(row, true));
}

/** Whether a stranger's proof is right and belongs to an invite that is open now. */
export function isOpenInvite(tx: ReadTx, claim: AcceptClaim, relayNowMs: number): boolean {
  const row = getInvite(tx, idText(claim.inviteId));
  if (row === undefined || !isOpen(row, relayNowMs)) return false;
  return verifyInviteProof(inviteKeys(row.secret).proofKey, claim.proof, claim);
}

/** Reads an invite that somebody handed over. Errors say what to do about it. */
export function readInvite(
  tx: ReadTx,
  link: string,
  relayNowMs: (relayOrigin: string) => number,
): Result<Invite, DeviceError> {
  const invite = parseInvite(link);
  if (!invite.ok) return refuse(invite.error.type, invite.error.reason);
  const own = getOwnAccount(tx);
  if (own !== undefined && equalBytes(idFromText(own.aik, 32), invite.value.aik)) {
    return refuse("own-invite", "this invite is your own: give it to somebody else");
  }
  if (clampU64(invite.value.expiryMs) <= relayNowMs(invite.value.relayOrigin)) {
    return refuse("invite-expired", "this invite has expired: ask for a new one");
  }
  return invite;
}

/** The content by which a guest accepts an invite. The proof binds it to this one message. */
export function acceptContent(
  own: OwnIdentity,
  invite: Invite,
  accept: { readonly messageId: Uint8Array; readonly profile: Profile },
): Uint8Array {
  const proof = inviteProof(inviteKeys(invite.secret).proofKey, {
    messageId: accept.messageId,
    guestAik: own.aik,
    inviterAik: invite.aik,
  });
  return encodeContactAccept({ inviteId: invite.inviteId, proof, profile: accept.profile });
}

function isOpen(row: InviteRow, relayNowMs: number): boolean {
  return row.closedMs === null && relayNowMs < row.expiresMs;
}

function keyRequest(row: InviteRow, revoked: boolean): InviteKeyRequest {
  const key = inviteKeys(row.secret).inviteKey;
  return { type: "invite-key", key, expiresMs: row.expiresMs, revoked };
}

function refuse(
  type: string,
  message: string,
): { readonly ok: false; readonly error: DeviceError } {
  return err({ type, message });
}
