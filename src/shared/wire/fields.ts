/**
 * Field types of HTTP and WebSocket JSON: bytes are base64url without padding, u64 are decimal
 * strings. A schema checks the alphabet and the length; `parseBase64Url` checks canonical form.
 *
 * Spec: docs/protocol.md "Relay interface".
 */
import { type TString, Type } from "typebox";
import { clampU64 } from "../bytes.ts";
import { err, ok, type Result } from "../result.ts";

/** base64url text of exactly that many bytes. */
export function bytesField(bytes: number, description: string): TString {
  const length = Math.ceil((bytes * 4) / 3);
  return Type.String({ pattern: `^[A-Za-z0-9_-]{${length}}$`, description });
}

/** base64url text of at most that many bytes. */
export function variableBytesField(maxBytes: number, description: string): TString {
  const length = Math.ceil((maxBytes * 4) / 3);
  return Type.String({ pattern: `^[A-Za-z0-9_-]{1,${length}}$`, description });
}

/** A u64 as decimal text. */
export function u64Field(description: string): TString {
  return Type.String({ pattern: "^(0|[1-9][0-9]{0,19})$", description });
}

/** Parses decimal text of a u64. Errors: signs, leading zeros, over 2^64 − 1. */
export function parseU64(text: string): Result<bigint, { readonly type: "malformed-u64" }> {
  if (!/^(0|[1-9][0-9]{0,19})$/.test(text)) return err({ type: "malformed-u64" });
  const value = BigInt(text);
  return value < 2n ** 64n ? ok(value) : err({ type: "malformed-u64" });
}

/** A time field as a number, clamped. Unparsable text is `undefined`. Units: ms. */
export function timeFromText(text: string): number | undefined {
  const value = parseU64(text);
  return value.ok ? clampU64(value.value) : undefined;
}
