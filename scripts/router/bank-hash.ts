/**
 * A name for the bank's text as it stands. Weights carry it, so that a test can tell when they are
 * older than the text.
 */
import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";

/** The first 16 hexadecimal digits of the bank's SHA-256. */
export function bankHash(): string {
  const folder = new URL("bank/", import.meta.url);
  const hash = createHash("sha256");
  for (const name of readdirSync(folder).toSorted()) {
    hash.update(`${name}\n`).update(readFileSync(new URL(name, folder)));
  }
  return hash.digest("hex").slice(0, 16);
}
