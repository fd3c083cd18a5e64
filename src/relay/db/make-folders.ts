/**
 * Makes a folder with those above it. Node's own recursive way never ends where a folder is there and
 * takes none in it (procfs answers that the new one is missing); this one says what the system says.
 */
import { existsSync, mkdirSync } from "node:fs";
import path from "node:path";

/** Makes what is missing of the folder, each with the mode. Errors: throws what the system says. */
export function makeFolders(folder: string, mode: number): void {
  if (existsSync(folder)) return;
  makeFolders(path.dirname(path.resolve(folder)), mode);
  try {
    mkdirSync(folder, { mode });
  } catch (cause) {
    // Somebody else may have made it just now.
    if (!existsSync(folder)) throw cause;
  }
}
