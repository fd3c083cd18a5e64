/**
 * The notebook: short facts that the owner keeps, each dated, editable and deletable. A correction
 * replaces; there is no history to dig an old phone number out of.
 *
 * Spec: docs/sources.md "Notebook".
 */
import { err, ok, type Result } from "../../shared/result.ts";
import {
  addNotebookRow,
  deleteNotebookRow,
  editNotebookRow,
  matchNotebook,
  notebookRow,
  type NotebookRow,
} from "../store/notebook.ts";
import { fuseRanks } from "./meaning.ts";
import type { Near } from "./vector-scan.ts";
import type { ReadTx, WriteTx } from "../store/sqlite.ts";
import { allOf, anyOf, indexedText, searchWords } from "./search-words.ts";
import type { SourceError } from "./port.ts";

/** A note is a fact, not a file. Units: characters. */
const maxNoteLength = 4_000;

/** Adds a note, or replaces the text of one. Errors: `note-text`, `no-such-note`. */
export function saveNote(
  tx: WriteTx,
  note: { readonly row?: number; readonly text: string; readonly writer: NotebookRow["writer"] },
  nowMs: number,
): Result<NotebookRow, SourceError> {
  const text = note.text.trim();
  if (text === "" || text.length > maxNoteLength) {
    return err({
      type: "note-text",
      message: `expected a note of 1 to ${maxNoteLength} characters, got ${text.length}`,
    });
  }
  const { writer } = note;
  const words = indexedText(text);
  const saved = { text, writer, changedMs: nowMs };
  if (note.row === undefined) {
    const row = addNotebookRow(tx, { ...saved, writtenMs: nowMs }, words);
    return ok({ ...saved, row, writtenMs: nowMs });
  }
  if (!editNotebookRow(tx, note.row, saved, words)) return err(noSuchNote(note.row));
  const edited = notebookRow(tx, note.row);
  if (edited === undefined) throw new Error("an edited note is gone in the same transaction");
  return ok(edited);
}

/** Deletes a note and its words. Errors: `no-such-note`. */
export function removeNote(tx: WriteTx, row: number): Result<undefined, SourceError> {
  return deleteNotebookRow(tx, row) ? ok(undefined) : err(noSuchNote(row));
}

/**
 * Notes that hold every word, or else any, fused with those that are near in meaning; `undefined` when
 * the query holds no word. `near`: none holds every word.
 */
export function searchNotes(
  tx: ReadTx,
  query: string,
  limit: number,
  near: readonly Near[] = [],
):
  | { readonly rows: readonly NotebookRow[]; readonly total: number; readonly near: boolean }
  | undefined {
  const words = searchWords(query);
  if (words.length === 0) return undefined;
  const all = matchNotebook(tx, allOf(words), limit);
  const worded = all.total > 0 ? all : matchNotebook(tx, anyOf(words), limit);
  const isNear = all.total === 0;
  if (near.length === 0) return { ...worded, near: isNear };
  const fused = fuseRanks([worded.rows.map(({ row }) => row), near.map(({ row }) => row)]);
  const known = new Set(worded.rows.map(({ row }) => row));
  const rows = fused.slice(0, limit).flatMap((row) => notebookRow(tx, row) ?? []);
  const total = worded.total + fused.filter((row) => !known.has(row)).length;
  return { rows, total, near: isNear };
}

function noSuchNote(row: number): SourceError {
  return { type: "no-such-note", message: `there is no note ${row}: see pixie notebook list` };
}
