/**
 * Programs of the system that some tests drive: nginx, promtool … CI installs them, so there a missing
 * one fails. Elsewhere the test says plainly that it left something out.
 */
import { accessSync, constants } from "node:fs";
import path from "node:path";

/** The path of a program; undefined, after saying so, where it is missing and this is not CI. */
export function findTool(name: string): string | undefined {
  const folders = [...(process.env["PATH"] ?? "").split(":"), "/usr/sbin", "/sbin"];
  const found = folders.map((folder) => path.join(folder, name)).find(isProgram);
  if (found !== undefined) return found;
  if (process.env["CI"] !== undefined) throw new Error(`${name} is missing: .ci/run installs it`);
  process.stdout.write(`left out: ${name} is not installed\n`);
  return undefined;
}

function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    // Not here.
    return false;
  }
}
