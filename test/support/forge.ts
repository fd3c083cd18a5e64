/**
 * Items that no honest device makes: every part of a sealing can be replaced, and all that is not
 * replaced stays right, so that exactly one check can object.
 */
import { concat } from "../../src/shared/bytes.ts";
import { bucketBytes } from "../../src/shared/limits.ts";
import type { Rng } from "../../src/shared/rng.ts";
import { encodeItem } from "../../src/shared/wire/envelope.ts";
import { bodyKeys, commitment } from "../../src/device/crypto/envelope-keys.ts";
import { type Inner, signInner } from "../../src/device/crypto/inner.ts";
import { aeadSeal, pad } from "../../src/device/crypto/primitives.ts";
import { sealHeader } from "../../src/device/crypto/seal.ts";
import { at, messageOf, type TestDevice, type TestPerson, valueOf } from "./people.ts";

/** Parts to replace. */
export interface Forgery {
  readonly contentKey?: Uint8Array;
  readonly bucket?: number;
  /** Plaintext before padding. */
  readonly plaintext?: Uint8Array;
  /** Plaintext after padding, of a bucket's size. */
  readonly padded?: Uint8Array;
  /** The whole body, commitment included. */
  readonly body?: Uint8Array;
  /** Account or bucket that only the body is bound to. */
  readonly bodyAik?: Uint8Array;
  readonly bodyBucket?: number;
  /** Account or device that only the header is bound to. */
  readonly headerAik?: Uint8Array;
  readonly headerDeviceId?: Uint8Array;
}

/** The honest fields of a message from a device of one person to another. */
export function innerOf(
  from: TestPerson,
  to: TestPerson,
  fields: Partial<Inner> & { readonly device?: TestDevice } = {},
): Inner {
  const { device = at(from.devices, 0), ...replaced } = fields;
  return {
    ...messageOf(),
    recipientAik: to.aik.publicKey,
    recipientList: { version: to.list.version, hashPrefix: to.list.hash.slice(0, 8) },
    certificate: device.certificate.record,
    ...replaced,
  };
}

/** Signs a plaintext with a device of the sender. */
export function plaintextOf(inner: Inner, contentKey: Uint8Array, device: TestDevice): Uint8Array {
  return signInner(inner, contentKey, device.dsk.privateKey);
}

/** Seals whatever it is told to the first device of a person. Draws 64 bytes. */
export function forgeItem(to: TestPerson, forgery: Forgery, rng: Rng): Uint8Array {
  const { deviceId, prekey } = at(to.devices, 0);
  const bucket = forgery.bucket ?? 0;
  const contentKey = forgery.contentKey ?? new Uint8Array(32).fill(0x0c);
  const body = forgery.body ?? forgeBody(to, contentKey, forgery);
  const header = sealHeader(
    contentKey,
    {
      aik: forgery.headerAik ?? to.aik.publicKey,
      deviceId: forgery.headerDeviceId ?? deviceId,
      prekey,
      bucket,
      commitment: body.subarray(0, 32),
    },
    rng(64),
  );
  return encodeItem({ bucket, header: valueOf(header), body });
}

/** A body with its commitment. */
export function forgeBody(to: TestPerson, contentKey: Uint8Array, forgery: Forgery): Uint8Array {
  const bucket = forgery.bucket ?? 0;
  const keys = bodyKeys(
    contentKey,
    forgery.bodyAik ?? to.aik.publicKey,
    forgery.bodyBucket ?? bucket,
  );
  const padded =
    forgery.padded ?? pad(forgery.plaintext ?? new Uint8Array(0), at([...bucketBytes], bucket));
  const sealed = aeadSeal(padded, keys);
  return concat(commitment(keys, sealed), sealed);
}

/** A copy with one byte changed. Negative offsets count from the end. */
export function flip(bytes: Uint8Array, offset: number): Uint8Array {
  const flipped = bytes.slice();
  const index = offset < 0 ? bytes.length + offset : offset;
  flipped[index] = at([...bytes.subarray(index, index + 1)], 0) ^ 1;
  return flipped;
}
