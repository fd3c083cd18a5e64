/**
 * Keys and proofs that follow from a shared secret: those of an invite and those of a linking.
 * Both secrets travel outside the relay (a link, a QR code); the relay learns one invite key and
 * one box id, from which nothing else follows.
 *
 * Spec: docs/protocol.md "Invite" and "Linking".
 */
import { concat, label16, utf8 } from "../../shared/bytes.ts";
import { authenticate, blake2b, verifyAuthentication } from "../../shared/crypto/sodium.ts";
import { deriveKey } from "./primitives.ts";

/** Keys of one invite. */
export interface InviteKeys {
  /** Told to the relay: admits bundle requests and up to 20 items. */
  readonly inviteKey: Uint8Array;
  /** Never told: proves to the inviter that the guest holds the invite. */
  readonly proofKey: Uint8Array;
}

/** What a guest proves. */
export interface InviteClaim {
  readonly messageId: Uint8Array;
  readonly guestAik: Uint8Array;
  readonly inviterAik: Uint8Array;
}

/** Derives the keys of an invite from its secret. */
export function inviteKeys(secret: Uint8Array): InviteKeys {
  const context = "PX1-invt";
  return {
    inviteKey: deriveKey(secret, { context, id: 1, bytes: 32 }),
    proofKey: deriveKey(secret, { context, id: 2, bytes: 32 }),
  };
}

/** The proof in a contact-accept. */
export function inviteProof(proofKey: Uint8Array, claim: InviteClaim): Uint8Array {
  return authenticate(proofKey, inviteProofInput(claim));
}

/** Verifies a proof in constant time. Whether the invite is open is for its store to say. */
export function verifyInviteProof(
  proofKey: Uint8Array,
  proof: Uint8Array,
  claim: InviteClaim,
): boolean {
  return verifyAuthentication(proofKey, proof, inviteProofInput(claim));
}

/** Keys of one linking. */
export interface LinkKeys {
  /** Names the rendezvous at the relay. */
  readonly boxId: Uint8Array;
  /** Seals what the new device puts (boxes 1 and 3). */
  readonly newDeviceKey: Uint8Array;
  /** Seals what the admin device puts (boxes 2 and 4). */
  readonly adminKey: Uint8Array;
  readonly proofKey: Uint8Array;
}

/** Derives the keys of a linking from the 16-byte secret in its code. */
export function linkKeys(secret: Uint8Array): LinkKeys {
  const linkKey = blake2b(32, label16("PX1 link"), secret);
  const context = "PX1-link";
  return {
    boxId: deriveKey(linkKey, { context, id: 1, bytes: 16 }),
    newDeviceKey: deriveKey(linkKey, { context, id: 2, bytes: 32 }),
    adminKey: deriveKey(linkKey, { context, id: 3, bytes: 32 }),
    proofKey: deriveKey(linkKey, { context, id: 4, bytes: 32 }),
  };
}

/** What the admin device commits to before the digits are typed. */
export interface LinkCommitment {
  /** 32 random bytes, revealed in the last box. */
  readonly opening: Uint8Array;
  /** 8 decimal digits. */
  readonly digits: string;
  readonly aik: Uint8Array;
  /** BLAKE2b-256 of the new device's bundle. */
  readonly bundleHash: Uint8Array;
}

/** The admin device's commitment. */
export function linkCommitment(content: LinkCommitment): Uint8Array {
  return blake2b(
    32,
    label16("PX1 link-commit"),
    content.opening,
    utf8(content.digits),
    content.aik,
    content.bundleHash,
  );
}

/** What the new device proves: that somebody typed the digits for this commitment and bundle. */
export interface LinkClaim {
  readonly commitment: Uint8Array;
  readonly bundleHash: Uint8Array;
  readonly digits: string;
}

/** The new device's proof. */
export function linkProof(proofKey: Uint8Array, claim: LinkClaim): Uint8Array {
  return authenticate(proofKey, linkProofInput(claim));
}

/** Verifies the new device's proof in constant time. */
export function verifyLinkProof(
  proofKey: Uint8Array,
  proof: Uint8Array,
  claim: LinkClaim,
): boolean {
  return verifyAuthentication(proofKey, proof, linkProofInput(claim));
}

function inviteProofInput(claim: InviteClaim): Uint8Array {
  return concat(label16("PX1 invite"), claim.messageId, claim.guestAik, claim.inviterAik);
}

function linkProofInput(claim: LinkClaim): Uint8Array {
  return concat(label16("PX1 link-proof"), claim.commitment, claim.bundleHash, utf8(claim.digits));
}
