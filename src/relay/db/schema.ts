/**
 * The relay's tables, except the two partitioned ones (`schema-hot.ts`: item and body).
 *
 * drizzle-kit turns this file into SQL under migrations/relay; a landed migration is never edited,
 * so a change here always means a new one. Ids are `uuid` (16 bytes); keys and records are `bytea`.
 * There are no foreign keys: everything an account owns is deleted by its account or device id, and
 * hot tables may not carry any (docs/operating.md "Shape of the tables").
 */
import { sql } from "drizzle-orm";
import {
  boolean,
  check,
  index,
  integer,
  pgTable,
  primaryKey,
  smallint,
  text,
  timestamp,
  uniqueIndex,
  uuid,
} from "drizzle-orm/pg-core";

import { bytea, int8 } from "./columns.ts";

/** One row: who this database is. `epoch` changes when it is restored from a backup. */
export const relayState = pgTable(
  "relay_state",
  {
    singleton: boolean("singleton").primaryKey().default(true),
    epoch: uuid("epoch").notNull().defaultRandom(),
    /** Modulus of the account mailbox hash; changed only offline. */
    lanes: integer("lanes").notNull().default(1),
    createdAt: timestamp("created_at", { withTimezone: true }).notNull().defaultNow(),
  },
  (table) => [
    check("relay_state_singleton", sql`${table.singleton}`),
    check("relay_state_lanes", sql`${table.lanes} > 0`),
  ],
);

/** Every account mailbox, device id and device mailbox ever used. Rows are never deleted. */
export const usedId = pgTable("used_id", {
  id: uuid("id").primaryKey(),
  /** `account`, `device` or `mailbox`. */
  kind: text("kind").notNull(),
});

/** An account: its mailbox, its current identity key, and the head of its device-list chain. */
export const account = pgTable("account", {
  /** The account mailbox, which is the account's id. */
  account: uuid("account").primaryKey(),
  aik: bytea("aik").notNull().unique(),
  createdAtMs: int8("created_at_ms").notNull(),
  listVersion: int8("list_version").notNull(),
  listHash: bytea("list_hash").notNull(),
  /** Set when the identity key was renewed and this row stays behind for the old one. */
  renewedTo: bytea("renewed_to"),
  /** UTC day on which `reserveBundles` counts. */
  reserveDay: integer("reserve_day").notNull().default(0),
  /** Bundle requests served that day against retired access keys. */
  reserveBundles: integer("reserve_bundles").notNull().default(0),
});

/**
 * The chain of signed device lists. A renewed identity key starts again at version 1 under the same
 * account, so the key of a version includes the identity key that signed it.
 */
export const deviceList = pgTable(
  "device_list",
  {
    account: uuid("account").notNull(),
    aik: bytea("aik").notNull(),
    /** u32 on the wire, hence 64 bits here. */
    version: int8("version").notNull(),
    hash: bytea("hash").notNull(),
    record: bytea("record").notNull(),
  },
  (table) => [primaryKey({ columns: [table.account, table.aik, table.version] })],
);

/** Renewal statements by the identity key they retire. */
export const renewal = pgTable(
  "renewal",
  {
    oldAik: bytea("old_aik").primaryKey(),
    newAik: bytea("new_aik").notNull(),
    account: uuid("account").notNull(),
    record: bytea("record").notNull(),
    receivedAtMs: int8("received_at_ms").notNull(),
  },
  (table) => [index("renewal_account").on(table.account)],
);

/** Devices of the newest list. */
export const device = pgTable(
  "device",
  {
    deviceId: uuid("device_id").primaryKey(),
    account: uuid("account").notNull(),
    dsk: bytea("dsk").notNull(),
    mailbox: uuid("mailbox").notNull().unique(),
    /** 0 active, 1 admin, 2 revoked; as in the record. */
    state: smallint("state").notNull(),
  },
  (table) => [index("device_account").on(table.account)],
);

/** The newest prekey of each device. */
export const prekey = pgTable(
  "prekey",
  {
    deviceId: uuid("device_id").primaryKey(),
    account: uuid("account").notNull(),
    notBeforeMs: int8("not_before_ms").notNull(),
    record: bytea("record").notNull(),
    receivedAtMs: int8("received_at_ms").notNull(),
  },
  (table) => [index("prekey_account").on(table.account)],
);

/** Codes that open the door to new accounts where `registration` is "codes". Only their hash is kept. */
export const registrationCode = pgTable("registration_code", {
  /** By which an operator names it; says nothing of the code. */
  id: text("id").primaryKey(),
  hash: bytea("hash").notNull().unique(),
  createdAtMs: int8("created_at_ms").notNull(),
  expiresAtMs: int8("expires_at_ms").notNull(),
  /** Accounts that it may open, and has opened. */
  uses: integer("uses").notNull(),
  used: integer("used").notNull().default(0),
  revokedAtMs: int8("revoked_at_ms"),
});

/** Access keys: one current per account, the retired ones kept for the reserve. */
export const accessKey = pgTable(
  "access_key",
  {
    account: uuid("account").notNull(),
    /** 1, 2, 3 … in the order in which the account rotated. */
    generation: integer("generation").notNull(),
    key: bytea("key").notNull(),
    createdAtMs: int8("created_at_ms").notNull(),
    /** Null while it is the current one. */
    retiredAtMs: int8("retired_at_ms"),
  },
  (table) => [
    primaryKey({ columns: [table.account, table.generation] }),
    uniqueIndex("access_key_current")
      .on(table.account)
      .where(sql`${table.retiredAtMs} is null`),
  ],
);

/** Keys of invites. The relay learns the key and the name to revoke it by, nothing else. */
export const inviteKey = pgTable(
  "invite_key",
  {
    account: uuid("account").notNull(),
    invite: uuid("invite").notNull(),
    key: bytea("key").notNull(),
    createdAtMs: int8("created_at_ms").notNull(),
    expiresAtMs: int8("expires_at_ms").notNull(),
    /** Items accepted against it, over all devices. */
    used: integer("used").notNull().default(0),
    revokedAtMs: int8("revoked_at_ms"),
  },
  (table) => [primaryKey({ columns: [table.account, table.invite] })],
);

/** A device's mailbox: its sequence, its connection, its quota. A hot table: every key binds `lane`. */
export const mailbox = pgTable(
  "mailbox",
  {
    lane: integer("lane").notNull(),
    mailbox: uuid("mailbox").notNull(),
    account: uuid("account").notNull(),
    deviceId: uuid("device_id").notNull(),
    nextSeq: int8("next_seq").notNull().default(1),
    /** Bumped by each new connection; a stale one can neither acknowledge nor write. */
    session: int8("session").notNull().default(0),
    /** Highest sequence number ever handed to a connection: at or below it, an item is redelivered. */
    deliveredSeq: int8("delivered_seq").notNull().default(0),
    queuedItems: integer("queued_items").notNull().default(0),
    queuedBytes: int8("queued_bytes").notNull().default(0),
    /** Part of `queuedBytes` in buckets of 64 KiB and more. */
    largeBytes: int8("large_bytes").notNull().default(0),
    /** Queued items that came in against a retired access key; not part of `queuedItems`. */
    reserveItems: integer("reserve_items").notNull().default(0),
    refusedCount: int8("refused_count").notNull().default(0),
    refusedSinceMs: int8("refused_since_ms"),
  },
  (table) => [primaryKey({ columns: [table.lane, table.mailbox] })],
);

/** One-time boxes through which a new device is linked. */
export const rendezvous = pgTable(
  "rendezvous",
  {
    id: uuid("id").notNull(),
    box: smallint("box").notNull(),
    content: bytea("content").notNull(),
    expiresAtMs: int8("expires_at_ms").notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.id, table.box] }),
    index("rendezvous_expires").on(table.expiresAtMs),
  ],
);
