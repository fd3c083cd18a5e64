/**
 * Which kinds of payload exist, who may send each, and which are confirmed end to end. Pure data:
 * opening asks it, the outbox asks it, and a test tries every tag from every kind of sender.
 *
 * The tag travels inside the ciphertext only, so the relay cannot tell one kind from another.
 *
 * Spec: docs/protocol.md "Tags".
 */

/** Type tags. 5 is not assigned; an unassigned one is a kind of a newer version. */
export const payloadTag = {
  message: 0,
  receipt: 1,
  deviceList: 2,
  profile: 3,
  echo: 4,
  resendSince: 6,
  renewal: 7,
  contactAccept: 8,
  ownKeys: 9,
  sync: 10,
} as const;
export type PayloadTag = (typeof payloadTag)[keyof typeof payloadTag];

/**
 * What a sender's identity key is to this account: itself, a contact, nobody yet, blocked, or a key
 * that a renewal has replaced.
 */
export type Relation = "self" | "contact" | "unknown" | "blocked" | "renewed";
/** Relations whose payloads are looked at. */
export type HeardRelation = "self" | "contact" | "unknown";

/** One row of the table. */
export interface TypeRule {
  readonly from: readonly HeardRelation[];
  /** Whether the recipient answers with a receipt, and the sender waits for one. */
  readonly confirmed: boolean;
  /** Whether it is still heard under a key that was renewed: it is about that very renewal. */
  readonly underOldKey?: true;
}

const own: readonly HeardRelation[] = ["self"];
const known: readonly HeardRelation[] = ["self", "contact"];

const ruleByTag: Readonly<Record<PayloadTag, TypeRule>> = {
  [payloadTag.message]: { from: ["self", "contact", "unknown"], confirmed: true },
  [payloadTag.receipt]: { from: known, confirmed: false },
  [payloadTag.deviceList]: { from: known, confirmed: true },
  [payloadTag.profile]: { from: known, confirmed: true },
  [payloadTag.echo]: { from: own, confirmed: true },
  [payloadTag.resendSince]: { from: known, confirmed: false },
  [payloadTag.renewal]: { from: known, confirmed: true, underOldKey: true },
  // From an unknown key only with a valid proof of an open invite; from a contact it is a profile.
  [payloadTag.contactAccept]: { from: ["contact", "unknown"], confirmed: true },
  // And only from a device that my own list calls admin.
  [payloadTag.ownKeys]: { from: own, confirmed: true, underOldKey: true },
  [payloadTag.sync]: { from: own, confirmed: true },
};
/** Kept opaque and confirmed, so that a newer sender stops re-sealing it. */
const unassigned: TypeRule = { from: known, confirmed: true };

const tags: readonly number[] = Object.values(payloadTag);

/** Whether this version knows what a tag means. */
export function isPayloadTag(tag: number): tag is PayloadTag {
  return tags.includes(tag);
}

/** The rule for a tag, assigned or not. */
export function typeRule(tag: number): TypeRule {
  return isPayloadTag(tag) ? ruleByTag[tag] : unassigned;
}
