/**
 * Opening: one delivered item in, one verified payload out, or the code of the first check that
 * fails. The order of the checks is part of the protocol: two devices must name one fault alike.
 *
 * Nothing here changes state. Prekeys and senders are looked up through functions of the caller,
 * which journals the outcome and acknowledges the item either way; no reason ever leaves the device.
 *
 * Spec: docs/protocol.md "Opening" (codes in order).
 */
import { equalBytes } from "../../shared/bytes.ts";
import { type Certificate, parseCertificate } from "../../shared/crypto/certificate.ts";
import { verifyAuthentication, wipe } from "../../shared/crypto/sodium.ts";
import { err, ok, type Result } from "../../shared/result.ts";
import { type Item, type ItemError, parseItem } from "../../shared/wire/envelope.ts";
import {
  bodyKeys,
  commitmentBytes,
  commitmentInput,
  headerKey,
  prekeyIdBytes,
} from "./envelope-keys.ts";
import {
  type InnerError,
  type ListView,
  type ParsedInner,
  parseInner,
  verifyInner,
} from "./inner.ts";
import { judgeSender, type SenderContext, type SenderFailureCode } from "./judge-sender.ts";
import { parsePayload, type Payload, type PayloadError } from "./payload.ts";
import { aeadOpen, decapsulate, unpad, xwingCiphertextBytes } from "./primitives.ts";
import { type HeardRelation, typeRule } from "./type-rules.ts";

/** A prekey whose private half this device still holds. */
export interface HeldPrekey {
  /** X-Wing seed. */
  readonly seed: Uint8Array;
  /** The identity key it was signed under: the account that its items are bound to. */
  readonly aik: Uint8Array;
}

/** The device that opens. */
export interface Opener {
  readonly deviceId: Uint8Array;
  /** Finds a held prekey by its 8-byte id. */
  readonly findPrekey: (prekeyId: Uint8Array) => HeldPrekey | undefined;
}

/** A payload with everything that was verified about it. */
export interface OpenedMessage {
  readonly bucket: number;
  readonly prekeyId: Uint8Array;
  /** The identity key of this account that it was sealed to. */
  readonly recipientAik: Uint8Array;
  /** This account's device list as the sender knows it. */
  readonly recipientList: ListView;
  readonly sender: Certificate;
  readonly relation: HeardRelation;
  readonly typeTag: number;
  /** Zero when sent; unknown bits are ignored. */
  readonly flags: number;
  readonly messageId: Uint8Array;
  /** The sender's claim. Units: ms since 1970 UTC. */
  readonly sentAtMs: bigint;
  readonly content: Uint8Array;
  readonly payload: Payload;
  /** Whether it is answered with a receipt. */
  readonly confirmed: boolean;
  /** The certificate is newer than the list held: accept, and fetch the list in the background. */
  readonly refreshNeeded: boolean;
}

/** Codes of the checks, in order. */
export type OpenFailureCode =
  | ItemError["type"]
  | "prekey-unknown"
  | "header"
  | "commitment"
  | "body"
  | "padding"
  | InnerError["type"]
  | "recipient"
  | "certificate"
  | "signature"
  | SenderFailureCode
  | PayloadError["type"];

/** The first check that failed. */
export interface OpenFailure {
  readonly type: OpenFailureCode;
  /** The verified sender, for failures after the signature. For this device's journal only. */
  readonly senderAik?: Uint8Array;
}

/** Opens one item. Errors: the code of the first check that fails. */
export function openItem(
  bytes: Uint8Array,
  me: Opener,
  context: SenderContext,
): Result<OpenedMessage, OpenFailure> {
  const item = parseItem(bytes);
  if (!item.ok) return item;
  const sealed = openSealed(item.value, me);
  if (!sealed.ok) return sealed;
  const { inner, certificate, recipientAik, prekeyId } = sealed.value;

  const sender = judgeSender({ ...inner, certificate, recipientAik }, context);
  if (!sender.ok) return err({ ...sender.error, senderAik: certificate.aik });
  const payload = parsePayload(inner.typeTag, inner.content, certificate.aik);
  if (!payload.ok) return err({ ...payload.error, senderAik: certificate.aik });
  return ok({
    bucket: item.value.bucket,
    prekeyId,
    recipientAik,
    recipientList: inner.recipientList,
    sender: certificate,
    ...sender.value,
    typeTag: inner.typeTag,
    flags: inner.flags,
    messageId: inner.messageId,
    sentAtMs: inner.sentAtMs,
    content: inner.content,
    payload: payload.value,
    confirmed: typeRule(inner.typeTag).confirmed,
  });
}

interface Verified {
  readonly inner: ParsedInner;
  readonly certificate: Certificate;
}

interface Unsealed extends Verified {
  readonly recipientAik: Uint8Array;
  readonly prekeyId: Uint8Array;
}

/** From the prekey to the signature: everything that needs no knowledge about people. */
function openSealed(item: Item, me: Opener): Result<Unsealed, OpenFailure> {
  const prekeyId = item.header.slice(0, prekeyIdBytes);
  const prekey = me.findPrekey(prekeyId);
  if (prekey === undefined) return err({ type: "prekey-unknown" });
  const contentKey = openHeader(item, me.deviceId, prekey);
  if (!contentKey.ok) return contentKey;
  const verified = verifyBody(item, contentKey.value, prekey.aik);
  wipe(contentKey.value);
  return verified.ok ? ok({ ...verified.value, recipientAik: prekey.aik, prekeyId }) : verified;
}

function verifyBody(
  item: Item,
  contentKey: Uint8Array,
  aik: Uint8Array,
): Result<Verified, OpenFailure> {
  const inner = openBody(item, contentKey, aik);
  if (!inner.ok) return inner;
  // Before any signature is believed: a sender's honest message to somebody else, re-wrapped for me.
  if (!equalBytes(inner.value.recipientAik, aik)) return err({ type: "recipient" });
  const certificate = parseCertificate(inner.value.certificate);
  if (!certificate.ok) return certificate;
  return verifyInner(inner.value, contentKey, certificate.value.dsk)
    ? ok({ inner: inner.value, certificate: certificate.value })
    : err({ type: "signature" });
}

function openHeader(
  item: Item,
  deviceId: Uint8Array,
  prekey: HeldPrekey,
): Result<Uint8Array, OpenFailure> {
  const kemEnd = prekeyIdBytes + xwingCiphertextBytes;
  const kemCiphertext = item.header.subarray(prekeyIdBytes, kemEnd);
  const shared = decapsulate(kemCiphertext, prekey.seed);
  if (!shared.ok) return shared;
  const key = headerKey(shared.value, {
    bucket: item.bucket,
    aik: prekey.aik,
    deviceId,
    prekeyId: item.header.subarray(0, prekeyIdBytes),
    kemCiphertext,
    commitment: item.body.subarray(0, commitmentBytes),
  });
  wipe(shared.value);
  const contentKey = aeadOpen(item.header.subarray(kemEnd), key);
  return contentKey === undefined ? err({ type: "header" }) : ok(contentKey);
}

function openBody(
  item: Item,
  contentKey: Uint8Array,
  aik: Uint8Array,
): Result<ParsedInner, OpenFailure> {
  const keys = bodyKeys(contentKey, aik, item.bucket);
  const commitment = item.body.subarray(0, commitmentBytes);
  const sealed = item.body.subarray(commitmentBytes);
  // The AEAD commits to no key by itself, so this check comes first and is never skipped.
  if (!verifyAuthentication(keys.commitmentKey, commitment, commitmentInput(keys, sealed))) {
    return err({ type: "commitment" });
  }
  const padded = aeadOpen(sealed, keys);
  if (padded === undefined) return err({ type: "body" });
  const plaintext = unpad(padded);
  wipe(padded);
  return plaintext === undefined ? err({ type: "padding" }) : parseInner(plaintext);
}
