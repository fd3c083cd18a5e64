/**
 * Memory of processes, from /proc: what one has resident, and what a tree takes together. Linux only.
 */
import { readdirSync, readFileSync } from "node:fs";

/** Resident bytes of a process. */
export function residentBytes(pid: number): number {
  return kilobytes(readFileSync(`/proc/${pid}/status`, "utf8"), "VmRSS") * 1_024;
}

/** Proportional bytes of a process and all its descendants: shared pages count once. */
export function treeBytes(root: number): number {
  const childrenByPid = new Map<number, number[]>();
  for (const name of readdirSync("/proc")) {
    if (!/^\d+$/.test(name)) continue;
    const parent = parentOf(Number(name));
    if (parent === undefined) continue;
    childrenByPid.set(parent, [...(childrenByPid.get(parent) ?? []), Number(name)]);
  }
  const sum = (pid: number): number =>
    kilobytes(readFileSync(`/proc/${pid}/smaps_rollup`, "utf8"), "Pss") * 1_024 +
    (childrenByPid.get(pid) ?? []).reduce((total, child) => total + sum(child), 0);
  return sum(root);
}

function parentOf(pid: number): number | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    return Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1]);
  } catch {
    // It ended while we looked.
    return undefined;
  }
}

function kilobytes(text: string, field: string): number {
  return Number(new RegExp(`^${field}:\\s+(\\d+) kB`, "m").exec(text)?.[1] ?? 0);
}
