/**
 * Writing items: one batch of uploads of one lane as one statement. It locks the mailboxes in order,
 * judges duplicates and quota, draws sequence numbers, inserts, and counts what was really inserted.
 *
 * Owns the SQL of accept and nothing of its timing (delivery/accept.ts). Token and slot day were
 * checked before. Spec: docs/protocol.md "Relay interface", docs/operating.md "Shape of the tables".
 */
import { maxQueuedBytes, maxQueuedItems, maxQueuedLargeBytes } from "../../shared/limits.ts";
import { blake2b } from "../../shared/crypto/sodium.ts";
import { idFromText } from "../../shared/ids.ts";
import { acceptStatement } from "./accept-statement.ts";
import { arrayLiteral, type Sql, uuidOf, uuidOfBytes } from "./sql-values.ts";

/** An upload whose token was verified. */
export interface CheckedUpload {
  readonly account: string;
  readonly slot: string;
  /** Day of the slot. Units: days since 1970-01-01. */
  readonly day: number;
  readonly bucket: number;
  /** The invite that let it in; undefined for the access key. */
  readonly invite: string | undefined;
  /** Let in by a retired access key: it takes room of its own. */
  readonly isReserve?: boolean;
  readonly body: Uint8Array;
  readonly copies: readonly { readonly mailbox: string; readonly header: Uint8Array }[];
}

/** What became of one copy. `gone`: no such mailbox any more, so nothing of its upload was stored. */
export type CopyOutcome =
  | { readonly state: "stored"; readonly seq: number }
  | { readonly state: "duplicate" | "full" | "gone" };

/** Limits of one mailbox; the protocol's own unless a test shrinks them. */
export interface MailboxQuota {
  readonly items: number;
  readonly bytes: number;
  readonly largeBytes: number;
}

/** The quota of docs/protocol.md "Retention". */
const mailboxQuota: MailboxQuota = {
  items: maxQueuedItems,
  bytes: maxQueuedBytes,
  largeBytes: maxQueuedLargeBytes,
};

interface OutcomeRow {
  readonly ord: number;
  readonly whole: boolean;
  readonly seq: number | null;
  readonly fits: boolean | null;
}

/**
 * Stores a batch; outcomes are in the order of the uploads and their copies. A batch may not hold the
 * same slot twice. Resolves after the commit.
 */
export async function insertItems(
  sql: Sql,
  lane: number,
  batch: { readonly uploads: readonly CheckedUpload[]; readonly nowMs: number },
  quota: MailboxQuota = mailboxQuota,
): Promise<readonly (readonly CopyOutcome[])[]> {
  const columns = columnsOf(batch.uploads);
  const days = batch.uploads.map((upload) => upload.day);
  const rows = await sql.unsafe<OutcomeRow[]>(
    acceptStatement,
    [
      lane,
      columns.up,
      columns.mailbox,
      columns.account,
      columns.slot,
      columns.day,
      columns.bucket,
      columns.invite,
      columns.bodyId,
      columns.headerAt,
      columns.bodyAt,
      columns.blob,
      batch.nowMs,
      Math.min(...days),
      Math.max(...days),
      quota.items,
      quota.bytes,
      quota.largeBytes,
      columns.reserve,
    ],
    { prepare: true },
  );
  return outcomesOf(batch.uploads, rows);
}

/** What sharing a body has to spare, or its row costs more: every acknowledgement writes it again. */
const minSharedBytes = 4_096;

function isShared({ body, copies }: CheckedUpload): boolean {
  return (copies.length - 1) * body.length >= minSharedBytes;
}

/**
 * The id under which a body is shared. It covers the account and the body's own commitment, so that
 * a slot used again by somebody else can never reach it, and it is the same for a retry.
 */
function sharedBodyId(upload: CheckedUpload): Uint8Array {
  return blake2b(
    16,
    idFromText(upload.slot),
    idFromText(upload.account),
    upload.body.subarray(0, 32),
  );
}

/** One copy as a row of the statement's input. Offsets are 1-based, as substring() counts. */
interface InputRow {
  readonly up: number;
  readonly mailbox: string;
  readonly account: string;
  readonly slot: string;
  readonly day: number;
  readonly bucket: number;
  readonly invite: string | null;
  readonly bodyId: string | null;
  readonly reserve: string;
  readonly headerAt: number;
  readonly bodyAt: number;
}

type InputColumns = Readonly<Record<keyof InputRow | "blob", string>>;

// All bytes of a batch travel as one base64 text: the driver has no binary parameters, one decode is
// cheaper than one per row, and hexadecimal bytea would be half as long again.
function columnsOf(uploads: readonly CheckedUpload[]): InputColumns {
  const rows: InputRow[] = [];
  const parts: Uint8Array[] = [];
  let at = 1;
  const place = (bytes: Uint8Array): number => {
    parts.push(bytes);
    at += bytes.length;
    return at - bytes.length;
  };
  for (const [up, upload] of uploads.entries()) {
    const bodyAt = place(upload.body);
    const common = {
      up,
      account: uuidOf(upload.account),
      slot: uuidOf(upload.slot),
      day: upload.day,
      bucket: upload.bucket,
      invite: upload.invite === undefined ? null : uuidOf(upload.invite),
      bodyId: isShared(upload) ? uuidOfBytes(sharedBodyId(upload)) : null,
      reserve: String(upload.isReserve === true),
      bodyAt,
    };
    for (const copy of upload.copies) {
      rows.push({ ...common, mailbox: uuidOf(copy.mailbox), headerAt: place(copy.header) });
    }
  }
  const column = (name: keyof InputRow): string => arrayLiteral(rows.map((row) => row[name]));
  return {
    up: column("up"),
    mailbox: column("mailbox"),
    account: column("account"),
    slot: column("slot"),
    day: column("day"),
    bucket: column("bucket"),
    invite: column("invite"),
    bodyId: column("bodyId"),
    reserve: column("reserve"),
    headerAt: column("headerAt"),
    bodyAt: column("bodyAt"),
    blob: Buffer.concat(parts).toString("base64"),
  };
}

function outcomesOf(
  uploads: readonly CheckedUpload[],
  rows: readonly OutcomeRow[],
): CopyOutcome[][] {
  // The order of a result is arbitrary.
  const rowByOrd = new Map(rows.map((row) => [row.ord, row]));
  let ord = 0;
  return uploads.map((upload) =>
    upload.copies.map((): CopyOutcome => {
      const row = rowByOrd.get(++ord);
      if (row === undefined) throw new Error("the accept statement lost a row of its input");
      return outcomeOf(row);
    }),
  );
}

function outcomeOf(row: OutcomeRow): CopyOutcome {
  if (!row.whole) return { state: "gone" };
  if (row.seq !== null) return { state: "stored", seq: row.seq };
  return { state: row.fits === false ? "full" : "duplicate" };
}
