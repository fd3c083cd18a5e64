/**
 * Tells whether a process id still names the same process, and what it runs. A bare pid does not:
 * after a crash another program may have it, and in a container every start has the same one.
 *
 * Linux reads /proc, because slim images have no `ps`; macOS asks `ps`.
 */
import { execFileSync } from "node:child_process";
import { readFileSync, readdirSync, readlinkSync } from "node:fs";

/** A text that differs for every process that ever has this pid; undefined when none has it now. */
export function processStart(pid: number): string | undefined {
  if (process.platform !== "linux") return askPs(pid, "lstart=");
  const stat = readOrUndefined(`/proc/${pid}/stat`);
  if (stat === undefined) return undefined;
  // After the name in parentheses (it may hold spaces) come state, ppid …; the 20th is the start, in
  // clock ticks since boot.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  if (fields[0] === "Z") return undefined;
  return `${readOrUndefined("/proc/sys/kernel/random/boot_id")?.trim()} ${fields[19]}`;
}

/** The command line of a process, words joined by a space; undefined when there is none. */
export function processCommand(pid: number): string | undefined {
  if (process.platform !== "linux") return askPs(pid, "command=");
  return readOrUndefined(`/proc/${pid}/cmdline`)?.replaceAll("\0", " ").trim();
}

/** Processes whose working folder is that one. Linux only; undefined where it cannot be told. */
export function processesIn(folder: string): readonly number[] | undefined {
  if (process.platform !== "linux") return undefined;
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => workingFolder(pid) === folder);
}

function workingFolder(pid: number): string | undefined {
  try {
    return readlinkSync(`/proc/${pid}/cwd`);
  } catch {
    // Gone meanwhile, or another user's: then it is none of ours.
    return undefined;
  }
}

function readOrUndefined(file: string): string | undefined {
  try {
    return readFileSync(file, "utf8");
  } catch {
    // The process ended.
    return undefined;
  }
}

function askPs(pid: number, column: string): string | undefined {
  try {
    const told = execFileSync("ps", ["-p", String(pid), "-o", column], {
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"],
      env: { PATH: process.env["PATH"], LC_ALL: "C", TZ: "UTC" },
    }).trim();
    return told === "" ? undefined : told;
  } catch {
    // ps exits with 1 for a pid that nobody has.
    return undefined;
  }
}
