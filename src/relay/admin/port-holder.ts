/**
 * Who listens on a port, as far as this user may know: "address already in use" is no help while
 * nobody says by whom (O18). Linux tells in /proc; elsewhere, and about other users' processes, nothing.
 */
import { readdirSync, readFileSync, readlinkSync } from "node:fs";

import { processCommand } from "../db/process-identity.ts";

/** A process that listens. */
export interface PortHolder {
  readonly pid: number;
  /** Its command line, shortened. */
  readonly command: string;
}

/** In the fourth column of /proc/net/tcp. */
const listening = "0A";
const shownCharacters = 120;

/** The first process found to listen on that port, on any address. */
export function findPortHolder(port: number): PortHolder | undefined {
  if (process.platform !== "linux") return undefined;
  const inodes = new Set(
    ["/proc/net/tcp", "/proc/net/tcp6"].flatMap((table) => listenersIn(table, port)),
  );
  if (inodes.size === 0) return undefined;
  for (const name of readdirSync("/proc")) {
    if (!/^\d+$/.test(name)) continue;
    if (openSockets(name).some((inode) => inodes.has(inode))) {
      const command = processCommand(Number(name)) ?? "";
      return { pid: Number(name), command: command.slice(0, shownCharacters) };
    }
  }
  return undefined;
}

function listenersIn(table: string, port: number): readonly string[] {
  try {
    return readFileSync(table, "utf8")
      .split("\n")
      .flatMap((line) => {
        const columns = line.trim().split(/\s+/);
        const [, local = "", , state] = columns;
        const isOurs = Number.parseInt(local.split(":")[1] ?? "", 16) === port;
        return state === listening && isOurs ? [columns[9] ?? ""] : [];
      });
  } catch {
    // A kernel without IPv6 has no such table.
    return [];
  }
}

function openSockets(pid: string): readonly string[] {
  try {
    return readdirSync(`/proc/${pid}/fd`).flatMap((fd) => {
      const target = linkOf(`/proc/${pid}/fd/${fd}`);
      return target.startsWith("socket:[") ? [target.slice(8, -1)] : [];
    });
  } catch {
    // Another user's, or gone meanwhile.
    return [];
  }
}

function linkOf(file: string): string {
  try {
    return readlinkSync(file);
  } catch {
    // Closed meanwhile.
    return "";
  }
}
