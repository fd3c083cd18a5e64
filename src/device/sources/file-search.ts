/**
 * Finding indexed files by words: names first, then contents; and when nothing fits, what comes near
 * and why it may not have been found (A43).
 *
 * Spec: docs/sources.md "Files".
 */
import { realpathSync } from "node:fs";
import path from "node:path";

import { countFiles, filePage, type FileRow, matchFiles, namedStates } from "../store/files.ts";
import type { ReadTx } from "../store/sqlite.ts";
import { isDiskTrouble, isWithin } from "./file-walk.ts";
import { reasonOf } from "./file-why.ts";
import { allOf, anyOf, searchWords } from "./search-words.ts";

/** A file that fits. */
export interface FoundFile {
  readonly path: string;
  readonly bytes: number;
  readonly modifiedMs: number;
  readonly by: "name" | "content";
}

/** Files that fit, best first. `total` is bounded; `near`: none has every word. `undefined` for a query without words. */
export function searchFiles(
  tx: ReadTx,
  query: string,
  limit: number,
):
  | { readonly files: readonly FoundFile[]; readonly total: number; readonly near: boolean }
  | undefined {
  const words = searchWords(query);
  if (words.length === 0) return undefined;
  const strict = [`name : (${allOf(words)})`, `(${allOf(words)})`];
  const loose = [`name : (${anyOf(words)})`, `(${anyOf(words)})`];
  const found = collect(tx, strict, limit);
  return found.total > 0 ? { ...found, near: false } : { ...collect(tx, loose, limit), near: true };
}

/** Runs a search by name and one by everything; whoever is found by name comes first, and once. */
function collect(
  tx: ReadTx,
  [byName = "", byAll = ""]: readonly string[],
  limit: number,
): { readonly files: readonly FoundFile[]; readonly total: number } {
  const named = matchFiles(tx, byName, limit);
  const all = matchFiles(tx, byAll, limit * 2);
  const known = new Set(named.rows.map(({ row }) => row));
  const others = all.rows.filter(({ row }) => !known.has(row));
  const files = [
    ...named.rows.map((row) => foundFile(row, "name")),
    ...others.map((row) => foundFile(row, "content")),
  ];
  const there = files.filter(({ root, path: file }) => isThere(root, file));
  const gone = files.length - there.length;
  const total = Math.max(named.total, all.total) - gone;
  return { files: there.slice(0, limit).map(({ root: _root, ...file }) => file), total };
}

function foundFile(row: FileRow, by: FoundFile["by"]): FoundFile & { readonly root: string } {
  const { root, bytes, modifiedMs } = row;
  return { root, path: path.join(root, row.path), bytes, modifiedMs, by };
}

/** Whether a file is still there, and still within its root. */
function isThere(root: string, file: string): boolean {
  try {
    return isWithin(root, realpathSync(file));
  } catch (cause) {
    if (isDiskTrouble(cause)) return false;
    throw cause;
  }
}

/** Names that are compared one by one before the rest is left out. */
const maxCompared = 50_000;
const pageRows = 2_000;
const maxNear = 5;
/** Share of letter triples that two names have in common before one comes near. */
const nearShare = 0.35;

/** Why nothing was found, in lines for a person: near names, and what is not indexed. */
export function whyNotFound(tx: ReadTx, query: string): readonly string[] {
  const counts = countFiles(tx);
  const nameOnly = namedStates
    .filter((state) => state !== "text")
    .reduce((sum, state) => sum + (counts.get(state) ?? 0), 0);
  const near = nearNames(tx, query).map(({ entry }) => nearLine(entry));
  return [
    `searched ${(counts.get("text") ?? 0) + nameOnly} files by name` +
      (nameOnly === 0
        ? " and content"
        : `; ${nameOnly} of them could not be read, so not by content`),
    ...(near.length === 0 ? [] : ["names that come near:", ...near]),
  ];
}

function nearLine({ root, path: inner, state }: FileRow): string {
  const reason = namedStates.includes(state) ? "" : ` (not searched: ${reasonOf[state]})`;
  return `  ${path.join(root, inner)}${reason}`;
}

interface Near {
  readonly entry: FileRow;
  readonly share: number;
}

function nearNames(tx: ReadTx, query: string): readonly Near[] {
  const wanted = triples(query);
  let best: readonly Near[] = [];
  let after = 0;
  for (let compared = 0; compared < maxCompared; compared += pageRows) {
    const page = filePage(tx, after, pageRows);
    const near = page
      .map((entry) => ({ entry, share: shareOf(wanted, triples(path.basename(entry.path))) }))
      .filter(({ share }) => share >= nearShare);
    best = [...best, ...near].toSorted((a, b) => b.share - a.share).slice(0, maxNear);
    const last = page.at(-1);
    if (last === undefined) break;
    after = last.row;
  }
  return best;
}

function triples(text: string): ReadonlySet<string> {
  const plain = ` ${text
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, " ")
    .trim()} `;
  const found = new Set<string>();
  for (let at = 0; at + 3 <= plain.length; at += 1) found.add(plain.slice(at, at + 3));
  return found;
}

/** How much of the smaller set is in the other. */
function shareOf(left: ReadonlySet<string>, right: ReadonlySet<string>): number {
  const [small, large] = left.size <= right.size ? [left, right] : [right, left];
  // Two letters have hardly any: everything would come near.
  if (small.size < 3) return 0;
  return [...small].filter((triple) => large.has(triple)).length / small.size;
}
