/**
 * What a new device shows and puts first when it is linked: the code on its screen, and the bundle
 * of its public keys. The code carries a hash of the bundle, so the relay cannot put another one.
 *
 * Bundle: version 1 ‖ DSK 32 ‖ X-Wing public key 1,216 ‖ device id 16 ‖ mailbox 16 ‖ signature 64
 * by the DSK over `PX1 link-bundle` ‖ the 1,281 bytes before it ‖ name (UTF-8, at most 128 bytes).
 * Code: `pixie-link:` + base64url(secret 16 ‖ BLAKE2b-128(bundle)).
 *
 * Spec: docs/protocol.md "Linking".
 */
import {
  ByteReader,
  concat,
  equalBytes,
  parseBase64Url,
  parseUtf8,
  toBase64Url,
  u8,
  utf8,
} from "../../shared/bytes.ts";
import { xwingPublicKeyBytes } from "../../shared/crypto/prekey.ts";
import { blake2b, sign, signatureBytes, verify } from "../../shared/crypto/sodium.ts";
import { protocolVersion } from "../../shared/limits.ts";
import { err, ok, type Result } from "../../shared/result.ts";
import { isName, parseName } from "./profile.ts";

const scheme = "pixie-link:";
const label = "PX1 link-bundle";
const unsignedBytes = 1 + 32 + xwingPublicKeyBytes + 16 + 16;
const secretBytes = 16;
const codeHashBytes = 16;

/** The public half of a device that wants to join. */
export interface LinkBundle {
  readonly dsk: Uint8Array;
  /** For the last box only; it is no prekey. */
  readonly xwingPublicKey: Uint8Array;
  readonly deviceId: Uint8Array;
  readonly mailbox: Uint8Array;
  readonly name: string;
}

/** What the code on the new device's screen says. */
export interface LinkCode {
  readonly secret: Uint8Array;
  /** BLAKE2b-128 of the bundle. */
  readonly bundleHash: Uint8Array;
}

export type LinkCodeError = { readonly type: "link-code"; readonly reason: string };
export type LinkBundleError = { readonly type: "link-bundle" };

/** Signs a bundle. Throws on a name out of bounds. */
export function signLinkBundle(bundle: LinkBundle, dskPrivateKey: Uint8Array): Uint8Array {
  const name = parseName(bundle.name);
  if (!name.ok) throw new Error(`not signing a link bundle: ${name.error.reason}`);
  const unsigned = concat(
    u8(protocolVersion),
    bundle.dsk,
    bundle.xwingPublicKey,
    bundle.deviceId,
    bundle.mailbox,
  );
  return concat(unsigned, sign(dskPrivateKey, label, unsigned), utf8(name.value));
}

/** Parses and verifies a bundle. That it is the one in the code is checked by `matchesLinkCode`. */
export function parseLinkBundle(record: Uint8Array): Result<LinkBundle, LinkBundleError> {
  const fixedBytes = unsignedBytes + signatureBytes;
  if (record.length < fixedBytes) return err({ type: "link-bundle" });
  const reader = new ByteReader(record);
  if (reader.u8() !== protocolVersion) return err({ type: "link-bundle" });
  const keys = {
    dsk: reader.take(32),
    xwingPublicKey: reader.take(xwingPublicKeyBytes),
    deviceId: reader.take(16),
    mailbox: reader.take(16),
  };
  const signature = reader.take(signatureBytes);
  const text = parseUtf8(record.subarray(fixedBytes));
  const signed = verify(keys.dsk, signature, label, record.subarray(0, unsignedBytes));
  return text.ok && isName(text.value) && signed
    ? ok({ ...keys, name: text.value })
    : err({ type: "link-bundle" });
}

/** The text behind the QR code. */
export function encodeLinkCode(secret: Uint8Array, bundleRecord: Uint8Array): string {
  return scheme + toBase64Url(concat(secret, blake2b(codeHashBytes, bundleRecord)));
}

/** Parses a link code. Surrounding white space is dropped, since people paste it. */
export function parseLinkCode(text: string): Result<LinkCode, LinkCodeError> {
  const trimmed = text.trim();
  const bytes = trimmed.startsWith(scheme)
    ? parseBase64Url(trimmed.slice(scheme.length))
    : undefined;
  if (bytes === undefined) {
    return err({ type: "link-code", reason: `expected a code that starts with ${scheme}` });
  }
  if (!bytes.ok || bytes.value.length !== secretBytes + codeHashBytes) {
    const reason = "the code is damaged or cut off; copy it again, whole";
    return err({ type: "link-code", reason });
  }
  const reader = new ByteReader(bytes.value);
  return ok({ secret: reader.take(secretBytes), bundleHash: reader.take(codeHashBytes) });
}

/** Whether a bundle is the one that the code was made for. */
export function matchesLinkCode(code: LinkCode, bundleRecord: Uint8Array): boolean {
  return equalBytes(code.bundleHash, blake2b(codeHashBytes, bundleRecord));
}
