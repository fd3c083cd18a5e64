/**
 * The SHA-256 of a file as it lies on the disk, read in pieces so that gigabytes fit any memory.
 */
import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";

/** The hash in hex; a hash of less than the file when aborted, so look at the signal. */
export async function hashOf(file: string, signal: AbortSignal): Promise<string> {
  const hash = createHash("sha256");
  for await (const chunk of createReadStream(file, { highWaterMark: 1_024 * 1_024 })) {
    if (signal.aborted) break;
    if (chunk instanceof Uint8Array) hash.update(chunk);
  }
  return hash.digest("hex");
}
