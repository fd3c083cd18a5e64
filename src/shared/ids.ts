/**
 * Identifiers as text. Account mailboxes, device ids, device mailboxes, message ids, slots and
 * invite ids are 16 random bytes; outside codecs they travel as base64url text, so that they can be
 * map keys, column values and JSON. An account is named by its identity key, the same way.
 */
import { parseBase64Url, toBase64Url } from "./bytes.ts";
import type { Rng } from "./rng.ts";
import { err, ok, type Result } from "./result.ts";

/** Bytes of every random id. */
export const idBytes = 16;

/** A byte id as base64url text. */
export const idText = toBase64Url;

/** Parses an id of an exact byte length. Errors: not canonical base64url, or another length. */
export function parseId(
  text: string,
  bytes: number = idBytes,
): Result<Uint8Array, { readonly type: "malformed-id"; readonly expectedBytes: number }> {
  const parsed = parseBase64Url(text);
  return parsed.ok && parsed.value.length === bytes
    ? parsed
    : err({ type: "malformed-id", expectedBytes: bytes });
}

/** Bytes of an id that this program made itself. Throws on anything else: that is a bug. */
export function idFromText(text: string, bytes: number = idBytes): Uint8Array {
  const parsed = parseId(text, bytes);
  if (!parsed.ok) throw new Error(`not an id of ${bytes} bytes: ${text.length} characters`);
  return parsed.value;
}

/** Draws a new random id. */
export function randomId(rng: Rng): Uint8Array {
  return rng(idBytes);
}

/** Draws a new random id as text that can be typed after a command: none begins like an option. */
export function typeableId(rng: Rng): string {
  for (;;) {
    const id = idText(randomId(rng));
    if (!id.startsWith("-")) return id;
  }
}

/** The 8-4-4-4-12 hexadecimal form in which a database stores 16 bytes. */
export function uuidFromBytes(bytes: Uint8Array): string {
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
  return [
    hex.slice(0, 8),
    hex.slice(8, 12),
    hex.slice(12, 16),
    hex.slice(16, 20),
    hex.slice(20),
  ].join("-");
}

/** The 16 bytes of a stored uuid. Errors: anything but 32 hexadecimal digits. */
export function bytesFromUuid(
  uuid: string,
): Result<Uint8Array, { readonly type: "malformed-uuid" }> {
  const hex = uuid.replaceAll("-", "");
  if (!/^[0-9a-f]{32}$/i.test(hex)) return err({ type: "malformed-uuid" });
  return ok(
    Uint8Array.from({ length: 16 }, (_, i) => Number.parseInt(hex.slice(2 * i, 2 * i + 2), 16)),
  );
}
