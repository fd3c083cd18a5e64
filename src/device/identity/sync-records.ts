/**
 * The JSON of one person, invite or earlier message in a `sync` note, and taking one in. Fields are
 * checked by schema; a record that does not match is skipped and counted, the rest of the note goes
 * on: it comes from our own device, perhaps of a newer version.
 *
 * Spec: docs/protocol.md "Notes to siblings".
 */
import { type Static, type TSchema, Type } from "typebox";
import { Value } from "typebox/value";
import { isWellFormed, parseBase64Url, parseUtf8, toBase64Url, utf8 } from "../../shared/bytes.ts";
import { parseDeviceList } from "../../shared/crypto/device-list.ts";
import { parseRelayOrigin } from "../../shared/crypto/origin.ts";
import { parseId } from "../../shared/ids.ts";
import { bytesField, variableBytesField } from "../../shared/wire/fields.ts";
import { parseName } from "../crypto/profile.ts";
import { type ContactRow, getContact, putContact, updateContact } from "../store/contacts.ts";
import { putSiblingName, siblingName } from "../store/device-names.ts";
import { getOwnDevice } from "../store/identity.ts";
import { addInvite, closeInvite, getInvite, type InviteRow } from "../store/invites.ts";
import { addMessage, markSeen, type MessageRow } from "../store/messages.ts";
import { currentKeyOf } from "../store/renewals.ts";
import type { WriteTx } from "../store/sqlite.ts";
import { learnLists } from "./lists.ts";

/** One record of a note. */
export type SyncRecord = Readonly<Record<string, unknown>>;

/** What a note changed. `skipped` counts records that were malformed. */
export interface SyncOutcome {
  readonly taken: number;
  readonly skipped: number;
}

const nullable = <S extends TSchema>(schema: S) => Type.Union([schema, Type.Null()]);
const timeMs = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER });
const id = bytesField(16, "id");
const key = bytesField(32, "key");
const maxContentBytes = 262_144;

const contactRecord = Type.Object({
  aik: key,
  name: Type.String(),
  relation: Type.Union([
    Type.Literal("invited"),
    Type.Literal("contact"),
    Type.Literal("request"),
    Type.Literal("blocked"),
  ]),
  relay: nullable(Type.String()),
  account_mailbox: nullable(id),
  access_key: nullable(key),
  invite_key: nullable(key),
  added_ms: timeMs,
  verified_ms: nullable(timeMs),
  device_list: nullable(variableBytesField(78 + 255 * 81 + 64, "device list")),
});
const inviteRecord = Type.Object({
  invite_id: id,
  secret: key,
  expires_ms: timeMs,
  single_use: Type.Boolean(),
  created_ms: timeMs,
  closed_ms: nullable(timeMs),
});
const messageRecord = Type.Object({
  conversation: key,
  sender: key,
  device: Type.String({ maxLength: 64 }),
  message_id: id,
  tag: Type.Integer({ minimum: 0, maximum: 255 }),
  /** What is UTF-8 travels as text: base64url would take a third more, and a note is bounded. */
  text: Type.Optional(Type.String()),
  content: Type.Optional(variableBytesField(maxContentBytes, "content that is no UTF-8")),
  sent_ms: timeMs,
  arrived_ms: timeMs,
  clock_off: Type.Boolean(),
});

const nameRecord = Type.Object({ device_id: id, name: Type.String() });

/** A person as siblings learn of them. */
export function contactJson(row: ContactRow, list: Uint8Array | undefined): SyncRecord {
  const record: Static<typeof contactRecord> = {
    aik: row.aik,
    name: row.name,
    relation: row.relation,
    relay: row.relayOrigin,
    account_mailbox: row.accountMailbox,
    access_key: textOf(row.accessKey),
    invite_key: textOf(row.inviteKey),
    added_ms: row.addedMs,
    verified_ms: row.verifiedMs,
    device_list: list === undefined ? null : toBase64Url(list),
  };
  return record;
}

/** What siblings tell each other of a person; the rest is each device's own. */
type ToldContact = Omit<ContactRow, "listSentVersion" | "renewedMs" | "stopped">;

/** An invite as siblings learn of it. */
export function inviteJson(row: InviteRow): SyncRecord {
  const record: Static<typeof inviteRecord> = {
    invite_id: row.inviteId,
    secret: toBase64Url(row.secret),
    expires_ms: row.expiresMs,
    single_use: row.singleUse,
    created_ms: row.createdMs,
    closed_ms: row.closedMs,
  };
  return record;
}

/** An earlier message as a new device learns of it. */
export function messageJson(row: MessageRow): SyncRecord {
  const record: Static<typeof messageRecord> = {
    conversation: row.conversation,
    sender: row.senderAik,
    device: row.senderDevice,
    message_id: row.messageId,
    tag: row.typeTag,
    ...contentFields(row.content),
    sent_ms: row.sentMs,
    arrived_ms: row.arrivedMs,
    clock_off: row.clockOff,
  };
  return record;
}

/** Takes in a note from a sibling. `undefined`: a topic of a newer version. */
export function applySync(
  tx: WriteTx,
  topic: string,
  json: SyncRecord,
  from: { readonly nowMs: number; readonly senderDevice: string },
): SyncOutcome | undefined {
  const items = Array.isArray(json["items"]) ? json["items"] : [];
  switch (topic) {
    case "contacts":
      return applyEach(items, contactRecord, (record) => applyContact(tx, record));
    case "invites":
      return applyEach(items, inviteRecord, (record) => applyInvite(tx, record));
    case "history":
      return applyEach(items, messageRecord, (record) => applyMessage(tx, record, from.nowMs));
    case "devices":
      return applyEach(items, nameRecord, (record) => applyName(tx, record, from.senderDevice));
    default:
      return undefined;
  }
}

function applyEach<S extends TSchema>(
  items: readonly unknown[],
  schema: S,
  apply: (record: Static<S>) => boolean,
): SyncOutcome {
  let taken = 0;
  for (const item of items) if (Value.Check(schema, item) && apply(item)) taken += 1;
  return { taken, skipped: items.length - taken };
}

function applyContact(tx: WriteTx, record: Static<typeof contactRecord>): boolean {
  const fields = contactFields(record);
  if (fields === undefined) return false;
  // A sibling that has not heard of a renewal yet: we know better.
  if (currentKeyOf(tx, record.aik) !== record.aik) return true;
  const known = getContact(tx, record.aik);
  if (known === undefined) putContact(tx, fields);
  else updateContact(tx, record.aik, missingFields(known, fields));
  // The sibling's newest list is pinned, or must follow ours, like one from anywhere else.
  const bytes = record.device_list === null ? undefined : parseBase64Url(record.device_list);
  const list = bytes?.ok === true ? parseDeviceList(bytes.value) : undefined;
  if (list?.ok === true) learnLists(tx, record.aik, [list.value]);
  return true;
}

function contactFields(record: Static<typeof contactRecord>): ToldContact | undefined {
  const { relay } = record;
  const origin = relay === null ? undefined : parseRelayOrigin(relay);
  const relayFits = origin === undefined || (origin.ok && origin.value === relay);
  const idsFit = isId(record.aik, 32) && isId(record.account_mailbox ?? undefined);
  if (!relayFits || !idsFit || !parseName(record.name).ok) return undefined;
  return {
    aik: record.aik,
    name: record.name,
    relation: record.relation,
    relayOrigin: relay,
    accountMailbox: record.account_mailbox,
    accessKey: bytesOf(record.access_key),
    inviteKey: bytesOf(record.invite_key),
    addedMs: record.added_ms,
    verifiedMs: record.verified_ms,
  };
}

/** What a sibling knows and we do not. First-hand knowledge (profile) stays, and a block spreads. */
function missingFields(known: ContactRow, told: ToldContact): Partial<ContactRow> {
  const becomesContact = known.relation !== "blocked" && told.relation === "contact";
  return {
    ...(told.relation === "blocked" ? { relation: "blocked" } : {}),
    ...(becomesContact && known.relation !== "contact"
      ? { relation: "contact", name: told.name }
      : {}),
    relayOrigin: known.relayOrigin ?? told.relayOrigin,
    accountMailbox: known.accountMailbox ?? told.accountMailbox,
    accessKey: known.accessKey ?? told.accessKey,
    inviteKey: known.inviteKey ?? told.inviteKey,
    verifiedMs: known.verifiedMs ?? told.verifiedMs,
  };
}

function applyInvite(tx: WriteTx, record: Static<typeof inviteRecord>): boolean {
  const secret = bytesOf(record.secret);
  if (secret === null || !isId(record.invite_id)) return false;
  addInvite(tx, {
    inviteId: record.invite_id,
    secret,
    expiresMs: record.expires_ms,
    singleUse: record.single_use,
    createdMs: record.created_ms,
    closedMs: record.closed_ms,
  });
  const known = getInvite(tx, record.invite_id);
  if (record.closed_ms !== null && known?.closedMs === null) {
    closeInvite(tx, record.invite_id, record.closed_ms);
  }
  return true;
}

function applyMessage(tx: WriteTx, record: Static<typeof messageRecord>, nowMs: number): boolean {
  const content = contentOf(record);
  const idsFit =
    isId(record.conversation, 32) && isId(record.sender, 32) && isId(record.message_id);
  if (content === undefined || !idsFit) return false;
  // The ledger of ids decides: what was journalled here, or deleted here, does not come back.
  const senderAik = currentKeyOf(tx, record.sender);
  if (!markSeen(tx, senderAik, record.message_id, nowMs)) return true;
  addMessage(tx, {
    conversation: currentKeyOf(tx, record.conversation),
    senderAik,
    senderDevice: record.device,
    messageId: record.message_id,
    typeTag: record.tag,
    content,
    sentMs: record.sent_ms,
    arrivedMs: record.arrived_ms,
    clockOff: record.clock_off,
  });
  return true;
}

/** A device knows its own name best; what others say of it only fills a gap. */
function applyName(
  tx: WriteTx,
  { device_id: deviceId, name }: Static<typeof nameRecord>,
  senderDevice: string,
): boolean {
  if (!isId(deviceId) || name === "" || !parseName(name).ok) return false;
  if (deviceId === getOwnDevice(tx)?.deviceId) return true;
  if (deviceId === senderDevice || siblingName(tx, deviceId) === undefined) {
    putSiblingName(tx, deviceId, name);
  }
  return true;
}

function contentFields(content: Uint8Array): { text: string } | { content: string } {
  const text = parseUtf8(content);
  return text.ok ? { text: text.value } : { content: toBase64Url(content) };
}

function contentOf(record: Static<typeof messageRecord>): Uint8Array | undefined {
  const { text, content } = record;
  if (text !== undefined) return isWellFormed(text) ? utf8(text) : undefined;
  const bytes = content === undefined ? undefined : parseBase64Url(content);
  return bytes?.ok === true ? bytes.value : undefined;
}

// A schema sees alphabet and length; only a canonical text names one id.
function isId(text: string | undefined, bytes?: number): boolean {
  return text === undefined || parseId(text, bytes).ok;
}

function textOf(bytes: Uint8Array | null): string | null {
  return bytes === null ? null : toBase64Url(bytes);
}

function bytesOf(text: string | null): Uint8Array | null {
  const bytes = text === null ? undefined : parseBase64Url(text);
  return bytes?.ok === true ? bytes.value : null;
}
