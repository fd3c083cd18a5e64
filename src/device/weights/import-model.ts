/**
 * Takes a model file that somebody brought, for machines without internet: one of the catalogue's by
 * its hash, whatever it is called, or any other GGUF file under its own name.
 *
 * The copy is what is hashed, so a bad disk is noticed too. Whether an engine can run it is asked
 * later. Spec: docs/operating.md "Models".
 */
import { constants } from "node:fs";
import { copyFile, mkdir, open, rename, rm, statfs } from "node:fs/promises";
import path from "node:path";

import { ok, type Result } from "../../shared/result.ts";
import { catalogue } from "./catalogue.ts";
import { diskFull } from "./download.ts";
import { hashOf } from "./file-hash.ts";
import { type InstalledModel, keepHash } from "./installed.ts";
import { systemCode, weightsError, type WeightsError } from "./weights-error.ts";

const magic = "GGUF";
/** Longest name of an own file, without its ending. */
const maxNameLength = 64;

/** Copies it into the folder. Errors: it is not there, not GGUF, half, or its name is taken. */
export async function importModel(
  source: string,
  folder: string,
  signal: AbortSignal,
): Promise<Result<InstalledModel, WeightsError>> {
  const bytes = await ggufBytes(source);
  if (!bytes.ok) return bytes;
  const part = path.join(folder, `.import-${process.pid}.part`);
  try {
    await mkdir(folder, { recursive: true });
    const { bavail, bsize } = await statfs(folder);
    if (bavail * bsize < bytes.value) return diskFull(folder, bytes.value, bavail * bsize);
    // A file system that can share the blocks does: the copy then costs nothing.
    await copyFile(source, part, constants.COPYFILE_FICLONE);
    const hash = await hashOf(part, signal);
    if (signal.aborted) return weightsError("aborted", `${source}: stopped, nothing was imported`);
    return await place({ source, part, folder, hash, bytes: bytes.value });
  } catch (cause) {
    const code = systemCode(cause);
    if (code === undefined) throw cause;
    if (code === "ENOSPC") return diskFull(folder, bytes.value, 0);
    return weightsError("folder", `${folder}: expected to copy ${source} there, got ${code}`);
  } finally {
    await rm(part, { force: true });
  }
}

interface Copied {
  readonly source: string;
  readonly part: string;
  readonly folder: string;
  readonly hash: string;
  readonly bytes: number;
}

async function place({
  source,
  part,
  folder,
  hash,
  bytes,
}: Copied): Promise<Result<InstalledModel, WeightsError>> {
  const known = catalogue.find(({ sha256 }) => sha256 === hash);
  if (known !== undefined) {
    const target = path.join(folder, known.file);
    await rename(part, target);
    return ok({ name: known.name, path: target, bytes, entry: known });
  }
  const file = path.basename(source);
  const name = file.slice(0, -path.extname(file).length);
  const like = catalogue.find((entry) => entry.file === file || entry.name === name);
  if (like !== undefined || name === "basic") {
    return weightsError(
      "wrong-bytes",
      `${source}: named like ${like?.name ?? name}${like === undefined ? "" : `, whose SHA-256 is ${like.sha256}`}, got ${hash}: rename it to import it as a file of your own`,
    );
  }
  if (name.length > maxNameLength || !/^[\w.-]+$/.test(name)) {
    return weightsError(
      "not-a-model",
      `${source}: expected a name of up to ${maxNameLength} letters, digits, dots, - and _: rename it`,
    );
  }
  const target = path.join(folder, `${name}.gguf`);
  await keepHash(target, hash);
  await rename(part, target);
  return ok({ name, path: target, bytes, entry: undefined });
}

/** The size of a GGUF file. Errors: none is there, or it is none. */
async function ggufBytes(source: string): Promise<Result<number, WeightsError>> {
  try {
    const file = await open(source, "r");
    try {
      const { buffer } = await file.read(Buffer.alloc(magic.length), 0, magic.length, 0);
      if (buffer.toString("latin1") === magic) return ok((await file.stat()).size);
      return weightsError("not-a-model", `${source}: expected a GGUF file, got something else`);
    } finally {
      await file.close();
    }
  } catch (cause) {
    const code = systemCode(cause);
    if (code === undefined) throw cause;
    return weightsError("no-such-file", `expected a readable model file, got ${source} (${code})`);
  }
}
