/**
 * Whether a zip archive stays within a bound once it is inflated, found by inflating it: what its
 * directory claims is its author's word. Nothing is kept.
 *
 * Source: PKWARE APPNOTE 4.3.12 (central directory) and 4.3.16 (its end); no zip64.
 */
import { inflateRawSync } from "node:zlib";

/** The verdict. `broken`: no zip that this reads; `too-heavy`: more than the bound. */
export type ZipVerdict = "fits" | "broken" | "too-heavy";

const endSignature = 0x06054b50;
const entrySignature = 0x02014b50;
const endBytes = 22;
const entryBytes = 46;
const localBytes = 30;
/** The end may be followed by a comment of that length. Units: bytes. */
const maxComment = 65_535;

/** Inflates every entry in turn and adds up. Units: bytes. */
export function inflatesWithin(zip: Buffer, maxBytes: number): ZipVerdict {
  const end = endOf(zip);
  if (end === undefined) return "broken";
  let left = maxBytes;
  let at = zip.readUInt32LE(end + 16);
  for (let entry = zip.readUInt16LE(end + 10); entry > 0; entry -= 1) {
    if (at + entryBytes > zip.length || zip.readUInt32LE(at) !== entrySignature) return "broken";
    const size = inflatedSize(zip, at, left);
    if (typeof size !== "number") return size;
    left -= size;
    if (left < 0) return "too-heavy";
    const [name, extra, comment] = [28, 30, 32].map((field) => zip.readUInt16LE(at + field));
    at += entryBytes + (name ?? 0) + (extra ?? 0) + (comment ?? 0);
  }
  return "fits";
}

function endOf(zip: Buffer): number | undefined {
  const lowest = Math.max(0, zip.length - endBytes - maxComment);
  for (let at = zip.length - endBytes; at >= lowest; at -= 1) {
    if (zip.readUInt32LE(at) === endSignature) return at;
  }
  return undefined;
}

function inflatedSize(
  zip: Buffer,
  entry: number,
  maxBytes: number,
): number | "broken" | "too-heavy" {
  const method = zip.readUInt16LE(entry + 10);
  const packed = zip.readUInt32LE(entry + 20);
  const local = zip.readUInt32LE(entry + 42);
  if (local + localBytes > zip.length) return "broken";
  const from = local + localBytes + zip.readUInt16LE(local + 26) + zip.readUInt16LE(local + 28);
  if (from + packed > zip.length) return "broken";
  if (method === 0) return packed;
  if (method !== 8) return "broken";
  try {
    const room = Math.max(1, maxBytes + 1);
    return inflateRawSync(zip.subarray(from, from + packed), { maxOutputLength: room }).length;
  } catch (cause) {
    const code = cause instanceof Error && "code" in cause ? cause.code : undefined;
    return code === "ERR_BUFFER_TOO_LARGE" ? "too-heavy" : "broken";
  }
}
