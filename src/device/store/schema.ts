/**
 * Tables of the device store. One file holds one device of one account.
 *
 * Ids are base64url text, records and secrets are blobs, times are milliseconds of relay time. The
 * whole file is encrypted at rest, so columns are not encrypted one by one.
 *
 * Spec: docs/protocol.md for the records; migrations under migrations/device are generated from here.
 */
import {
  index,
  integer,
  primaryKey,
  sqliteTable,
  text,
  uniqueIndex,
} from "drizzle-orm/sqlite-core";
import { bytes, flag } from "./columns.ts";

/** Small single values: relay clock offset, epoch, display choices. */
export const setting = sqliteTable("setting", {
  key: text().primaryKey(),
  value: text().notNull(),
});

/** The account this device belongs to; at most one row. `aikSeed` only on admin devices. */
export const ownAccount = sqliteTable("own_account", {
  aik: text().primaryKey(),
  aikSeed: bytes(),
  accountMailbox: text().notNull(),
  accessKey: bytes().notNull(),
  relayOrigin: text().notNull(),
  name: text().notNull(),
});

/** This device itself; at most one row. `certificate` is absent until a link completes. */
export const ownDevice = sqliteTable("own_device", {
  deviceId: text().primaryKey(),
  dskSeed: bytes().notNull(),
  mailbox: text().notNull(),
  name: text().notNull(),
  certificate: bytes(),
  createdMs: integer().notNull(),
});

/** Private halves of this device's prekeys. Deleted after the grace period, never edited. */
export const ownPrekey = sqliteTable("own_prekey", {
  prekeyId: text().primaryKey(),
  seed: bytes().notNull(),
  publicKey: bytes().notNull(),
  /** The identity key that it was signed under. */
  aik: text().notNull(),
  record: bytes().notNull(),
  notBeforeMs: integer().notNull(),
  publishedMs: integer(),
  supersededMs: integer(),
});

/** Every device list seen of an account, our own included: the chain. */
export const deviceList = sqliteTable(
  "device_list",
  {
    aik: text().notNull(),
    version: integer().notNull(),
    hash: text().notNull(),
    record: bytes().notNull(),
  },
  (table) => [primaryKey({ columns: [table.aik, table.version] })],
);

/**
 * Lists that contradict the chain above (fork, broken chain): one identity key signed two histories.
 * Kept as evidence, and because both then judge which devices are still heard.
 */
export const rivalList = sqliteTable(
  "rival_list",
  {
    aik: text().notNull(),
    hash: text().notNull(),
    record: bytes().notNull(),
  },
  (table) => [primaryKey({ columns: [table.aik, table.hash] })],
);

/** The newest prekey of every device of contacts and of our own account. */
export const peerPrekey = sqliteTable(
  "peer_prekey",
  {
    aik: text().notNull(),
    deviceId: text().notNull(),
    notBeforeMs: integer().notNull(),
    record: bytes().notNull(),
  },
  (table) => [primaryKey({ columns: [table.aik, table.deviceId] })],
);

/** When the bundle of an account (contact or our own) was last fetched: none is used for over a day. */
export const bundleFetch = sqliteTable("bundle_fetch", {
  aik: text().primaryKey(),
  fetchedMs: integer().notNull(),
});

/**
 * People. `relation`: `invited` (we accepted their invite, their profile is not here yet), `contact`,
 * `request` (a stranger wrote), `blocked`. Reachable = relay, mailbox and a key are known.
 */
export const contact = sqliteTable("contact", {
  aik: text().primaryKey(),
  name: text().notNull(),
  relation: text({ enum: ["invited", "contact", "request", "blocked"] }).notNull(),
  relayOrigin: text(),
  accountMailbox: text(),
  accessKey: bytes(),
  /** Invite key of the invite we accepted: lets us send until their access key arrives. */
  inviteKey: bytes(),
  addedMs: integer().notNull(),
  verifiedMs: integer(),
  /** When their identity key was renewed, until somebody compares the safety number again. */
  renewedMs: integer(),
  /** Why sending stopped, e.g. `list-fork`. */
  stopped: text(),
  /** Version of our device list that was last sent to them because their view was old. */
  listSentVersion: integer(),
});

/** Invites that we made, on this device or (synced) on a sibling. */
export const invite = sqliteTable("invite", {
  inviteId: text().primaryKey(),
  secret: bytes().notNull(),
  expiresMs: integer().notNull(),
  singleUse: flag().notNull(),
  createdMs: integer().notNull(),
  closedMs: integer(),
});

/** What a conversation shows. `conversation` is the other person's identity key. */
export const message = sqliteTable(
  "message",
  {
    row: integer().primaryKey({ autoIncrement: true }),
    conversation: text().notNull(),
    senderAik: text().notNull(),
    senderDevice: text().notNull(),
    messageId: text().notNull(),
    typeTag: integer().notNull(),
    content: bytes().notNull(),
    /** As shown: clamped to the arrival time. */
    sentMs: integer().notNull(),
    arrivedMs: integer().notNull(),
    /** The sender's clock said something else than `sentMs`. */
    clockOff: flag().notNull(),
    readMs: integer(),
  },
  (table) => [
    index("message_conversation").on(table.conversation, table.row),
    uniqueIndex("message_sender_id").on(table.senderAik, table.messageId),
  ],
);

/** Ids of everything that was journalled: outlives the message by 90 d, so that nothing lands twice. */
export const seenMessage = sqliteTable(
  "seen_message",
  {
    senderAik: text().notNull(),
    messageId: text().notNull(),
    seenMs: integer().notNull(),
  },
  (table) => [primaryKey({ columns: [table.senderAik, table.messageId] })],
);

/** Items that could not be opened: journalled, acknowledged, shown by `doctor`. */
export const setAside = sqliteTable(
  "set_aside",
  {
    itemHash: text().primaryKey(),
    reason: text().notNull(),
    count: integer().notNull(),
    firstMs: integer().notNull(),
    lastMs: integer().notNull(),
  },
  (table) => [index("set_aside_last").on(table.lastMs)],
);

/** What we send: one row per payload and recipient account. The plaintext stays until it is confirmed. */
export const outbox = sqliteTable(
  "outbox",
  {
    /** Order of composing: each recipient is sent to in this order. */
    row: integer().primaryKey({ autoIncrement: true }),
    messageId: text().notNull(),
    recipientAik: text().notNull(),
    /** Our earlier identity key that it is certified under; null: the one of the day it is sealed. */
    senderAik: text(),
    /** The one device that may read it; null: every device of the account. */
    onlyDevice: text(),
    typeTag: integer().notNull(),
    flags: integer().notNull(),
    content: bytes().notNull(),
    /** Smallest bucket that may be used; receipts borrow the bucket of chat. */
    bucket: integer(),
    sentMs: integer().notNull(),
    composedMs: integer().notNull(),
    notBeforeMs: integer().notNull(),
    /** Whether a receipt ends it, or acceptance by the relay does. */
    confirmed: flag().notNull(),
    /** `open` until every copy ended; then `done`, `expired` or `failed` with a reason. */
    state: text({ enum: ["open", "done", "expired", "failed"] }).notNull(),
    reason: text(),
    /** When the relay first accepted a copy: from then on the set of copies stays as it is. */
    acceptedMs: integer(),
    /** When something is next to be done about it: the earliest of its copies, while open. */
    nextMs: integer().notNull(),
    /** Fruitless attempts before there was any copy, e.g. while nobody can be sealed to. */
    attempts: integer().notNull(),
  },
  (table) => [
    uniqueIndex("outbox_message").on(table.messageId, table.recipientAik),
    index("outbox_due").on(table.state, table.nextMs),
    index("outbox_recipient").on(table.recipientAik, table.state, table.row),
  ],
);

/** One copy per recipient device: QUEUED → SEALED → ACCEPTED → CONFIRMED | DROPPED | EXPIRED. */
export const outboxCopy = sqliteTable(
  "outbox_copy",
  {
    messageId: text().notNull(),
    recipientAik: text().notNull(),
    deviceId: text().notNull(),
    state: text({
      enum: ["queued", "sealed", "accepted", "confirmed", "dropped", "expired"],
    }).notNull(),
    slot: text(),
    prekeyNotBeforeMs: integer(),
    acceptedMs: integer(),
    confirmedMs: integer(),
    nextMs: integer().notNull(),
    attempts: integer().notNull(),
    reseals: integer().notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.messageId, table.recipientAik, table.deviceId] }),
    index("outbox_copy_slot").on(table.slot),
    index("outbox_copy_device").on(table.recipientAik, table.deviceId, table.state),
  ],
);

/** Sealed uploads that the relay has not answered yet: a network retry repeats the identical bytes. */
export const sealedUpload = sqliteTable("sealed_upload", {
  slot: text().primaryKey(),
  messageId: text().notNull(),
  recipientAik: text().notNull(),
  relayOrigin: text().notNull(),
  upload: bytes().notNull(),
  expiresMs: integer().notNull(),
});

/** Message ids whose receipt is still to be sent to an account. */
export const receiptDue = sqliteTable(
  "receipt_due",
  {
    recipientAik: text().notNull(),
    messageId: text().notNull(),
    dueMs: integer().notNull(),
  },
  (table) => [primaryKey({ columns: [table.recipientAik, table.messageId] })],
);
