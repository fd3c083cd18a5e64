/**
 * Mailboxes straight in the store, without accounts around them, and uploads to them as the store
 * takes them. For contract suites of the relay's store and for benches.
 */
import { dayOf } from "../../src/shared/clock.ts";
import { idText } from "../../src/shared/ids.ts";
import { headerBytes } from "../../src/shared/limits.ts";
import { systemRng } from "../../src/shared/rng.ts";
import { bodyBytes, makeSlot } from "../../src/shared/wire/envelope.ts";
import { ensureDays } from "../../src/relay/store/expiry.ts";
import { readItems } from "../../src/relay/store/deliveries.ts";
import { type CheckedUpload, type CopyOutcome, insertItems } from "../../src/relay/store/items.ts";
import { type Sql, uuidOf } from "../../src/relay/store/sql-values.ts";

/** Friday 15 January 2027, 08:00 UTC. */
export const storeNowMs = 1_800_000_000_000;
export const storeDay = dayOf(storeNowMs);
/** Days to read: all that a test writes. */
export const storeDays = { from: 0, to: storeDay + 2 };

/** An account with mailboxes of its own. */
export interface StoreAccount {
  readonly account: string;
  readonly mailboxes: readonly string[];
}

/** Draws an id as text. */
export function newId(): string {
  return idText(systemRng(16));
}

/** Creates mailboxes of one new account, and the partitions around `storeDay`. */
export async function createMailboxes(
  sql: Sql,
  count: number,
  lane: number = 0,
): Promise<StoreAccount> {
  await ensureDays(sql, storeDay - 1, storeDay + 2);
  const account = newId();
  const mailboxes = Array.from({ length: count }, newId);
  for (const mailbox of mailboxes) {
    await sql`insert into mailbox (lane, mailbox, account, device_id)
      values (${lane}, ${uuidOf(mailbox)}, ${uuidOf(account)}, ${uuidOf(newId())})`;
  }
  return { account, mailboxes };
}

/** An upload to some of an account's mailboxes, all by default. */
export function storeUpload(
  account: StoreAccount,
  change: Partial<CheckedUpload> & { readonly to?: readonly string[] } = {},
): CheckedUpload {
  const { to = account.mailboxes, ...rest } = change;
  const bucket = rest.bucket ?? 0;
  const day = rest.day ?? storeDay;
  return {
    account: account.account,
    slot: idText(makeSlot(day, systemRng(14))),
    day,
    bucket,
    invite: undefined,
    body: filled(bodyBytes(bucket)),
    copies: to.map((mailbox) => ({ mailbox, header: systemRng(headerBytes) })),
    ...rest,
  };
}

/** What a mailbox row says. */
export interface MailboxRow {
  readonly nextSeq: number;
  readonly items: number;
  readonly bytes: number;
  readonly large: number;
  readonly refused: number;
}

/** Reads a mailbox row, and what the items themselves say. */
export async function mailboxRow(sql: Sql, mailbox: string): Promise<MailboxRow> {
  const [row] = await sql<MailboxRow[]>`
    select next_seq as "nextSeq", queued_items as items, queued_bytes as bytes, large_bytes as large, refused_count as refused
    from mailbox where mailbox = ${uuidOf(mailbox)}`;
  if (row === undefined) throw new Error("no such mailbox");
  return row;
}

/** What a mailbox row must say, counted from its items. */
export async function countedItems(
  sql: Sql,
  mailbox: string,
): Promise<Pick<MailboxRow, "items" | "bytes" | "large">> {
  const [row] = await sql<Pick<MailboxRow, "items" | "bytes" | "large">[]>`
    select count(*)::int as items, coalesce(sum(1224 + (1024 << (2 * bucket))), 0)::int8 as bytes,
      coalesce(sum(1224 + (1024 << (2 * bucket))) filter (where bucket >= 3), 0)::int8 as large
    from item where mailbox = ${uuidOf(mailbox)} and acked is null`;
  if (row === undefined) throw new Error("a count without a row");
  return row;
}

/** How many items still need each shared body, by the body's row and by the items themselves. */
export async function bodyCounts(sql: Sql): Promise<readonly { pending: number; items: number }[]> {
  return sql<{ pending: number; items: number }[]>`
    select b.pending, count(i.seq)::int as items from body b
    left join item i on i.day = b.day and i.body_id = b.body_id and i.acked is null
    group by b.day, b.body_id, b.pending order by b.pending`;
}

// Noise that is cheap to make: the store does not look at it.
function filled(bytes: number): Uint8Array {
  const body = new Uint8Array(bytes).fill(systemRng(1)[0] ?? 0);
  body.set(systemRng(32));
  return body;
}

/** Stores uploads as one batch of lane 0. */
export function insertBatch(
  sql: Sql,
  uploads: readonly CheckedUpload[],
): Promise<readonly (readonly CopyOutcome[])[]> {
  return insertItems(sql, 0, { uploads, nowMs: storeNowMs });
}

/** States by upload and copy. */
export function states(outcomes: readonly (readonly CopyOutcome[])[]): string[][] {
  return outcomes.map((copies) => copies.map((copy) => copy.state));
}

/** Everything that waits in a mailbox. */
export async function waitingItems(
  sql: Sql,
  mailbox: string,
  lane = 0,
): Promise<Awaited<ReturnType<typeof readItems>>[number]> {
  const whole = { mailbox, afterSeq: 0, maxItems: 1_000, maxBytes: 2 ** 30 };
  const [items] = await readItems(sql, lane, [whole], storeDays);
  return items ?? [];
}
