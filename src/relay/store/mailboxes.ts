/**
 * The mailbox row of a device: who holds it (session), how full it is, and what was refused.
 *
 * A session number is drawn by every new connection. Everything that a connection writes names its
 * number, so that a displaced one is powerless, whichever process it lives in.
 */
import { arrayLiteral, idOf, type Sql, uuidOf } from "./sql-values.ts";

/** Which mailbox, in which lane. */
export interface MailboxName {
  readonly lane: number;
  readonly mailbox: string;
}

/** A mailbox as one connection holds it. */
export interface MailboxHold extends MailboxName {
  readonly session: number;
}

/** What a new connection is told. */
export interface Session {
  readonly session: number;
  /** Highest sequence number drawn so far: "everything queued" ends here. */
  readonly through: number;
  /** Highest sequence number that an earlier connection was sent. */
  readonly sentThrough: number;
  readonly queuedItems: number;
  readonly refusedCount: number;
  readonly refusedSinceMs: number | null;
}

/** How full a mailbox is. */
export interface MailboxStatus {
  readonly queuedItems: number;
  readonly queuedBytes: number;
  readonly largeBytes: number;
  readonly refusedCount: number;
  readonly refusedSinceMs: number | null;
}

/** Takes a mailbox over from whoever held it. Undefined when it no longer exists. */
export async function claimSession(sql: Sql, name: MailboxName): Promise<Session | undefined> {
  const [row] = await sql<Session[]>`
    update mailbox set session = session + 1 where lane = ${name.lane} and mailbox = ${uuidOf(name.mailbox)}
    returning session, next_seq - 1 as through, delivered_seq as "sentThrough",
      queued_items + reserve_items as "queuedItems", refused_count as "refusedCount", refused_since_ms as "refusedSinceMs"`;
  return row;
}

/** Remembers how far a connection was sent, if it still holds the mailbox. */
export async function markSent(sql: Sql, hold: MailboxHold, sentThrough: number): Promise<void> {
  await sql`
    update mailbox set delivered_seq = ${sentThrough}
    where lane = ${hold.lane} and mailbox = ${uuidOf(hold.mailbox)} and session = ${hold.session}
      and delivered_seq < ${sentThrough}`;
}

/** How full the mailbox is. Undefined when this connection no longer holds it. */
export async function mailboxStatus(
  sql: Sql,
  hold: MailboxHold,
): Promise<MailboxStatus | undefined> {
  const [row] = await sql<MailboxStatus[]>`
    select queued_items + reserve_items as "queuedItems", queued_bytes as "queuedBytes", large_bytes as "largeBytes",
      refused_count as "refusedCount", refused_since_ms as "refusedSinceMs"
    from mailbox where lane = ${hold.lane} and mailbox = ${uuidOf(hold.mailbox)} and session = ${hold.session}`;
  return row;
}

/** Where a mailbox stands: who holds it, and the highest sequence number drawn. */
export interface MailboxPosition {
  readonly session: number;
  readonly through: number;
}

/** Where mailboxes of one lane stand. One that is missing no longer exists. */
export async function readPositions(
  sql: Sql,
  lane: number,
  mailboxes: readonly string[],
): Promise<ReadonlyMap<string, MailboxPosition>> {
  const rows = await sql<(MailboxPosition & { readonly mailbox: string })[]>`
    select mailbox::text as mailbox, session, next_seq - 1 as through from mailbox
    where lane = ${lane} and mailbox = any(${arrayLiteral(mailboxes.map(uuidOf))}::uuid[])`;
  return new Map(rows.map(({ mailbox, ...position }) => [idOf(mailbox), position]));
}
