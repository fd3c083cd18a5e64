/**
 * How much room the file system under a folder has for an unprivileged process.
 */
import { statfs } from "node:fs/promises";

/** Undefined when the folder cannot be asked about. Never rejects. Units: bytes. */
export async function freeBytesUnder(folder: string): Promise<number | undefined> {
  try {
    const { bavail, bsize } = await statfs(folder);
    return bavail * bsize;
  } catch {
    // A folder that is gone or hidden says nothing; the database reports a full disk by itself.
    return undefined;
  }
}
