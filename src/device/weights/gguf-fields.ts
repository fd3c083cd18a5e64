/**
 * How GGUF spells the values of its fields, and how it pads. What a file consists of is up to whoever
 * writes one. Little-endian throughout. Spec: the GGUF format, version 3.
 */

/** GGUF's numbers for the kinds of values used here. */
const kinds = { u32: 4, i32: 5, f32: 6, bool: 7, text: 8, list: 9 } as const;
/** Units: bytes. */
const alignment = 32;

/** A value of a GGUF field: its kind and its bytes. */
export interface Typed {
  readonly kind: number;
  readonly bytes: Buffer;
}

/** A key with its value. */
export function field(key: string, value: Typed): Buffer {
  return Buffer.concat([text(key).bytes, u32(value.kind).bytes, value.bytes]);
}

/** A string. */
export function text(value: string): Typed {
  const bytes = Buffer.from(value);
  return { kind: kinds.text, bytes: Buffer.concat([u64(bytes.length), bytes]) };
}

/** A list of one kind. */
export function listOf(items: readonly Typed[]): Typed {
  const head = Buffer.concat([u32(items[0]?.kind ?? kinds.u32).bytes, u64(items.length)]);
  return { kind: kinds.list, bytes: Buffer.concat([head, ...items.map(({ bytes }) => bytes)]) };
}

/** An unsigned number. */
export function u32(value: number): Typed {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return { kind: kinds.u32, bytes };
}

/** A signed number; only small positive ones are needed. */
export function i32(value: number): Typed {
  return { kind: kinds.i32, bytes: u32(value).bytes };
}

/** A single-precision number. */
export function f32(value: number): Typed {
  const bytes = Buffer.alloc(4);
  bytes.writeFloatLE(value);
  return { kind: kinds.f32, bytes };
}

/** A truth value. */
export function bool(value: boolean): Typed {
  return { kind: kinds.bool, bytes: Buffer.from([value ? 1 : 0]) };
}

/** A bare 64-bit count or offset. */
export function u64(value: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(BigInt(value));
  return bytes;
}

/** Bytes up to the next multiple of the alignment. */
export function padded(bytes: Uint8Array): Uint8Array {
  return Buffer.concat([bytes, Buffer.alloc(roundUp(bytes.length) - bytes.length)]);
}

/** The next multiple of the alignment. Units: bytes. */
export function roundUp(bytes: number): number {
  return Math.ceil(bytes / alignment) * alignment;
}
