/**
 * Judging a verified sender: may this identity key, from this device, send this kind of payload
 * here? The bytes were opened and both signatures verified before; what is asked now depends on
 * what this device knows about people.
 *
 * Pure: contacts and invites are looked up through functions of the caller.
 *
 * Spec: docs/protocol.md "Opening" (blocked | aik-renewed → device-missing → device-key →
 * device-revoked → type-not-allowed) and "Tags".
 */
import { equalBytes } from "../../shared/bytes.ts";
import type { Certificate } from "../../shared/crypto/certificate.ts";
import {
  type DeviceEntry,
  type DeviceList,
  deviceState,
  entryOf,
} from "../../shared/crypto/device-list.ts";
import { err, ok, type Result } from "../../shared/result.ts";
import { parseAcceptProof } from "./payload.ts";
import { type HeardRelation, payloadTag, type Relation, typeRule } from "./type-rules.ts";

/** What this device knows about an identity key. */
export interface KnownSender {
  readonly relation: Relation;
  /** With `renewed`: what the account is under the key that took over. */
  readonly formerly?: Relation;
  /**
   * Device lists to judge the sender's device by: the newest, or none when no list is held. After a
   * fork both histories: then the device must stand in each, whatever its certificate's version.
   */
  readonly lists: readonly DeviceList[];
}

/** What an unknown sender offers as proof of an invite. */
export interface AcceptClaim {
  readonly inviteId: Uint8Array;
  readonly proof: Uint8Array;
  readonly messageId: Uint8Array;
  readonly guestAik: Uint8Array;
  /** The identity key that the guest sealed to. */
  readonly inviterAik: Uint8Array;
}

/** Look-ups that opening needs. Both are pure. */
export interface SenderContext {
  readonly senderOf: (aik: Uint8Array) => KnownSender;
  /** Whether the proof is right and belongs to an invite that is open now. */
  readonly isOpenInvite: (claim: AcceptClaim) => boolean;
}

/** Codes of these checks, in order. */
export type SenderFailureCode =
  | "blocked"
  | "aik-renewed"
  | "device-missing"
  | "device-key"
  | "device-revoked"
  | "type-not-allowed";
export type SenderFailure = { readonly type: SenderFailureCode };

/** The payload that is judged. `recipientAik` is the identity key it was sealed to. */
export interface Submission {
  readonly typeTag: number;
  readonly messageId: Uint8Array;
  readonly content: Uint8Array;
  readonly certificate: Certificate;
  readonly recipientAik: Uint8Array;
}

/** A sender that is heard. */
export interface Judgement {
  readonly relation: HeardRelation;
  /** The certificate is newer than the list held: accept, and fetch the list in the background. */
  readonly refreshNeeded: boolean;
}

/** Judges a sender. Errors: the code of the first check that fails. */
export function judgeSender(
  submission: Submission,
  context: SenderContext,
): Result<Judgement, SenderFailure> {
  const { certificate, typeTag } = submission;
  const sender = context.senderOf(certificate.aik);
  const { lists } = sender;
  const rule = typeRule(typeTag);
  // The old key may only say, again, who takes over.
  const relation = rule.underOldKey ? (sender.formerly ?? sender.relation) : sender.relation;
  if (relation === "blocked") return err({ type: "blocked" });
  if (relation === "renewed") return err({ type: "aik-renewed" });
  const entry = judgeDevice(certificate, lists);
  if (!entry.ok) return entry;
  const allowed =
    rule.from.includes(relation) &&
    isAdminIfNeeded(typeTag, entry.value) &&
    (relation !== "unknown" || isInvitedIfNeeded(submission, context));
  if (!allowed) return err({ type: "type-not-allowed" });
  const refreshNeeded =
    relation !== "unknown" && !lists.some((list) => list.version >= certificate.listVersion);
  return ok({ relation, refreshNeeded });
}

/** The sender's entry, if a list that is new enough to judge by holds it. */
function judgeDevice(
  certificate: Certificate,
  lists: readonly DeviceList[],
): Result<DeviceEntry | undefined, SenderFailure> {
  const forked = lists.length > 1;
  let entry: DeviceEntry | undefined;
  for (const list of lists) {
    if (!forked && list.version < certificate.listVersion) continue;
    entry = entryOf(list, certificate.deviceId);
    if (entry === undefined) return err({ type: "device-missing" });
    if (!equalBytes(entry.dsk, certificate.dsk)) return err({ type: "device-key" });
    if (entry.state === deviceState.revoked) return err({ type: "device-revoked" });
  }
  return ok(entry);
}

/** Keys of the account come from an admin device of my own list only. */
function isAdminIfNeeded(typeTag: number, entry: DeviceEntry | undefined): boolean {
  return typeTag !== payloadTag.ownKeys || entry?.state === deviceState.admin;
}

/** A stranger's contact-accept needs a valid proof of an invite that is open. */
function isInvitedIfNeeded(submission: Submission, context: SenderContext): boolean {
  if (submission.typeTag !== payloadTag.contactAccept) return true;
  const claim = parseAcceptProof(submission.content);
  return (
    claim !== undefined &&
    context.isOpenInvite({
      ...claim,
      messageId: submission.messageId,
      guestAik: submission.certificate.aik,
      inviterAik: submission.recipientAik,
    })
  );
}
