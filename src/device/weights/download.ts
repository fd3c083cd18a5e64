/**
 * Brings one file whose size and hash are known: into `FILE.part`, which a later run goes on with,
 * and under its own name once every byte is there and right. The disk has room before it begins.
 *
 * What a model is made of is pull.ts. Two downloads of one file write the same bytes to the same
 * places, so they do not disturb each other. Spec: docs/operating.md "Models".
 */
import { type FileHandle, open, rename, rm, stat, statfs } from "node:fs/promises";
import path from "node:path";

import { sleep } from "../../shared/clock.ts";
import { ok, type Result } from "../../shared/result.ts";
import type { HubFile } from "./catalogue.ts";
import { hashOf } from "./file-hash.ts";
import { final, openRemoteFile, type Opened, type Route, type Trouble } from "./remote-file.ts";
import { systemCode, weightsError, type WeightsError } from "./weights-error.ts";

/** What a download needs beside the file's name. */
export interface DownloadParts extends Route {
  readonly folder: string;
  /** The hub, or the mirror that stands in its place; ends with a slash. */
  readonly hub: string;
  readonly onBytes: (doneBytes: number) => void;
  /** Attempts in a row that bring nothing new, before it is given up. */
  readonly attempts?: number;
  /** Free space of a folder. Units: bytes. */
  readonly freeBytes?: (folder: string) => Promise<number>;
}

/** Attempts in a row that bring nothing new, before it is given up. */
const defaultAttempts = 5;
const firstWaitMs = 1_000;
/** Left free beyond the file, so that filling the disk is never what a download does. */
const spareBytes = 64 * 1_024 * 1_024;

/** Downloads it and returns its path. A file that is there already is taken as it is. */
export async function download(
  remote: HubFile,
  parts: DownloadParts,
): Promise<Result<string, WeightsError>> {
  const target = path.join(parts.folder, remote.file);
  if ((await sizeOf(target)) === remote.bytes) return ok(target);
  const part = `${target}.part`;
  const room = await checkRoom(remote, part, parts);
  if (!room.ok) return room;
  const fetched = await withFile(part, (file) => fetchAll(remote, file, parts));
  if (!fetched.ok) {
    if ((await sizeOf(part)) === 0) await rm(part, { force: true });
    return fetched;
  }
  const hash = await hashOf(part, parts.signal);
  if (parts.signal.aborted) return aborted(remote);
  if (hash !== remote.sha256) {
    await rm(part, { force: true });
    return weightsError(
      "wrong-bytes",
      `${remote.file}: expected the SHA-256 ${remote.sha256}, got ${hash}; it was deleted. Pull again, and if a mirror is set (PIXIE_MODEL_MIRROR), without it`,
    );
  }
  await rename(part, target);
  return ok(target);
}

/** Room for what is still missing. Errors: `disk-full`, with the numbers. */
async function checkRoom(
  remote: HubFile,
  part: string,
  { folder, freeBytes = freeBytesOf }: DownloadParts,
): Promise<Result<undefined, WeightsError>> {
  const missing = Math.max(0, remote.bytes - (await sizeOf(part)));
  const free = await freeBytes(folder);
  return free >= missing + spareBytes ? ok(undefined) : diskFull(folder, missing, free);
}

async function freeBytesOf(folder: string): Promise<number> {
  const { bavail, bsize } = await statfs(folder);
  return bavail * bsize;
}

/** Attempts until all bytes are there, or nothing new comes any more. */
async function fetchAll(
  remote: HubFile,
  file: FileHandle,
  parts: DownloadParts,
): Promise<Result<undefined, WeightsError>> {
  const { attempts = defaultAttempts, signal } = parts;
  let have = (await file.stat()).size;
  for (let fruitless = 0; have !== remote.bytes;) {
    // A longer file is none that a download left.
    if (have > remote.bytes) await file.truncate((have = 0));
    const trouble = await attempt(remote, file, have, parts);
    if (signal.aborted) return aborted(remote);
    const now = (await file.stat()).size;
    fruitless = now > have ? 0 : fruitless + 1;
    have = now;
    if (trouble === undefined) continue;
    if (!trouble.again) return weightsError("refused", `${remote.file}: ${trouble.message}`);
    if (fruitless >= attempts) return unreachable(remote, trouble.message);
    if (!(await pause(fruitless, parts))) return aborted(remote);
  }
  await file.datasync();
  return ok(undefined);
}

async function attempt(
  remote: HubFile,
  file: FileHandle,
  have: number,
  parts: DownloadParts,
): Promise<Trouble | undefined> {
  const opened = await openRemoteFile(new URL(remote.path, parts.hub), have, parts);
  return await takeBody(opened, remote, file, parts);
}

function unreachable(
  { file }: HubFile,
  why: string,
): { readonly ok: false; readonly error: WeightsError } {
  return weightsError(
    "unreachable",
    `${file}: ${why}. What came is kept: pull again to go on. Without internet, bring the file by hand and use pixie model import`,
  );
}

/** Writes what comes. Returns what went wrong, if anything. */
async function takeBody(
  opened: Opened,
  remote: HubFile,
  file: FileHandle,
  parts: DownloadParts,
): Promise<Trouble | undefined> {
  if (opened.type === "trouble") return opened;
  if (opened.type === "past-the-end") {
    await file.truncate(0);
    return { type: "trouble", again: true, message: "the server has fewer bytes than were kept" };
  }
  const { totalBytes, chunks, startsAt } = opened;
  if (totalBytes !== undefined && totalBytes !== remote.bytes) {
    return final(`expected ${remote.bytes} bytes, the server has ${totalBytes}: another file`);
  }
  let at = startsAt;
  try {
    for await (const chunk of chunks) {
      if (at + chunk.length > remote.bytes) return final(`more than ${remote.bytes} bytes came`);
      await writeAll(file, chunk, at);
      at += chunk.length;
      parts.onBytes(at);
    }
  } catch (cause) {
    if (!(cause instanceof Error)) throw cause;
    if (systemCode(cause) === "ENOSPC") throw cause;
    return { type: "trouble", again: true, message: cause.message };
  }
  return at < remote.bytes
    ? { type: "trouble", again: true, message: `it ended after ${at} of ${remote.bytes} bytes` }
    : undefined;
}

async function writeAll(file: FileHandle, chunk: Uint8Array, at: number): Promise<void> {
  for (let written = 0; written < chunk.length;) {
    const { bytesWritten } = await file.write(chunk, written, chunk.length - written, at + written);
    written += bytesWritten;
  }
}

/** Waits before the next attempt. False: aborted meanwhile. */
async function pause(fruitless: number, { clock, signal }: DownloadParts): Promise<boolean> {
  const waitMs = firstWaitMs * 2 ** fruitless;
  return await sleep(clock, waitMs, signal).then(
    () => true,
    () => false,
  );
}

async function withFile(
  part: string,
  work: (file: FileHandle) => Promise<Result<undefined, WeightsError>>,
): Promise<Result<undefined, WeightsError>> {
  let file: FileHandle | undefined;
  try {
    // Not "w": what an earlier run brought is gone on with. Not "a": it would ignore positions.
    file = await open(part, (await sizeOf(part)) > 0 ? "r+" : "w+");
    return await work(file);
  } catch (cause) {
    const code = systemCode(cause);
    if (code === undefined) throw cause;
    if (code === "ENOSPC") {
      return weightsError(
        "disk-full",
        `${path.dirname(part)}: the disk is full. What came is kept: free some space and pull again`,
      );
    }
    return weightsError("folder", `${part}: expected to write there, got ${code}`);
  } finally {
    await file?.close();
  }
}

/** The refusal for want of space, with the numbers. */
export function diskFull(
  folder: string,
  missingBytes: number,
  freeBytes: number,
): { readonly ok: false; readonly error: WeightsError } {
  return weightsError(
    "disk-full",
    `${folder}: expected ${mib(missingBytes + spareBytes)} free, got ${mib(freeBytes)}. Free some space, or choose another folder with PIXIE_MODEL_DIR`,
  );
}

function mib(bytes: number): string {
  return `${Math.ceil(bytes / 1_024 ** 2)} MiB`;
}

/** The size of a file; 0 where there is none. Units: bytes. */
export async function sizeOf(file: string): Promise<number> {
  try {
    return (await stat(file)).size;
  } catch (cause) {
    if (systemCode(cause) === undefined) throw cause;
    return 0;
  }
}

function aborted({ file }: HubFile): { readonly ok: false; readonly error: WeightsError } {
  return weightsError("aborted", `${file}: stopped. What came is kept: pull again to go on`);
}
