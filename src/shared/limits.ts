/**
 * Every bound of the protocol in one place, with its unit and its reason. Both programs and the
 * tests read them from here; a number that appears twice would drift.
 *
 * Spec: docs/protocol.md.
 */
import { dayMs } from "./clock.ts";

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;

/** Version byte of every record and of the envelope format. */
export const protocolVersion = 1;

/** Plaintext sizes after padding, by bucket byte 0…4. Units: bytes. */
export const bucketBytes = [1_024, 4_096, 16_384, 65_536, 262_144] as const;
/** Bytes of the inner plaintext around the content: 232 before it and the signature of 64 after. */
export const innerFixedBytes = 296;
/** Content that fits a bucket: padding takes at least one byte. Units: bytes. */
export const contentBytesByBucket = bucketBytes.map((bytes) => bytes - innerFixedBytes - 1);
/** Bytes kept free in each bucket, so that the self-echo (recipient AIK + content) fits the same one. */
export const echoOverheadBytes = 32;
/** The largest message a person can send. Units: bytes of UTF-8. */
export const maxMessageBytes = 261_815;

/** Bytes a body adds to its bucket: commitment 32 and AEAD tag 16. */
export const bodyOverheadBytes = 48;
/** Bytes of the sealed header for one device: prekey id 8, X-Wing ciphertext 1,120, sealed content key 48. */
export const headerBytes = 1_176;
/** Bytes of an upload before its per-device entries. */
export const uploadPrefixBytes = 76;
/** Devices that one upload may address, and that an account may have (revoked ones not counted). */
export const maxDevices = 16;
/** Bytes of the largest upload: the relay's request body limit. */
export const maxUploadBytes =
  uploadPrefixBytes + maxDevices * (16 + headerBytes) + 262_144 + bodyOverheadBytes;

/** A token is refused when it expires later than this from now, relay time. Units: ms. */
export const maxTokenLifetimeMs = hourMs;
/** Lifetime that clients give their tokens; well inside the limit, so that clocks may differ. Units: ms. */
export const tokenLifetimeMs = 30 * minuteMs;

/** Senders refuse prekeys older than this. Units: ms. */
export const maxPrekeyAgeMs = 45 * dayMs;
/** A prekey dated further than this after relay time is refused and never pinned. Units: ms. */
export const maxPrekeyLeadMs = hourMs;
/** Senders never seal from a bundle fetched longer ago. Units: ms. */
export const maxBundleAgeMs = dayMs;
/** A device publishes a new prekey after this, give or take `prekeyRotationJitterMs`. Units: ms. */
export const prekeyRotationMs = dayMs;
export const prekeyRotationJitterMs = 4 * hourMs;
/** A prekey outlives the publication of its successor by at least this. Units: ms. */
export const prekeyGraceMs = 48 * hourMs;
/** Hard limit of a prekey's life: 45 d of use, 30 d of retention, 1 d of slack. Units: ms. */
export const maxPrekeyLifeMs = 76 * dayMs;

/** Days that the relay keeps an envelope that nobody acknowledges. */
export const retentionDays = 30;
/** The partition of slot day D is dropped at the start of day D + this. */
export const dropPartitionAfterDays = retentionDays + 2;
/** Items one mailbox may hold. */
export const maxQueuedItems = 500;
/** Bytes one mailbox may hold. */
export const maxQueuedBytes = 20 * 1_048_576;
/** Bytes of items in buckets of 64 KiB and more, at most half of the mailbox. */
export const maxQueuedLargeBytes = maxQueuedBytes / 2;
/** First bucket that counts as large. */
export const firstLargeBucket = 3;

/** Unacknowledged items and bytes on one connection; what lies beyond stays in the database. */
export const windowItems = 256;
export const windowBytes = 1_048_576;
/** Sequence numbers in one acknowledgement. */
export const maxAckSeqs = 256;

/** Time for a device to answer the challenge. Units: ms. */
export const challengeMs = 10_000;
/** Both ends ping this often, and end the connection after two missed pongs. Units: ms. */
export const pingIntervalMs = 25_000;

/** A retired access key is honoured this long, and at most so many of them, the newest. Units: ms. */
export const retiredKeyMs = 45 * dayMs;
export const maxRetiredKeys = 4;
/** What retired keys may do: items of the smallest bucket for each mailbox, bundle requests a day for each account. */
export const maxReserveItems = 20;
export const maxReserveBundles = 4;

/** Items that one invite may queue, over all devices and for ever. */
export const maxInviteItems = 20;
/** Open invite keys of one account. */
export const maxOpenInvites = 32;
/** Default lifetime of an invite. Units: ms. */
export const inviteLifetimeMs = 7 * dayMs;

/** Lifetime and size of one rendezvous. */
export const rendezvousMs = 10 * minuteMs;
export const maxRendezvousBytes = 16_384;

/** Message ids in one receipt. */
export const maxReceiptIds = 32;
/** Bytes of a name and of a relay origin in a profile. */
export const maxNameBytes = 128;
export const maxRelayOriginBytes = 256;
/** Message requests that wait for a decision; more are set aside. */
export const maxPendingRequests = 50;
/** A message id outlives its message by this, so that a late copy lands nowhere. Units: ms. */
export const messageIdLifeMs = 90 * dayMs;

/** A message that nobody confirmed ends after this, and its sender is told. Units: ms. */
export const outboxLifeMs = 30 * dayMs;
/** An entry revoked for longer than this may be left out of the next device list. Units: ms. */
export const revokedEntryMs = 120 * dayMs;
