/**
 * Admission: whether a token lets somebody reach an account. An unknown account is answered, and
 * worked for, like a wrong token: one verification against a key that nobody holds.
 *
 * Spec: docs/protocol.md "Tokens".
 */
import { maxOpenInvites, maxRetiredKeys } from "../../shared/limits.ts";
import { type KeyKind, keyKind, tokenExpiry, tokenMatches } from "../../shared/crypto/token.ts";
import { type Refusal, refusal } from "../../shared/wire/errors.ts";
import type { OpenInvite, Recipient } from "../store/accounts.ts";
import type { Recipients } from "./recipients.ts";

/** A token and what it must match. */
export interface TokenClaim {
  readonly keyKind: KeyKind;
  /** The bytes that the token authenticates. */
  readonly input: Uint8Array;
  readonly token: Uint8Array;
}

/** Let in, by an access key or by an invite. */
export interface Admission {
  readonly recipient: Recipient;
  readonly invite: string | undefined;
  /** By a retired access key: good for the reserve only. */
  readonly isReserve: boolean;
}

interface Candidate {
  readonly key: Uint8Array;
  readonly invite: string | undefined;
  readonly isReserve: boolean;
}

/** Judges a claim on an account: from memory if that lets it in, else by what the database says now. */
export type Admit = (account: string, claim: TokenClaim) => Promise<Admission | undefined>;

/** Both ways of judging. */
export interface Admissions {
  readonly admit: Admit;
  /** Never from memory: before anything is refused. */
  readonly admitAfresh: Admit;
}

const noKey = new Uint8Array(32);
const noInvite: OpenInvite = { invite: "", key: noKey };

/** The refusal of a token's expiry, if there is one. The same for known and unknown accounts. */
export function expiryRefusal(expiryMs: bigint, nowMs: number): Refusal | undefined {
  const judged = tokenExpiry(expiryMs, nowMs);
  if (judged === "valid") return undefined;
  return judged === "expired"
    ? refusal("token-expired", "the token has expired: make a new one with the relay's time")
    : invalidToken();
}

/** The refusal of a token that matches no key, and of an account that does not exist. */
export function invalidToken(): Refusal {
  return refusal("token-invalid", "the token matches no key of this account mailbox");
}

/** Builds the judging of claims. */
export function createAdmissions(recipients: Pick<Recipients, "remembered" | "read">): Admissions {
  const admitAfresh: Admit = async (account, claim) => admit(await recipients.read(account), claim);
  return {
    // An account that is not remembered costs a trial against nobody's key first: a refusal takes
    // the same two trials and one lookup, whether the account exists, is remembered, or neither.
    admit: async (account, claim) =>
      admit(recipients.remembered(account), claim) ?? admitAfresh(account, claim),
    admitAfresh,
  };
}

/**
 * Tries the keys of a kind. Whoever is refused has cost the work of the most keys that an account may
 * have, so time tells a stranger nothing. The key in use is tried alone first (four trials saved, 20 µs
 * each upload): who holds it learns from the answer more than from its being quick.
 */
function admit(recipient: Recipient | undefined, claim: TokenClaim): Admission | undefined {
  if (claim.keyKind === keyKind.invite) {
    return admitByAny(recipient, claim, inviteCandidates(recipient?.invites ?? []));
  }
  const isCurrent = tokenMatches(claim.input, claim.token, recipient?.accessKey ?? noKey);
  if (isCurrent && recipient !== undefined) {
    return { recipient, invite: undefined, isReserve: false };
  }
  return admitByAny(recipient, claim, retiredCandidates(recipient));
}

function admitByAny(
  recipient: Recipient | undefined,
  claim: TokenClaim,
  candidates: readonly Candidate[],
): Admission | undefined {
  // No early exit: which key matched, and whether one did, must not show in the time.
  const [match] = candidates.filter(({ key }) => tokenMatches(claim.input, claim.token, key));
  if (recipient === undefined || match === undefined || match.key === noKey) return undefined;
  return { recipient, invite: match.invite, isReserve: match.isReserve };
}

function retiredCandidates(recipient: Recipient | undefined): readonly Candidate[] {
  const padding = Array.from({ length: maxRetiredKeys }, () => noKey);
  return [...(recipient?.retiredKeys ?? []), ...padding]
    .slice(0, maxRetiredKeys)
    .map((key) => ({ key, invite: undefined, isReserve: true }));
}

function inviteCandidates(open: readonly OpenInvite[]): readonly Candidate[] {
  const padding = Array.from({ length: maxOpenInvites }, () => noInvite);
  return [...open, ...padding]
    .slice(0, Math.max(maxOpenInvites, open.length))
    .map(({ invite, key }) => ({ key, invite, isReserve: false }));
}
