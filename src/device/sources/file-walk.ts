/**
 * Walks one granted root and tells what lies there, one entry at a time. Hidden and ignored entries
 * are told and not entered; a link is followed only to a file within the same root.
 *
 * It stores nothing and reads no contents but ignore files. Spec: docs/sources.md "Files".
 */
import type { Dirent } from "node:fs";
import { lstat, readdir, readFile, realpath } from "node:fs/promises";
import path from "node:path";

import { storeKeyFile } from "../store/key-record.ts";
import { type IgnoreRule, isIgnored, parseIgnoreFile } from "./ignore-rules.ts";

/** One entry. `path`: below the root, with `/`; a folder's ends with it. */
export type WalkEntry =
  | {
      readonly type: "file";
      readonly path: string;
      /** Where it really lies: within the root. */
      readonly target: string;
      readonly bytes: number;
      readonly modifiedMs: number;
    }
  | {
      readonly type: "passed-over";
      readonly path: string;
      readonly state: "ignored" | "hidden" | "outside" | "unreadable";
    };

/** Folders within folders. */
const maxDepth = 64;
/** An ignore file. Units: bytes. */
const maxIgnoreBytes = 262_144;

/**
 * Every entry below a root, which must be its own real path.
 * A device's own folder is never entered, whoever grants it: its key lies there. Throws when the root
 * cannot be read.
 */
export async function* walkRoot(
  root: string,
  onFolder: (folder: string) => void = () => undefined,
): AsyncGenerator<WalkEntry> {
  if ((await realpath(root)) !== root) throw new Error("it leads somewhere else now");
  // The first folder's trouble is the root's; further down, a folder is passed over.
  await readdir(root);
  yield* walkFolder(root, { folder: "", rules: [], depth: 0, onFolder });
}

interface Place {
  /** Below the root, "" or ending with "/". */
  readonly folder: string;
  readonly rules: readonly IgnoreRule[];
  readonly depth: number;
  /** Told before a folder is read, so that nothing that changes from then on is missed. */
  readonly onFolder: (folder: string) => void;
}

async function* walkFolder(root: string, place: Place): AsyncGenerator<WalkEntry> {
  const { folder, depth, onFolder } = place;
  const absolute = path.join(root, folder);
  onFolder(absolute);
  const entries = await foldersEntries(root, absolute);
  if (entries === undefined || depth > maxDepth) {
    yield { type: "passed-over", path: folder, state: "unreadable" };
    return;
  }
  if (entries.some(({ name }) => name === storeKeyFile)) {
    yield { type: "passed-over", path: folder, state: "hidden" };
    return;
  }
  const rules = [...place.rules, ...(await rulesOf(absolute, folder, entries))];
  for (const entry of entries.toSorted((left, right) => (left.name < right.name ? -1 : 1))) {
    const inner = `${folder}${entry.name}`;
    const isFolder = entry.isDirectory();
    const shown = isFolder ? `${inner}/` : inner;
    if (entry.name.startsWith(".")) {
      yield { type: "passed-over", path: shown, state: "hidden" };
    } else if (isIgnored(rules, inner, isFolder)) {
      yield { type: "passed-over", path: shown, state: "ignored" };
    } else if (isFolder) {
      yield* walkFolder(root, { folder: shown, rules, depth: depth + 1, onFolder });
    } else {
      const told = await fileAt(root, inner);
      if (told !== undefined) yield told;
    }
  }
}

async function foldersEntries(
  root: string,
  absolute: string,
): Promise<readonly Dirent[] | undefined> {
  try {
    // A folder may have become a link since its parent was read.
    if (!isWithin(root, await realpath(absolute))) return undefined;
    return await readdir(absolute, { withFileTypes: true });
  } catch (cause) {
    return isDiskTrouble(cause) ? undefined : Promise.reject(cause);
  }
}

async function rulesOf(
  absolute: string,
  folder: string,
  entries: readonly Dirent[],
): Promise<readonly IgnoreRule[]> {
  const rules: IgnoreRule[] = [];
  // In this order: what .ignore says counts more.
  for (const name of [".gitignore", ".ignore"]) {
    if (!entries.some((entry) => entry.name === name && entry.isFile())) continue;
    try {
      const text = await readFile(path.join(absolute, name), "utf8");
      rules.push(...parseIgnoreFile(text.slice(0, maxIgnoreBytes), folder));
    } catch (cause) {
      if (!isDiskTrouble(cause)) throw cause;
    }
  }
  return rules;
}

/** A file, or a link to one within the root. `undefined`: a link to a folder, walked where it lies. */
async function fileAt(root: string, inner: string): Promise<WalkEntry | undefined> {
  try {
    const target = await realpath(path.join(root, inner));
    if (!isWithin(root, target)) return { type: "passed-over", path: inner, state: "outside" };
    const found = await lstat(target);
    if (found.isDirectory()) return undefined;
    if (!found.isFile()) return { type: "passed-over", path: inner, state: "unreadable" };
    const modifiedMs = Math.floor(found.mtimeMs);
    return { type: "file", path: inner, target, bytes: found.size, modifiedMs };
  } catch (cause) {
    if (isDiskTrouble(cause)) return { type: "passed-over", path: inner, state: "unreadable" };
    throw cause;
  }
}

/** Whether a real path lies within a root. */
export function isWithin(root: string, real: string): boolean {
  return real === root || real.startsWith(root.endsWith(path.sep) ? root : `${root}${path.sep}`);
}

/** Whether the operating system refused, rather than this program being wrong. */
export function isDiskTrouble(cause: unknown): boolean {
  return cause instanceof Error && "code" in cause && "syscall" in cause;
}
