/**
 * Writes GGUF v3: metadata, then tensors of F32 or F16, each at a multiple of 32 bytes. The two
 * generated models are made with it; it reads nothing and knows no architecture.
 *
 * Spec: the GGUF description in ggml, version 3.
 */

/** A metadata value; a number says which of the format's types it is. */
export type GgufValue =
  | string
  | boolean
  | { readonly u32: number }
  | { readonly f32: number }
  | readonly string[]
  | { readonly i32s: readonly number[] };

/** A tensor. `dims[0]` is the contiguous dimension; more than one dimension is stored as F16. */
export interface GgufTensor {
  readonly name: string;
  readonly dims: readonly number[];
  readonly values: Float32Array;
}

const alignment = 32;
const valueTypes = { u32: 4, i32: 5, f32: 6, bool: 7, string: 8, array: 9 } as const;
const tensorTypes = { f32: 0, f16: 1 } as const;

/** The file's bytes. */
export function writeGguf(
  metadata: Readonly<Record<string, GgufValue>>,
  tensors: readonly GgufTensor[],
): Buffer {
  const entries = Object.entries(metadata);
  const encoded = tensors.map(encodeTensor);
  let offset = 0;
  const infos = tensors.map(({ name, dims }, at) => {
    const shape = [u32(dims.length), ...dims.map(u64)];
    const type = dims.length > 1 ? tensorTypes.f16 : tensorTypes.f32;
    const info = [string(name), ...shape, u32(type), u64(offset)];
    offset += encoded[at]?.length ?? 0;
    return Buffer.concat(info);
  });
  const head = Buffer.concat([
    Buffer.from("GGUF"),
    u32(3),
    u64(tensors.length),
    u64(entries.length),
    ...entries.flatMap(([key, value]) => [string(key), encodeValue(value)]),
    ...infos,
  ]);
  return Buffer.concat([padded(head), ...encoded]);
}

/** How the tokenizer `gpt2` writes each byte as a printable character. */
export function byteAlphabet(): readonly string[] {
  let next = 256;
  return Array.from({ length: 256 }, (_, byte) =>
    String.fromCodePoint(printable(byte) ? byte : next++),
  );
}

function printable(byte: number): boolean {
  return (byte >= 33 && byte <= 126) || (byte >= 161 && byte <= 172) || byte >= 174;
}

function encodeValue(value: GgufValue): Buffer {
  if (typeof value === "string") return Buffer.concat([u32(valueTypes.string), string(value)]);
  if (typeof value === "boolean")
    return Buffer.concat([u32(valueTypes.bool), Buffer.from([Number(value)])]);
  if ("u32" in value) return Buffer.concat([u32(valueTypes.u32), u32(value.u32)]);
  if ("f32" in value) return Buffer.concat([u32(valueTypes.f32), f32(value.f32)]);
  if ("i32s" in value) return array(valueTypes.i32, value.i32s.map(i32));
  return array(valueTypes.string, value.map(string));
}

function array(type: number, items: readonly Buffer[]): Buffer {
  return Buffer.concat([u32(valueTypes.array), u32(type), u64(items.length), ...items]);
}

function encodeTensor({ name, dims, values }: GgufTensor): Buffer {
  const size = dims.reduce((product, dim) => product * dim, 1);
  if (size !== values.length)
    throw new Error(`${name}: expected ${size} values, got ${values.length}`);
  if (dims.length === 1)
    return padded(Buffer.from(values.buffer, values.byteOffset, values.byteLength));
  const bytes = Buffer.alloc(values.length * 2);
  for (const [at, value] of values.entries())
    if (value !== 0) bytes.writeUInt16LE(halfOf(value), at * 2);
  return padded(bytes);
}

const single = new DataView(new ArrayBuffer(4));

/** IEEE half precision, cut towards zero: exact for the computed weights, near enough for random ones. */
function halfOf(value: number): number {
  single.setFloat32(0, value);
  const bits = single.getUint32(0);
  const sign = (bits >>> 16) & 0x8000;
  const exponent = ((bits >>> 23) & 0xff) - 127 + 15;
  if (exponent >= 31) throw new Error(`${value} does not fit into half precision`);
  return exponent <= 0 ? sign : sign | (exponent << 10) | ((bits & 0x7fffff) >>> 13);
}

function padded(bytes: Buffer): Buffer {
  return Buffer.concat([bytes, Buffer.alloc((alignment - (bytes.length % alignment)) % alignment)]);
}

function string(text: string): Buffer {
  const bytes = Buffer.from(text, "utf8");
  return Buffer.concat([u64(bytes.length), bytes]);
}

function u32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}

function i32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32LE(value);
  return bytes;
}

function u64(value: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(BigInt(value));
  return bytes;
}

function f32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeFloatLE(value);
  return bytes;
}
