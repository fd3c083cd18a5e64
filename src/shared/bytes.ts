/**
 * Byte strings: big-endian integers, concatenation, labels, base64url, and a reader that cannot run
 * past its end. Everything on the wire is built from these; nothing here knows what it encodes.
 *
 * Spec: docs/protocol.md "Notation" (labels are 16 bytes, NUL-padded ASCII; base64url is accepted
 * only if it re-encodes to itself).
 */
import { err, ok, type Result } from "./result.ts";

const utf8Encoder = new TextEncoder();
// A byte order mark is content like any other character: it survives the round trip.
const utf8Decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** UTF-8 bytes of a text. Lone surrogates would become U+FFFD: check `isWellFormed` first. */
export function utf8(text: string): Uint8Array {
  return utf8Encoder.encode(text);
}

/** Whether a text has no lone surrogates, so that UTF-8 carries it unchanged. */
export function isWellFormed(text: string): boolean {
  return !/\p{Surrogate}/u.test(text);
}

/** Decodes UTF-8 strictly. Errors: malformed sequences (surrogates, overlong forms, truncation). */
export function parseUtf8(bytes: Uint8Array): Result<string, { readonly type: "utf8" }> {
  try {
    return ok(utf8Decoder.decode(bytes));
  } catch {
    return err({ type: "utf8" });
  }
}

/** Joins byte strings into a new one. */
export function concat(...parts: readonly Uint8Array[]): Uint8Array {
  const joined = new Uint8Array(parts.reduce((length, part) => length + part.length, 0));
  let offset = 0;
  for (const part of parts) {
    joined.set(part, offset);
    offset += part.length;
  }
  return joined;
}

/** Compares public values. For secrets use a constant-time verification from `crypto/`. */
export function equalBytes(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, index) => byte === b[index]);
}

/** A 16-byte, NUL-padded ASCII label. Throws when the text does not fit. */
export function label16(text: string): Uint8Array {
  const label = new Uint8Array(16);
  label.set(utf8(text));
  return label;
}

/** One byte, 0–255. */
export function u8(value: number): Uint8Array {
  return Uint8Array.of(value);
}

/** Big-endian unsigned 16-bit integer. */
export function u16(value: number): Uint8Array {
  const bytes = new Uint8Array(2);
  new DataView(bytes.buffer).setUint16(0, value);
  return bytes;
}

/** Big-endian unsigned 32-bit integer. */
export function u32(value: number): Uint8Array {
  const bytes = new Uint8Array(4);
  new DataView(bytes.buffer).setUint32(0, value);
  return bytes;
}

/** Big-endian unsigned 64-bit integer. */
export function u64(value: bigint): Uint8Array {
  const bytes = new Uint8Array(8);
  new DataView(bytes.buffer).setBigUint64(0, value);
  return bytes;
}

/** A u64 as a number, clamped to the largest exact integer. For comparing and showing times. */
export function clampU64(value: bigint): number {
  return value > BigInt(Number.MAX_SAFE_INTEGER) ? Number.MAX_SAFE_INTEGER : Number(value);
}

/**
 * Reads fields in order. Reading past the end throws: a parser checks the total length first, so
 * an overrun is a bug and never a property of the input.
 */
export class ByteReader {
  readonly #bytes: Uint8Array;
  readonly #view: DataView;
  #offset = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  /** Bytes read so far. */
  get offset(): number {
    return this.#offset;
  }

  /** The next `length` bytes, copied. */
  take(length: number): Uint8Array {
    const at = this.#advance(length);
    return this.#bytes.slice(at, at + length);
  }

  /** The next `length` bytes as a view, for who knows that the whole stays as it is. */
  view(length: number): Uint8Array {
    const at = this.#advance(length);
    return this.#bytes.subarray(at, at + length);
  }

  u8(): number {
    return this.#view.getUint8(this.#advance(1));
  }

  u16(): number {
    return this.#view.getUint16(this.#advance(2));
  }

  u32(): number {
    return this.#view.getUint32(this.#advance(4));
  }

  u64(): bigint {
    return this.#view.getBigUint64(this.#advance(8));
  }

  /** Where the next `length` bytes begin; they count as read. */
  #advance(length: number): number {
    const at = this.#offset;
    if (at + length > this.#bytes.length) {
      throw new RangeError(`read of ${length} bytes past the end of ${this.#bytes.length}`);
    }
    this.#offset = at + length;
    return at;
  }
}

const base64UrlAlphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
const sextetByChar = new Map(Array.from(base64UrlAlphabet, (char, value) => [char, value]));

const charCodes = Uint8Array.from(base64UrlAlphabet, (char) => char.charCodeAt(0));
/** Bytes of text that are made at once: a call takes only so many arguments. */
const textChunkBytes = 3 * 2_048;

/** base64url without padding. */
export function toBase64Url(bytes: Uint8Array): string {
  let text = "";
  for (let at = 0; at < bytes.length; at += textChunkBytes) {
    text += chunkText(bytes.subarray(at, at + textChunkBytes));
  }
  return text;
}

// One string from all its codes: adding characters one by one takes twice as long, and ids of every
// envelope are written several times.
function chunkText(bytes: Uint8Array): string {
  const codes: number[] = [];
  for (let i = 0; i < bytes.length; i += 3) {
    const left = bytes.length - i;
    const group = ((bytes[i] ?? 0) << 16) | ((bytes[i + 1] ?? 0) << 8) | (bytes[i + 2] ?? 0);
    codes.push(codeOf(group >> 18), codeOf(group >> 12));
    if (left > 1) codes.push(codeOf(group >> 6));
    if (left > 2) codes.push(codeOf(group));
  }
  return String.fromCharCode(...codes);
}

function codeOf(sextet: number): number {
  return charCodes[sextet & 63] ?? 0;
}

/** Parses base64url. Errors: padding, foreign characters, or a text that is not canonical. */
export function parseBase64Url(text: string): Result<Uint8Array, { readonly type: "base64url" }> {
  const bytes = new Uint8Array(Math.floor((text.length * 3) / 4));
  let offset = 0;
  let bits = 0;
  let pending = 0;
  for (const char of text) {
    const sextet = sextetByChar.get(char);
    if (sextet === undefined) return err({ type: "base64url" });
    pending = ((pending << 6) | sextet) & 0xffff;
    bits += 6;
    if (bits >= 8) {
      bits -= 8;
      bytes[offset++] = (pending >> bits) & 0xff;
    }
  }
  return toBase64Url(bytes) === text ? ok(bytes) : err({ type: "base64url" });
}
