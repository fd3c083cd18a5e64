/**
 * Brings a model of the catalogue into the model folder: its file, or the published files that it is
 * made from. Only a file with the pinned hash ever stands under the model's own name.
 *
 * Nothing calls this but its owner's command: a device downloads nothing by itself.
 * Spec: docs/operating.md "Models".
 */
import { mkdir, rename, rm } from "node:fs/promises";
import path from "node:path";

import { ok, type Result } from "../../shared/result.ts";
import { writeBertGguf } from "./bert-gguf.ts";
import { type CatalogueEntry, hubUrl, type HubFile } from "./catalogue.ts";
import { download, type DownloadParts, sizeOf } from "./download.ts";
import { hashOf } from "./file-hash.ts";
import { systemCode, weightsError, type WeightsError } from "./weights-error.ts";

/** How far a pull is. Units: bytes. */
export interface PullProgress {
  readonly doneBytes: number;
  readonly totalBytes: number;
}

/** What a pull needs. */
export interface PullParts extends Omit<DownloadParts, "hub" | "onBytes"> {
  readonly onProgress?: (progress: PullProgress) => void;
}

/** Pulls it and returns the path of its file. Pulling what is there does nothing. */
export async function pullModel(
  entry: CatalogueEntry,
  parts: PullParts,
): Promise<Result<string, WeightsError>> {
  const target = path.join(parts.folder, entry.file);
  if ((await sizeOf(target)) === entry.bytes) return ok(target);
  const hub = hubOf(parts.env["PIXIE_MODEL_MIRROR"]);
  if (!hub.ok) return hub;
  try {
    await mkdir(parts.folder, { recursive: true });
  } catch (cause) {
    const code = systemCode(cause);
    if (code === undefined) throw cause;
    return weightsError("folder", `${parts.folder}: expected to make this folder, got ${code}`);
  }
  const needed = filesOf(entry);
  const totalBytes = needed.reduce((sum, { bytes }) => sum + bytes, 0);
  let earlierBytes = 0;
  const paths: string[] = [];
  for (const remote of needed) {
    const onBytes = (bytes: number): void =>
      parts.onProgress?.({ doneBytes: earlierBytes + bytes, totalBytes });
    const fetched = await download(remote, { ...parts, hub: hub.value, onBytes });
    if (!fetched.ok) return fetched;
    paths.push(fetched.value);
    earlierBytes += remote.bytes;
  }
  const [weights = "", tokenizer = ""] = paths;
  if (entry.origin.type === "hub") return ok(target);
  return await makeModel(entry, { weights, tokenizer }, parts.signal);
}

function filesOf({ origin, ...entry }: CatalogueEntry): readonly HubFile[] {
  return origin.type === "hub"
    ? [{ ...entry, path: origin.path }]
    : [origin.weights, origin.tokenizer];
}

/** Makes the model's file from what was published, and removes that. Both lie in the same folder. */
export async function makeModel(
  entry: CatalogueEntry,
  from: { readonly weights: string; readonly tokenizer: string },
  signal: AbortSignal,
): Promise<Result<string, WeightsError>> {
  const target = path.join(path.dirname(from.weights), entry.file);
  const part = `${target}.part`;
  await writeBertGguf({ ...from, name: entry.file.replace(/\.f16\.gguf$/, ""), to: part });
  const hash = await hashOf(part, signal);
  if (hash !== entry.sha256) {
    await rm(part, { force: true });
    return signal.aborted
      ? weightsError("aborted", `${entry.file}: stopped`)
      : weightsError(
          "wrong-bytes",
          `${entry.file}: expected the SHA-256 ${entry.sha256} after making it, got ${hash}: please report it`,
        );
  }
  await rename(part, target);
  await rm(from.weights, { force: true });
  await rm(from.tokenizer, { force: true });
  return ok(target);
}

function hubOf(mirror: string | undefined): Result<string, WeightsError> {
  if (mirror === undefined || mirror === "") return ok(hubUrl);
  if (!URL.canParse(mirror) || !/^https?:$/.test(new URL(mirror).protocol)) {
    return weightsError(
      "refused",
      `PIXIE_MODEL_MIRROR: expected an address like https://mirror.example.org/, got ${JSON.stringify(mirror)}`,
    );
  }
  return ok(mirror.endsWith("/") ? mirror : `${mirror}/`);
}
