/**
 * The plaintext inside a body: who wrote what, to whom, signed. This file cuts and joins its bytes
 * and makes the signature; what the fields must satisfy is judged by open.ts.
 *
 * Spec: docs/protocol.md "Envelopes" (232 bytes before the content, a signature of 64 after;
 * label `PX1 message-sig`, the content key signed along).
 */
import { ByteReader, concat, u16, u32, u64, u8 } from "../../shared/bytes.ts";
import { certificateBytes } from "../../shared/crypto/certificate.ts";
import { sign, signatureBytes, verify } from "../../shared/crypto/sodium.ts";
import { innerFixedBytes, protocolVersion } from "../../shared/limits.ts";
import { err, ok, type Result } from "../../shared/result.ts";

const label = "PX1 message-sig";

/** The recipient's device list as the sender knows it. */
export interface ListView {
  readonly version: number;
  /** First 8 bytes of the list's hash. */
  readonly hashPrefix: Uint8Array;
}

/** The signed fields around a content. */
export interface Inner {
  readonly typeTag: number;
  readonly flags: number;
  readonly messageId: Uint8Array;
  readonly sentAtMs: bigint;
  readonly recipientAik: Uint8Array;
  readonly recipientList: ListView;
  /** Certificate record of the sending device, not verified here. */
  readonly certificate: Uint8Array;
  readonly content: Uint8Array;
}

/** Parsed, with what a verification needs. */
export interface ParsedInner extends Inner {
  readonly signature: Uint8Array;
  /** Every byte before the signature. */
  readonly signed: Uint8Array;
}

export type InnerError = { readonly type: "inner-version" | "inner-length" };

/** Encodes and signs. The signature covers the content key, so that nobody can re-wrap it. */
export function signInner(
  inner: Inner,
  contentKey: Uint8Array,
  dskPrivateKey: Uint8Array,
): Uint8Array {
  const unsigned = concat(
    u8(protocolVersion),
    u8(inner.typeTag),
    u16(inner.flags),
    inner.messageId,
    u64(inner.sentAtMs),
    inner.recipientAik,
    u32(inner.recipientList.version),
    inner.recipientList.hashPrefix,
    inner.certificate,
    u32(inner.content.length),
    inner.content,
  );
  if (unsigned.length !== innerFixedBytes - signatureBytes + inner.content.length) {
    throw new Error("a field of the inner plaintext has the wrong length");
  }
  return concat(unsigned, sign(dskPrivateKey, label, contentKey, unsigned));
}

/** Cuts an unpadded plaintext: version, then exact length. */
export function parseInner(plaintext: Uint8Array): Result<ParsedInner, InnerError> {
  if (plaintext[0] !== protocolVersion) return err({ type: "inner-version" });
  if (plaintext.length < innerFixedBytes) return err({ type: "inner-length" });
  const reader = new ByteReader(plaintext);
  reader.u8();
  const head = {
    typeTag: reader.u8(),
    flags: reader.u16(),
    messageId: reader.take(16),
    sentAtMs: reader.u64(),
    recipientAik: reader.take(32),
    recipientList: { version: reader.u32(), hashPrefix: reader.take(8) },
    certificate: reader.take(certificateBytes),
  };
  const contentBytes = reader.u32();
  if (plaintext.length !== innerFixedBytes + contentBytes) return err({ type: "inner-length" });
  return ok({
    ...head,
    content: reader.take(contentBytes),
    signature: reader.take(signatureBytes),
    signed: plaintext.subarray(0, plaintext.length - signatureBytes),
  });
}

/** Verifies that the certified device wrote this plaintext under this content key. */
export function verifyInner(inner: ParsedInner, contentKey: Uint8Array, dsk: Uint8Array): boolean {
  return verify(dsk, inner.signature, label, contentKey, inner.signed);
}
