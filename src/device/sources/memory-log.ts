/**
 * The memory log: everything that was said in conversations and runs, appended once and never edited.
 * What others wrote stays marked as foreign for as long as it is kept.
 *
 * Messages are taken in by row, from a mark that is stored with them: those that came while nobody
 * looked, or before there was a log, are taken in too, and none twice. What strangers and blocked
 * people wrote is kept and not found; a stranger who becomes a contact is found from then on (D8).
 *
 * Spec: docs/sources.md "Memory".
 */
import { err, ok, type Result } from "../../shared/result.ts";
import { allContacts } from "../store/contacts.ts";
import { getOwnAccount } from "../store/identity.ts";
import {
  addMemoryRow,
  matchMemory,
  memoryRow,
  type MemoryRow,
  messagesAfter,
  memorySearchDepth,
  newestMemoryRows,
  redactMemoryRow,
} from "../store/memory.ts";
import type { MessageRow } from "../store/messages.ts";
import { getSetting, putSetting } from "../store/settings.ts";
import type { DeviceStore, ReadTx, WriteTx } from "../store/sqlite.ts";
import { fuseRanks } from "./meaning.ts";
import type { SourceError } from "./port.ts";
import type { Near } from "./vector-scan.ts";
import { allOf, anyOf, indexedText, searchWords } from "./search-words.ts";

/** What a message says for the log; `undefined` for what is no text of a person. */
export type MessageText = (row: MessageRow) => string | undefined;

const markKey = "memory-message-row";
/** Messages in one transaction. */
const batchRows = 500;
/** A line of the log. Units: characters. */
const maxLineLength = 8_000;

/** Takes in the messages that are not in the log yet. */
export function catchUpMemory(store: DeviceStore, textOf: MessageText): void {
  while (store.read((tx) => messagesAfter(tx, markOf(tx), 1)).length > 0) {
    store.write((tx) => takeInBatch(tx, textOf));
  }
}

/** The same within a transaction that is open already. */
export function catchUpWithin(tx: WriteTx, textOf: MessageText): void {
  while (messagesAfter(tx, markOf(tx), 1).length > 0) takeInBatch(tx, textOf);
}

function takeInBatch(tx: WriteTx, textOf: MessageText): void {
  const ownAik = getOwnAccount(tx)?.aik;
  const rows = messagesAfter(tx, markOf(tx), batchRows);
  for (const row of rows) {
    const text = textOf(row);
    if (text === undefined || text === "") continue;
    addLine(tx, {
      atMs: row.sentMs,
      source: "message",
      sourceId: String(row.row),
      conversation: row.conversation,
      author: row.senderAik,
      foreign: row.senderAik !== ownAik,
      text,
    });
  }
  const last = rows.at(-1);
  if (last !== undefined) putSetting(tx, markKey, String(last.row));
}

/** One turn of the agent. `untrusted`: the answer may repeat what others wrote. */
export interface AgentRun {
  readonly runId: string;
  readonly question: string;
  readonly answer: string;
  readonly untrusted: boolean;
  readonly atMs: number;
}

/** Logs a turn: the question is the owner's, the answer the agent's. */
export function rememberRun(tx: WriteTx, run: AgentRun): void {
  const own = getOwnAccount(tx)?.aik ?? "";
  const common = { atMs: run.atMs, source: "run", conversation: "" } as const;
  addLine(tx, {
    ...common,
    sourceId: `${run.runId}/question`,
    author: own,
    foreign: false,
    text: run.question,
  });
  if (run.answer === "") return;
  addLine(tx, {
    ...common,
    sourceId: `${run.runId}/answer`,
    author: "agent",
    foreign: run.untrusted,
    text: run.answer,
  });
}

function addLine(tx: WriteTx, line: Parameters<typeof addMemoryRow>[1]): void {
  const text = line.text.slice(0, maxLineLength);
  addMemoryRow(tx, { ...line, text }, indexedText(text));
}

/** Lines that were found. `atLeast`: counting stopped at `total`. */
export interface FoundLines {
  readonly rows: readonly MemoryRow[];
  readonly total: number;
  readonly atLeast: boolean;
  /** None has every word. */
  readonly near: boolean;
}

/**
 * Lines with every word, newest first; when there is none, lines with any of them, best first; either
 * fused with lines that are near in meaning.
 * `undefined` when the query holds no word.
 */
export function searchMemory(
  tx: ReadTx,
  query: string,
  limit: number,
  near: readonly Near[] = [],
): FoundLines | undefined {
  const words = searchWords(query);
  if (words.length === 0) return undefined;
  const without = unheard(tx);
  const all = matchMemory(tx, allOf(words), { limit, by: "newest", without });
  const found = all.total > 0 ? all : matchMemory(tx, anyOf(words), { limit, by: "best", without });
  const atLeast = found.total >= memorySearchDepth;
  const isNear = all.total === 0;
  if (near.length === 0) return { ...found, atLeast, near: isNear };
  const heard = near.flatMap(({ row }) => memoryRow(tx, row, without) ?? []);
  const known = new Map([...heard, ...found.rows].map((line) => [line.row, line]));
  const fused = fuseRanks([found.rows.map(({ row }) => row), heard.map(({ row }) => row)]);
  const more = known.size - found.rows.length;
  const rows = fused.slice(0, limit).flatMap((row) => known.get(row) ?? []);
  return { rows, total: found.total + more, atLeast, near: isNear };
}

/** The newest lines, newest first. */
export function recentMemory(tx: ReadTx, limit: number): readonly MemoryRow[] {
  return newestMemoryRows(tx, limit, unheard(tx));
}

/** Takes a line's words out of the log for good. Errors: `no-such-line`. */
export function redactLine(
  tx: WriteTx,
  row: number,
  nowMs: number,
): Result<undefined, SourceError> {
  return redactMemoryRow(tx, row, nowMs)
    ? ok(undefined)
    : err({
        type: "no-such-line",
        message: `there is no line ${row} that still has its text: see pixie memory list`,
      });
}

/** Conversations that no search finds. */
function unheard(tx: ReadTx): readonly string[] {
  return allContacts(tx)
    .filter(({ relation }) => relation === "request" || relation === "blocked")
    .map(({ aik }) => aik);
}

function markOf(tx: ReadTx): number {
  return Number(getSetting(tx, markKey) ?? "0");
}
