/**
 * What lies in the model folder: models of the catalogue under their file's name, and the owner's own
 * files, whose hashes were written beside them when they were imported (as sha256sum does).
 *
 * It reads names and sizes; whether bytes are right is asked with `checkHash`. Spec:
 * docs/operating.md "Models".
 */
import { readdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";

import { ok, type Result } from "../../shared/result.ts";
import { catalogue, type CatalogueEntry } from "./catalogue.ts";
import { sizeOf } from "./download.ts";
import { hashOf } from "./file-hash.ts";
import { systemCode, weightsError, type WeightsError } from "./weights-error.ts";

/** A model file that is there whole. */
export interface InstalledModel {
  readonly name: string;
  readonly path: string;
  readonly bytes: number;
  /** Absent for a file of the owner's. */
  readonly entry: CatalogueEntry | undefined;
}

const extension = ".gguf";

/** Everything installed, the catalogue's models first. A folder that is not there holds nothing. */
export async function installedModels(folder: string): Promise<readonly InstalledModel[]> {
  const names = await namesIn(folder);
  const found: InstalledModel[] = [];
  for (const entry of catalogue) {
    const file = path.join(folder, entry.file);
    if (!names.includes(entry.file) || (await sizeOf(file)) !== entry.bytes) continue;
    found.push({ name: entry.name, path: file, bytes: entry.bytes, entry });
  }
  const known = new Set(catalogue.map(({ file }) => file));
  for (const file of names) {
    if (!file.endsWith(extension) || known.has(file) || !names.includes(hashFile(file))) continue;
    const own = path.join(folder, file);
    const name = file.slice(0, -extension.length);
    found.push({ name, path: own, bytes: await sizeOf(own), entry: undefined });
  }
  return found;
}

/** Names of downloads that were not finished. */
export async function unfinishedFiles(folder: string): Promise<readonly string[]> {
  return (await namesIn(folder)).filter((name) => name.endsWith(".part"));
}

/** Whether the file still is what was installed. Errors: `wrong-bytes`, `aborted`. */
export async function checkHash(
  model: InstalledModel,
  signal: AbortSignal,
): Promise<Result<undefined, WeightsError>> {
  const pinned = model.entry?.sha256 ?? (await readFile(hashFile(model.path), "utf8")).slice(0, 64);
  const hash = await hashOf(model.path, signal);
  if (signal.aborted) return weightsError("aborted", `${model.name}: stopped`);
  if (hash === pinned) return ok(undefined);
  return weightsError(
    "wrong-bytes",
    `${model.path}: expected the SHA-256 ${pinned}, got ${hash}: delete the file and install it again`,
  );
}

/** Writes an own file's hash beside it, as sha256sum does. */
export async function keepHash(file: string, sha256: string): Promise<void> {
  await writeFile(hashFile(file), `${sha256}  ${path.basename(file)}\n`);
}

function hashFile(file: string): string {
  return `${file}.sha256`;
}

async function namesIn(folder: string): Promise<readonly string[]> {
  try {
    return (await readdir(folder)).toSorted();
  } catch (cause) {
    if (systemCode(cause) === undefined) throw cause;
    return [];
  }
}
