/**
 * The recovery code: what a person writes down to get the account back after losing every device.
 * It holds the seed of the identity key, so whoever reads it owns the account.
 *
 * Bytes: version 1 ‖ AIK seed 32 ‖ relay origin (UTF-8) ‖ check 4, where check is the first 4 bytes
 * of BLAKE2b-256(`PX1 recovery` ‖ every byte before it). Text: Crockford base32, most significant
 * bit first, the last character filled with zero bits, in groups of four joined by hyphens. Reading
 * takes small letters, I and L for 1, O for 0, and drops hyphens and white space.
 *
 * Spec: docs/protocol.md "Recovery code".
 */
import {
  ByteReader,
  concat,
  equalBytes,
  label16,
  parseUtf8,
  u8,
  utf8,
} from "../../shared/bytes.ts";
import { parseRelayOrigin } from "../../shared/crypto/origin.ts";
import { blake2b } from "../../shared/crypto/sodium.ts";
import { protocolVersion } from "../../shared/limits.ts";
import { err, ok, type Result } from "../../shared/result.ts";

const alphabet = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
const seedBytes = 32;
const checkBytes = 4;
const fixedBytes = 1 + seedBytes + checkBytes;

/** What a recovery code holds. */
export interface RecoveryCode {
  readonly aikSeed: Uint8Array;
  readonly relayOrigin: string;
}

export type RecoveryCodeError = {
  readonly type: "recovery-code";
  /** What is off and what to do; never a part of the code. */
  readonly reason: string;
};

/** Writes a recovery code. Throws when the relay is no origin. */
export function encodeRecoveryCode(code: RecoveryCode): string {
  const origin = parseRelayOrigin(code.relayOrigin);
  if (!origin.ok || origin.value !== code.relayOrigin || code.aikSeed.length !== seedBytes) {
    throw new Error("not writing a recovery code: expected a seed of 32 bytes and a relay origin");
  }
  const body = concat(u8(protocolVersion), code.aikSeed, utf8(code.relayOrigin));
  return (toBase32(concat(body, checkOf(body))).match(/.{1,4}/g) ?? []).join("-");
}

/** Reads a recovery code as a person types it. */
export function parseRecoveryCode(text: string): Result<RecoveryCode, RecoveryCodeError> {
  const bytes = parseBase32(text);
  if (bytes === undefined) {
    return malformed("expected digits and letters without U; look for a misread character");
  }
  if (bytes.length <= fixedBytes) return malformed("the code is cut off; type all groups of it");
  const body = bytes.subarray(0, bytes.length - checkBytes);
  if (!equalBytes(bytes.subarray(bytes.length - checkBytes), checkOf(body))) {
    return malformed("the check characters do not match; look for a mistyped or missing group");
  }
  const reader = new ByteReader(body);
  const version = reader.u8();
  if (version !== protocolVersion) {
    return malformed(`code version ${version}, expected ${protocolVersion}; update pixie`);
  }
  const aikSeed = reader.take(seedBytes);
  const url = parseUtf8(reader.take(body.length - reader.offset));
  const origin = url.ok ? parseRelayOrigin(url.value) : url;
  if (!url.ok || !origin.ok || origin.value !== url.value) {
    return malformed("the relay in the code is no origin such as https://relay.example");
  }
  return ok({ aikSeed, relayOrigin: origin.value });
}

function checkOf(body: Uint8Array): Uint8Array {
  return blake2b(32, label16("PX1 recovery"), body).subarray(0, checkBytes);
}

function toBase32(bytes: Uint8Array): string {
  let text = "";
  let pending = 0;
  let bits = 0;
  for (const byte of bytes) {
    pending = ((pending << 8) | byte) & 0xfff;
    bits += 8;
    while (bits >= 5) {
      bits -= 5;
      text += alphabet[(pending >> bits) & 31];
    }
  }
  return bits === 0 ? text : text + alphabet[(pending << (5 - bits)) & 31];
}

/** Undefined for a foreign character, an impossible length, or filling bits that are not zero. */
function parseBase32(text: string): Uint8Array | undefined {
  const canonical = text
    .toUpperCase()
    .replace(/[\s-]/g, "")
    .replace(/[IL]/g, "1")
    .replace(/O/g, "0");
  const bytes = new Uint8Array(Math.floor((canonical.length * 5) / 8));
  let offset = 0;
  let pending = 0;
  let bits = 0;
  for (const char of canonical) {
    const value = alphabet.indexOf(char);
    if (value === -1) return undefined;
    pending = ((pending << 5) | value) & 0xfff;
    bits += 5;
    if (bits >= 8) {
      bits -= 8;
      bytes[offset++] = (pending >> bits) & 0xff;
    }
  }
  return toBase32(bytes) === canonical ? bytes : undefined;
}

function malformed(reason: string): { readonly ok: false; readonly error: RecoveryCodeError } {
  return err({ type: "recovery-code", reason });
}
