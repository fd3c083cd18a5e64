/**
 * The two shapes a sealed envelope has: the upload that a sender posts (one account, up to 16
 * devices, one body) and the item that each device receives. This file cuts and joins bytes; it
 * verifies lengths and nothing else, because the relay must not be able to do more.
 *
 * Spec: docs/protocol.md "Envelopes" (upload, item).
 */
import { ByteReader, concat, u16, u64, u8 } from "../bytes.ts";
import type { KeyKind } from "../crypto/token.ts";
import { tokenOffset } from "../crypto/token.ts";
import { idText } from "../ids.ts";
import {
  bodyOverheadBytes,
  bucketBytes,
  headerBytes,
  maxDevices,
  protocolVersion,
  uploadPrefixBytes,
} from "../limits.ts";
import { err, ok, type Result } from "../result.ts";

/** The part of an upload that is for one device. */
export interface UploadEntry {
  readonly mailbox: Uint8Array;
  readonly header: Uint8Array;
}

/** An upload without its token. */
export interface UploadContent {
  readonly bucket: number;
  readonly keyKind: KeyKind;
  readonly accountMailbox: Uint8Array;
  /** Day u16 (UTC, relay time) ‖ 14 random bytes: the name of one sealing. */
  readonly slot: Uint8Array;
  readonly tokenExpiryMs: bigint;
  readonly entries: readonly UploadEntry[];
  /** Commitment 32 ‖ ciphertext ‖ tag 16. */
  readonly body: Uint8Array;
}

/** A parsed upload. Its token is not verified yet. */
export interface Upload extends UploadContent {
  readonly token: Uint8Array;
  /** Slot day. Units: days since 1970-01-01. */
  readonly day: number;
}

/** What one device receives. */
export interface Item {
  readonly bucket: number;
  readonly header: Uint8Array;
  readonly body: Uint8Array;
}

export type UploadError = { readonly type: "upload-malformed"; readonly reason: string };
/** Codes of the first three opening checks, in their order. */
export type ItemError = { readonly type: "version" | "bucket" | "length" };

/** Bytes of a body in that bucket. Throws outside 0…4. */
export function bodyBytes(bucket: number): number {
  const size = bucketBytes[bucket];
  if (size === undefined) throw new RangeError(`bucket ${bucket}`);
  return size + bodyOverheadBytes;
}

/** Names one sealing. `random` is 14 bytes. */
export function makeSlot(day: number, random: Uint8Array): Uint8Array {
  return concat(u16(day), random);
}

/** Encodes an upload with its token field zeroed; `setUploadToken` fills it. */
export function encodeUpload(content: UploadContent): Uint8Array {
  return concat(
    u8(protocolVersion),
    u8(content.bucket),
    u8(content.entries.length),
    u8(content.keyKind),
    content.accountMailbox,
    content.slot,
    u64(content.tokenExpiryMs),
    new Uint8Array(32),
    ...content.entries.flatMap((entry) => [entry.mailbox, entry.header]),
    content.body,
  );
}

/** Writes the token into an encoded upload, in place. */
export function setUploadToken(upload: Uint8Array, token: Uint8Array): void {
  upload.set(token, tokenOffset);
}

/**
 * Parses an upload by its exact length. Errors name the first field that is off. What it returns are
 * views into `bytes`.
 */
export function parseUpload(bytes: Uint8Array): Result<Upload, UploadError> {
  if (bytes.length < uploadPrefixBytes) return malformed(`${bytes.length} bytes is too short`);
  const reader = new ByteReader(bytes);
  const [version, bucket, count, kind] = [reader.u8(), reader.u8(), reader.u8(), reader.u8()];
  if (version !== protocolVersion)
    return malformed(`version ${version}, expected ${protocolVersion}`);
  if (bucket >= bucketBytes.length) return malformed(`bucket ${bucket}, expected 0 to 4`);
  if (count < 1 || count > maxDevices)
    return malformed(`${count} devices, expected 1 to ${maxDevices}`);
  if (kind !== 0 && kind !== 1) return malformed(`key kind ${kind}, expected 0 or 1`);
  const expected = uploadPrefixBytes + count * (16 + headerBytes) + bodyBytes(bucket);
  if (bytes.length !== expected) return malformed(`${bytes.length} bytes, expected ${expected}`);
  const fields = {
    bucket,
    keyKind: kind,
    accountMailbox: reader.view(16),
    slot: reader.view(16),
    tokenExpiryMs: reader.u64(),
    token: reader.view(32),
    entries: Array.from({ length: count }, () => ({
      mailbox: reader.view(16),
      header: reader.view(headerBytes),
    })),
    body: reader.view(bodyBytes(bucket)),
  } as const;
  if (count > 1 && new Set(fields.entries.map((entry) => idText(entry.mailbox))).size !== count) {
    return malformed("a device mailbox is addressed twice");
  }
  return ok({ ...fields, day: new ByteReader(fields.slot).u16() });
}

/** Encodes what one device receives. */
export function encodeItem(item: Item): Uint8Array {
  return concat(u8(protocolVersion), u8(item.bucket), item.header, item.body);
}

/**
 * Encodes an item behind the head that a delivery has, `seq u64 | redelivered u8`, in one piece: the
 * relay does this for every envelope. Equal to `encodeDelivery` around `encodeItem`.
 */
export function encodeItemDelivery(seq: bigint, redelivered: boolean, item: Item): Uint8Array {
  const frame = new Uint8Array(11 + item.header.length + item.body.length);
  new DataView(frame.buffer).setBigUint64(0, seq);
  frame[8] = redelivered ? 1 : 0;
  frame[9] = protocolVersion;
  frame[10] = item.bucket;
  frame.set(item.header, 11);
  frame.set(item.body, 11 + item.header.length);
  return frame;
}

/** Parses an item: version, then bucket, then exact length. */
export function parseItem(bytes: Uint8Array): Result<Item, ItemError> {
  const [version, bucket] = bytes;
  if (version !== protocolVersion) return err({ type: "version" });
  if (bucket === undefined || bucket >= bucketBytes.length) return err({ type: "bucket" });
  if (bytes.length !== 2 + headerBytes + bodyBytes(bucket)) return err({ type: "length" });
  return ok({
    bucket,
    header: bytes.slice(2, 2 + headerBytes),
    body: bytes.slice(2 + headerBytes),
  });
}

function malformed(reason: string): { readonly ok: false; readonly error: UploadError } {
  return err({ type: "upload-malformed", reason });
}
