/**
 * Accept: the one writer of a lane. Uploads queue, a batch is cut and committed as one statement,
 * and only then is anybody told "stored" — or the truth, when it did not work.
 *
 * Owns order, batching, bounds and deadlines; the SQL is store/items.ts, tokens were checked before
 * (submit.ts). One batch runs at a time, so commit order is sequence order in this process; across
 * processes the locked mailbox row keeps it.
 */
import type { Clock } from "../../shared/clock.ts";
import { err, ok, type Result } from "../../shared/result.ts";
import type { WaitingItem } from "../store/deliveries.ts";
import { failureCode, isDiskFull, isMissingPartition, isRetryable } from "../store/failure.ts";
import type { CheckedUpload, CopyOutcome } from "../store/items.ts";
import { anyPosition, type Fresh, type News } from "./wakeup.ts";

/** What became of one copy of an accepted upload. */
export interface CopyResult {
  readonly mailbox: string;
  readonly state: "stored" | "duplicate" | "full";
}

/** `overloaded` also covers an unknown outcome: trying again with the same slot is safe. */
export type AcceptError =
  | { readonly type: "overloaded"; readonly retryMs: number; readonly reason: string }
  /** The database has no room: nothing of the upload was stored. */
  | { readonly type: "storage-full" }
  | { readonly type: "mailbox-gone"; readonly mailboxes: readonly string[] };

/** Accepts an upload; resolves after the commit, or at the deadline. Never rejects. */
export type Accept = (upload: CheckedUpload) => Promise<Result<readonly CopyResult[], AcceptError>>;

/** What a lane needs. */
export interface AcceptOptions {
  /** Commits a batch. */
  readonly insert: (
    uploads: readonly CheckedUpload[],
  ) => Promise<readonly (readonly CopyOutcome[])[]>;
  /** Makes sure that items of a day can be stored. */
  readonly ensureDay: (day: number) => Promise<void>;
  readonly wake: (news: News, fresh: Fresh) => void;
  readonly clock: Clock;
  /** Told the code of every failure, never its content. */
  readonly onFailure: (code: string, uploads: number) => void;
  /** Told by how much the queue grew or shrank. */
  readonly onQueued?: (rows: number, bytes: number) => void;
}

/**
 * Rows and bytes of one batch. One statement of 1 MiB takes about as long as its fsync; rows that share
 * a body are half as large, so more of them fit.
 */
const batchRows = 512;
const batchBytes = 1_048_576;
/** Rows and bytes that may wait; beyond it senders are told to come back. */
const maxWaitingRows = 4_096;
const maxWaitingBytes = 16 * 1_048_576;
/** A commit may hang for ever (a standby that does not answer): senders wait no longer. Units: ms. */
const deadlineMs = 10_000;
const retryMs = 1_000;
const maxAttempts = 4;

interface Waiting {
  readonly upload: CheckedUpload;
  readonly bytes: number;
  /** Later calls do nothing: the deadline and the commit may both come. */
  readonly settle: (outcome: Result<readonly CopyResult[], AcceptError>) => void;
}

/** Builds the writer of one lane. */
export function createAccept(options: AcceptOptions): Accept {
  const queue: Waiting[] = [];
  let waitingRows = 0;
  let waitingBytes = 0;
  let busy = false;

  async function work(): Promise<void> {
    busy = true;
    while (queue.length > 0) await commit(nextBatch());
    busy = false;
  }

  function nextBatch(): Waiting[] {
    const batch = queue.splice(0, batchLength(queue));
    for (const waiting of batch) count(-waiting.upload.copies.length, -waiting.bytes);
    return batch;
  }

  function count(rows: number, bytes: number): void {
    waitingRows += rows;
    waitingBytes += bytes;
    options.onQueued?.(rows, bytes);
  }

  async function commit(batch: readonly Waiting[]): Promise<void> {
    const uploads = batch.map((waiting) => waiting.upload);
    try {
      const outcomes = await insertWithRetry(options, uploads);
      options.wake(newsOf(uploads, outcomes), freshOf(uploads, outcomes));
      batch.forEach(({ upload, settle }, index) => settle(resultOf(upload, outcomes[index] ?? [])));
    } catch (cause) {
      options.onFailure(failureCode(cause), batch.length);
      // The commit may have happened all the same: streams look, and a retry finds a duplicate.
      options.wake(newsOf(uploads, []), new Map());
      for (const waiting of batch) waiting.settle(err(failureOf(cause)));
    }
  }

  return (upload) => {
    const bytes = upload.body.length + upload.copies.length * 1_176;
    const rows = upload.copies.length;
    if (waitingRows + rows > maxWaitingRows || waitingBytes + bytes > maxWaitingBytes) {
      return Promise.resolve(
        err({ type: "overloaded", retryMs, reason: "too many envelopes wait to be written" }),
      );
    }
    return new Promise((resolve) => {
      const cancel = options.clock.schedule(deadlineMs, () => {
        const reason = `the database did not commit within ${deadlineMs} ms`;
        resolve(err({ type: "overloaded", retryMs, reason }));
      });
      queue.push({
        upload,
        bytes,
        settle: (outcome) => {
          cancel();
          resolve(outcome);
        },
      });
      count(rows, bytes);
      if (!busy) void work();
    });
  };
}

function failureOf(cause: unknown): AcceptError {
  return isDiskFull(cause)
    ? { type: "storage-full" }
    : { type: "overloaded", retryMs, reason: "the database did not confirm the commit" };
}

/**
 * How many of the waiting uploads make the next batch: at least one, at most the bounds, and never
 * one slot twice (a retry that overtakes its first attempt waits for the verdict on it).
 */
function batchLength(queue: readonly Waiting[]): number {
  const slots = new Set<string>();
  let rows = 0;
  let bytes = 0;
  for (const [index, waiting] of queue.entries()) {
    rows += waiting.upload.copies.length;
    bytes += waiting.bytes;
    const full = rows > batchRows || bytes > batchBytes;
    if (index > 0 && (full || slots.has(waiting.upload.slot))) return index;
    slots.add(waiting.upload.slot);
  }
  return queue.length;
}

async function insertWithRetry(
  options: AcceptOptions,
  uploads: readonly CheckedUpload[],
): Promise<readonly (readonly CopyOutcome[])[]> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await options.insert(uploads);
    } catch (cause) {
      if (attempt === maxAttempts) throw cause;
      if (isMissingPartition(cause)) {
        for (const day of new Set(uploads.map((upload) => upload.day))) {
          await options.ensureDay(day);
        }
      } else if (!isRetryable(cause)) {
        throw cause;
      }
    }
  }
}

function newsOf(
  uploads: readonly CheckedUpload[],
  outcomes: readonly (readonly CopyOutcome[])[],
): News {
  const news = new Map<string, number>();
  for (const [at, upload] of uploads.entries()) {
    for (const [index, copy] of upload.copies.entries()) {
      const outcome = outcomes[at]?.[index];
      // A duplicate, or no answer: what it repeats may have been committed without a wake-up.
      const through = outcome?.state === "stored" ? outcome.seq : anyPosition;
      if (outcome?.state !== "full" && outcome?.state !== "gone") {
        news.set(copy.mailbox, Math.max(news.get(copy.mailbox) ?? 0, through));
      }
    }
  }
  return news;
}

/** What was stored, in order of its numbers: those of one mailbox follow the order of the batch. */
function freshOf(
  uploads: readonly CheckedUpload[],
  outcomes: readonly (readonly CopyOutcome[])[],
): Fresh {
  const fresh = new Map<string, WaitingItem[]>();
  for (const [at, { day, bucket, body, copies }] of uploads.entries()) {
    for (const [index, { mailbox, header }] of copies.entries()) {
      const outcome = outcomes[at]?.[index];
      if (outcome?.state !== "stored") continue;
      const item = { seq: outcome.seq, day, bucket, header, body };
      const items = fresh.get(mailbox);
      if (items === undefined) fresh.set(mailbox, [item]);
      else items.push(item);
    }
  }
  return fresh;
}

function resultOf(
  upload: CheckedUpload,
  outcomes: readonly CopyOutcome[],
): Result<readonly CopyResult[], AcceptError> {
  const results: CopyResult[] = [];
  const gone: string[] = [];
  for (const [index, { mailbox }] of upload.copies.entries()) {
    const state = outcomes[index]?.state ?? "gone";
    if (state === "gone") gone.push(mailbox);
    else results.push({ mailbox, state });
  }
  return gone.length === 0 ? ok(results) : err({ type: "mailbox-gone", mailboxes: gone });
}
