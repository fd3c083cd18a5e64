/**
 * Sealing: content in, upload out. One body under a fresh content key, one header per recipient
 * device, one token. Which devices, which prekeys and when is decided by messaging; nothing here
 * keeps state, and a re-seal is simply another call with the same message id.
 *
 * Randomness is drawn in a fixed order (content key 32, slot 14, 64 for each device in order), so
 * that vectors reproduce every byte.
 *
 * Spec: docs/protocol.md "Envelopes".
 */
import { concat } from "../../shared/bytes.ts";
import { deliveryTokenInput, type KeyKind, makeToken } from "../../shared/crypto/token.ts";
import { wipe } from "../../shared/crypto/sodium.ts";
import {
  bucketBytes,
  contentBytesByBucket,
  echoOverheadBytes,
  maxDevices,
} from "../../shared/limits.ts";
import { err, ok, type Result } from "../../shared/result.ts";
import type { Rng } from "../../shared/rng.ts";
import {
  encodeUpload,
  makeSlot,
  setUploadToken,
  type UploadEntry,
} from "../../shared/wire/envelope.ts";
import {
  bodyKeys,
  commitment,
  commitmentBytes,
  contentKeyBytes,
  headerKey,
} from "./envelope-keys.ts";
import { signInner } from "./inner.ts";
import { aeadSeal, encapsulate, encapsulationSeedBytes, pad } from "./primitives.ts";
import { payloadTag } from "./type-rules.ts";

/** One recipient device with the prekey to seal to. The prekey was verified when it was fetched. */
export interface SealTarget {
  readonly deviceId: Uint8Array;
  readonly mailbox: Uint8Array;
  readonly prekey: { readonly id: Uint8Array; readonly publicKey: Uint8Array };
}

/** The account to seal to, as this device knows it. */
export interface SealRecipient {
  readonly aik: Uint8Array;
  readonly accountMailbox: Uint8Array;
  readonly listVersion: number;
  /** Hash of that list version; its first 8 bytes travel as the sender's view. */
  readonly listHash: Uint8Array;
  readonly targets: readonly SealTarget[];
}

/** What to seal. */
export interface SealMessage {
  readonly typeTag: number;
  readonly flags: number;
  readonly messageId: Uint8Array;
  readonly sentAtMs: bigint;
  readonly content: Uint8Array;
  /** Use at least this bucket, 0…4. Receipts travel in the size of chat. */
  readonly bucket?: number;
}

/** With which key the upload is let in at the relay. `expiryMs` is relay time. */
export interface SealToken {
  readonly keyKind: KeyKind;
  readonly key: Uint8Array;
  readonly expiryMs: bigint;
  /** BLAKE2b-256 of the relay's origin. */
  readonly originDigest: Uint8Array;
}

/** Everything that one sealing needs. */
export interface SealRequest {
  readonly sender: {
    readonly dskPrivateKey: Uint8Array;
    /** The sending device's certificate record. */
    readonly certificate: Uint8Array;
  };
  readonly recipient: SealRecipient;
  readonly message: SealMessage;
  readonly token: SealToken;
  /** UTC day on the clock of the relay that the upload goes to. Units: days since 1970. */
  readonly slotDay: number;
}

/** One sealing, ready to post. A network retry posts the identical bytes. */
export interface SealedUpload {
  readonly upload: Uint8Array;
  readonly slot: Uint8Array;
  readonly bucket: number;
  /** Which prekey each device was sealed to, in the order of the targets. */
  readonly prekeys: readonly { readonly deviceId: Uint8Array; readonly prekeyId: Uint8Array }[];
}

export type SealError =
  | { readonly type: "too-large"; readonly limitBytes: number; readonly contentBytes: number }
  /** Prekeys that the primitive refuses: seal again without these devices. */
  | { readonly type: "no-prekey"; readonly deviceIds: readonly Uint8Array[] };

/**
 * The bucket for a content. A message leaves room for its self-echo, so that both have one size.
 * Errors: `too-large` with the limit for that tag.
 */
export function bucketFor(
  message: Pick<SealMessage, "typeTag" | "content" | "bucket">,
): Result<number, Extract<SealError, { type: "too-large" }>> {
  const reserved = message.typeTag === payloadTag.message ? echoOverheadBytes : 0;
  const contentBytes = message.content.length;
  const smallest = contentBytesByBucket.findIndex((limit) => contentBytes + reserved <= limit);
  if (smallest === -1) {
    const limitBytes = Math.max(...contentBytesByBucket) - reserved;
    return err({ type: "too-large", limitBytes, contentBytes });
  }
  return ok(Math.max(smallest, message.bucket ?? 0));
}

/** Seals the padded plaintext: commitment 32 ‖ ciphertext ‖ tag 16. */
function sealBody(
  plaintext: Uint8Array,
  contentKey: Uint8Array,
  recipient: { readonly aik: Uint8Array; readonly bucket: number },
): Uint8Array {
  const size = bucketBytes[recipient.bucket];
  if (size === undefined) throw new RangeError(`bucket ${recipient.bucket}, expected 0 to 4`);
  const keys = bodyKeys(contentKey, recipient.aik, recipient.bucket);
  const padded = pad(plaintext, size);
  const sealed = aeadSeal(padded, keys);
  wipe(padded);
  return concat(commitment(keys, sealed), sealed);
}

/** Whom a header is for and which body it belongs to. */
export interface HeaderTarget {
  readonly aik: Uint8Array;
  readonly deviceId: Uint8Array;
  readonly prekey: SealTarget["prekey"];
  readonly bucket: number;
  /** The first 32 bytes of the body. */
  readonly commitment: Uint8Array;
}

/**
 * Seals a content key to one device: prekey id 8 ‖ X-Wing ciphertext 1,120 ‖ sealed key 48.
 * Units: `random` is 64 fresh bytes. Errors: `no-prekey`, the primitive refuses the public key.
 */
export function sealHeader(
  contentKey: Uint8Array,
  target: HeaderTarget,
  random: Uint8Array,
): Result<Uint8Array, { readonly type: "no-prekey" }> {
  const kem = encapsulate(target.prekey.publicKey, random);
  if (!kem.ok) return kem;
  const { ciphertext, sharedSecret } = kem.value;
  const key = headerKey(sharedSecret, {
    ...target,
    prekeyId: target.prekey.id,
    kemCiphertext: ciphertext,
  });
  wipe(sharedSecret);
  return ok(concat(target.prekey.id, ciphertext, aeadSeal(contentKey, key)));
}

/** Seals one message to the devices of one account. Throws unless 1 to 16 devices are addressed. */
export function sealUpload(request: SealRequest, rng: Rng): Result<SealedUpload, SealError> {
  const { recipient, message, sender } = request;
  const count = recipient.targets.length;
  if (count < 1 || count > maxDevices) {
    throw new RangeError(`${count} devices addressed, expected 1 to ${maxDevices}`);
  }
  const bucket = bucketFor(message);
  if (!bucket.ok) return bucket;

  const contentKey = rng(contentKeyBytes);
  const slot = makeSlot(request.slotDay, rng(14));
  const inner = signInner(
    {
      ...message,
      recipientAik: recipient.aik,
      recipientList: {
        version: recipient.listVersion,
        hashPrefix: recipient.listHash.subarray(0, 8),
      },
      certificate: sender.certificate,
    },
    contentKey,
    sender.dskPrivateKey,
  );
  const body = sealBody(inner, contentKey, { aik: recipient.aik, bucket: bucket.value });
  const entries = sealHeaders(contentKey, body, { recipient, bucket: bucket.value, rng });
  wipe(inner);
  wipe(contentKey);
  if (!entries.ok) return entries;

  const upload = encodeUpload({
    bucket: bucket.value,
    keyKind: request.token.keyKind,
    accountMailbox: recipient.accountMailbox,
    slot,
    tokenExpiryMs: request.token.expiryMs,
    entries: entries.value,
    body,
  });
  setUploadToken(
    upload,
    makeToken(deliveryTokenInput(upload, request.token.originDigest), request.token.key),
  );
  const prekeys = recipient.targets.map(({ deviceId, prekey }) => ({
    deviceId,
    prekeyId: prekey.id,
  }));
  return ok({ upload, slot, bucket: bucket.value, prekeys });
}

function sealHeaders(
  contentKey: Uint8Array,
  body: Uint8Array,
  to: { readonly recipient: SealRecipient; readonly bucket: number; readonly rng: Rng },
): Result<readonly UploadEntry[], SealError> {
  const entries: UploadEntry[] = [];
  const refused: Uint8Array[] = [];
  for (const { deviceId, mailbox, prekey } of to.recipient.targets) {
    const target = {
      aik: to.recipient.aik,
      deviceId,
      prekey,
      bucket: to.bucket,
      commitment: body.subarray(0, commitmentBytes),
    };
    const header = sealHeader(contentKey, target, to.rng(encapsulationSeedBytes));
    if (header.ok) entries.push({ mailbox, header: header.value });
    else refused.push(deviceId);
  }
  return refused.length > 0 ? err({ type: "no-prekey", deviceIds: refused }) : ok(entries);
}
