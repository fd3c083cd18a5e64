/**
 * Contents by type tag: encoding what is sealed, parsing what was opened. Parsing checks form and
 * verifies the signatures inside a content; what a payload does to this device is decided by
 * dispatch, and whether this sender may send it by open.ts.
 *
 * Spec: docs/protocol.md "Tags".
 */
import {
  ByteReader,
  concat,
  equalBytes,
  isWellFormed,
  parseUtf8,
  u64,
  u8,
  utf8,
} from "../../shared/bytes.ts";
import {
  type Certificate,
  certificateBytes,
  parseCertificate,
} from "../../shared/crypto/certificate.ts";
import { type DeviceList, parseDeviceList } from "../../shared/crypto/device-list.ts";
import { parseRenewal, type Renewal } from "../../shared/crypto/renewal.ts";
import { signingKeyPair } from "../../shared/crypto/sodium.ts";
import { idBytes } from "../../shared/ids.ts";
import { maxReceiptIds } from "../../shared/limits.ts";
import { err, ok, type Result } from "../../shared/result.ts";
import { encodeProfile, parseJsonObject, parseProfile, type Profile } from "./profile.ts";
import { isPayloadTag, type PayloadTag, payloadTag } from "./type-rules.ts";

/** The answer to an invite. */
export interface ContactAccept {
  readonly inviteId: Uint8Array;
  readonly proof: Uint8Array;
  readonly profile: Profile;
}

/** An opened content, by kind. */
export type Payload =
  | { readonly kind: "message"; readonly text: string }
  | { readonly kind: "receipt"; readonly messageIds: readonly Uint8Array[] }
  | { readonly kind: "device-list"; readonly list: DeviceList }
  | { readonly kind: "profile"; readonly profile: Profile }
  | { readonly kind: "echo"; readonly recipientAik: Uint8Array; readonly text: string }
  | { readonly kind: "resend-since"; readonly sinceMs: bigint }
  | { readonly kind: "renewal"; readonly renewal: Renewal }
  | ({ readonly kind: "contact-accept" } & ContactAccept)
  | {
      readonly kind: "own-keys";
      readonly certificate: Certificate;
      /** Present when this device becomes, or stays, an admin. */
      readonly aikSeed?: Uint8Array;
    }
  | {
      readonly kind: "sync";
      readonly topic: string;
      readonly json: Readonly<Record<string, unknown>>;
    }
  | { readonly kind: "unassigned"; readonly typeTag: number };

export type PayloadError = { readonly type: "content" | "utf8" };

const aikBytes = 32;
const proofBytes = 32;
const seedBytes = 32;

/** Bytes of a text. Errors: `lone-surrogate`, which UTF-8 cannot carry. */
export function encodeText(text: string): Result<Uint8Array, { readonly type: "lone-surrogate" }> {
  return isWellFormed(text) ? ok(utf8(text)) : err({ type: "lone-surrogate" });
}

/** Content of a receipt. Throws unless 1 to 32 ids are given. */
export function encodeReceipt(messageIds: readonly Uint8Array[]): Uint8Array {
  if (messageIds.length < 1 || messageIds.length > maxReceiptIds) {
    throw new RangeError(`${messageIds.length} ids in a receipt, expected 1 to ${maxReceiptIds}`);
  }
  return concat(...messageIds);
}

/** Content of a self-echo: to whom, and what. */
export function encodeEcho(recipientAik: Uint8Array, content: Uint8Array): Uint8Array {
  return concat(recipientAik, content);
}

/** Content of a resend request. Units: ms since 1970 UTC. */
export function encodeResendSince(sinceMs: bigint): Uint8Array {
  return u64(sinceMs);
}

/** Content of an accepted invite. */
export function encodeContactAccept(accept: ContactAccept): Uint8Array {
  return concat(accept.inviteId, accept.proof, encodeProfile(accept.profile));
}

/** Content that gives a sibling its new certificate and, to an admin, the account's seed. */
export function encodeOwnKeys(certificate: Uint8Array, aikSeed?: Uint8Array): Uint8Array {
  return aikSeed === undefined ? concat(certificate, u8(0)) : concat(certificate, u8(1), aikSeed);
}

/** Content of a note to siblings. Throws on lone surrogates. */
export function encodeSync(topic: string, fields: Readonly<Record<string, unknown>>): Uint8Array {
  return utf8(JSON.stringify({ ...fields, kind: topic }));
}

/** Parses a content. `senderAik` must be whose record a record is. */
export function parsePayload(
  typeTag: number,
  content: Uint8Array,
  senderAik: Uint8Array,
): Result<Payload, PayloadError> {
  return isPayloadTag(typeTag)
    ? parserByTag[typeTag](content, senderAik)
    : ok({ kind: "unassigned", typeTag });
}

/** The invite id and proof of a contact-accept, before anything else in it is believed. */
export function parseAcceptProof(
  content: Uint8Array,
): { readonly inviteId: Uint8Array; readonly proof: Uint8Array } | undefined {
  if (content.length < idBytes + proofBytes) return undefined;
  const reader = new ByteReader(content);
  return { inviteId: reader.take(idBytes), proof: reader.take(proofBytes) };
}

type Parser = (content: Uint8Array, senderAik: Uint8Array) => Result<Payload, PayloadError>;

const parserByTag: Readonly<Record<PayloadTag, Parser>> = {
  [payloadTag.message]: (content) => parseText(content, (text) => ({ kind: "message", text })),
  [payloadTag.receipt]: parseReceipt,
  [payloadTag.deviceList]: parseListPayload,
  [payloadTag.profile]: parseProfilePayload,
  [payloadTag.echo]: parseEcho,
  [payloadTag.resendSince]: parseResendSince,
  [payloadTag.renewal]: parseRenewalPayload,
  [payloadTag.contactAccept]: parseContactAccept,
  [payloadTag.ownKeys]: parseOwnKeys,
  [payloadTag.sync]: parseSync,
};

function parseText(
  content: Uint8Array,
  payload: (text: string) => Payload,
): Result<Payload, PayloadError> {
  const text = parseUtf8(content);
  return text.ok ? ok(payload(text.value)) : text;
}

function parseReceipt(content: Uint8Array): Result<Payload, PayloadError> {
  const count = content.length / idBytes;
  if (!Number.isInteger(count) || count < 1 || count > maxReceiptIds) return malformed();
  const reader = new ByteReader(content);
  return ok({
    kind: "receipt",
    messageIds: Array.from({ length: count }, () => reader.take(idBytes)),
  });
}

function parseListPayload(
  content: Uint8Array,
  senderAik: Uint8Array,
): Result<Payload, PayloadError> {
  const list = parseDeviceList(content);
  if (!list.ok || !equalBytes(list.value.aik, senderAik)) return malformed();
  return ok({ kind: "device-list", list: list.value });
}

function parseProfilePayload(content: Uint8Array): Result<Payload, PayloadError> {
  const profile = parseProfile(content);
  return profile.ok ? ok({ kind: "profile", profile: profile.value }) : profile;
}

function parseResendSince(content: Uint8Array): Result<Payload, PayloadError> {
  return content.length === 8
    ? ok({ kind: "resend-since", sinceMs: new ByteReader(content).u64() })
    : malformed();
}

function parseEcho(content: Uint8Array): Result<Payload, PayloadError> {
  if (content.length < aikBytes) return malformed();
  const recipientAik = content.slice(0, aikBytes);
  return parseText(content.subarray(aikBytes), (text) => ({ kind: "echo", recipientAik, text }));
}

function parseRenewalPayload(
  content: Uint8Array,
  senderAik: Uint8Array,
): Result<Payload, PayloadError> {
  const renewal = parseRenewal(content);
  if (!renewal.ok || !equalBytes(renewal.value.oldAik, senderAik)) return malformed();
  return ok({ kind: "renewal", renewal: renewal.value });
}

function parseContactAccept(content: Uint8Array): Result<Payload, PayloadError> {
  const proof = parseAcceptProof(content);
  if (proof === undefined) return malformed();
  const profile = parseProfile(content.subarray(idBytes + proofBytes));
  return profile.ok ? ok({ kind: "contact-accept", ...proof, profile: profile.value }) : profile;
}

function parseOwnKeys(content: Uint8Array): Result<Payload, PayloadError> {
  const flag = content[certificateBytes];
  const expected = certificateBytes + 1 + (flag === 1 ? seedBytes : 0);
  if ((flag !== 0 && flag !== 1) || content.length !== expected) return malformed();
  const certificate = parseCertificate(content.slice(0, certificateBytes));
  if (!certificate.ok) return malformed();
  if (flag === 0) return ok({ kind: "own-keys", certificate: certificate.value });
  const aikSeed = content.slice(certificateBytes + 1);
  // A seed of another key would make an admin that cannot sign.
  if (!equalBytes(signingKeyPair(aikSeed).publicKey, certificate.value.aik)) return malformed();
  return ok({ kind: "own-keys", certificate: certificate.value, aikSeed });
}

function parseSync(content: Uint8Array): Result<Payload, PayloadError> {
  const text = parseUtf8(content);
  if (!text.ok) return text;
  const json = parseJsonObject(text.value);
  if (json === undefined || typeof json["kind"] !== "string") return malformed();
  return ok({ kind: "sync", topic: json["kind"], json });
}

function malformed(): { readonly ok: false; readonly error: PayloadError } {
  return err({ type: "content" });
}
