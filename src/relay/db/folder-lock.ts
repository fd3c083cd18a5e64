/**
 * One relay per data folder: a lock file that names its holder by pid and start time, so that a
 * crash leaves nothing that blocks the next start and a second relay can say who is in the way (O10).
 *
 * Node has no flock. Taking over a stale lock is therefore an election: to replace a lock with
 * nonce n, one must hold the name `….n`, which is itself such a lock. Whoever holds it and still
 * finds n in place is the only one who can replace it.
 *
 * It works between processes that see each other. Two containers that share a volume do not; there
 * the sessions of a running server tell (orphan.ts).
 */
import { randomUUID } from "node:crypto";
import { linkSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";

import { err, ok, type Result } from "../../shared/result.ts";
import { hasCode } from "./database-error.ts";
import { processStart } from "./process-identity.ts";

/** A lock that is held; `release` gives it up. */
export interface FolderLock {
  readonly release: () => void;
}

interface Holder {
  readonly pid: number;
  readonly start: string;
  readonly nonce: string;
}

/** Takes the lock. Errors: `locked`, with the pid of the living holder. */
export function lockFolder(
  file: string,
): Result<FolderLock, { readonly type: "locked"; readonly holderPid: number }> {
  const me: Holder = {
    pid: process.pid,
    start: processStart(process.pid) ?? "unknown",
    nonce: randomUUID(),
  };
  const mine = `${file}.${me.nonce}.mine`;
  writeFileSync(mine, JSON.stringify(me), { mode: 0o600, flag: "wx" });
  try {
    const holder = acquire(file, file, mine);
    if (holder !== undefined) return err({ type: "locked", holderPid: holder.pid });
    return ok({ release: () => rmSync(file, { force: true }) });
  } finally {
    rmSync(mine, { force: true });
  }
}

/** The pid of the living holder, without taking anything. */
export function lockHolder(file: string): number | undefined {
  const holder = readHolder(file);
  return holder !== undefined && processStart(holder.pid) === holder.start ? holder.pid : undefined;
}

/** Undefined once `name` is ours; otherwise the living holder. */
function acquire(base: string, name: string, mine: string): Holder | undefined {
  for (;;) {
    if (linked(mine, name)) return undefined;
    const current = readHolder(name);
    if (current === undefined) continue;
    if (processStart(current.pid) === current.start) return current;
    const successor = `${base}.${current.nonce}`;
    const rival = acquire(base, successor, mine);
    if (rival !== undefined) return rival;
    if (readHolder(name)?.nonce === current.nonce) {
      renameSync(successor, name);
      return undefined;
    }
    // Somebody replaced it before we held the right to: look again.
    rmSync(successor);
  }
}

function linked(mine: string, name: string): boolean {
  try {
    linkSync(mine, name);
    return true;
  } catch (cause) {
    if (hasCode(cause, "EEXIST")) return false;
    throw cause;
  }
}

/** What the lock says; undefined when it is gone. A damaged file reads as a holder that is dead. */
function readHolder(name: string): Holder | undefined {
  let content: string;
  try {
    content = readFileSync(name, "utf8");
  } catch (cause) {
    if (hasCode(cause, "ENOENT")) return undefined;
    throw cause;
  }
  return parseHolder(content) ?? { pid: 0, start: "damaged", nonce: "damaged" };
}

function parseHolder(content: string): Holder | undefined {
  try {
    const value: unknown = JSON.parse(content);
    if (typeof value !== "object" || value === null) return undefined;
    if (!("pid" in value && "start" in value && "nonce" in value)) return undefined;
    const { pid, start, nonce } = value;
    return Number.isSafeInteger(pid) && typeof start === "string" && isUuid(nonce)
      ? { pid: Number(pid), start, nonce }
      : undefined;
  } catch {
    // Not JSON: a power cut emptied it.
    return undefined;
  }
}

function isUuid(value: unknown): value is string {
  return typeof value === "string" && /^[0-9a-f-]{36}$/.test(value);
}
