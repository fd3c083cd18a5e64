/**
 * Vectors of the corpus, made once by the embedder and kept in a file beside the training, since
 * embedding takes minutes and fitting seconds. A text that changed is embedded anew.
 */
import { appendFileSync, existsSync, readFileSync } from "node:fs";

import type { Embedder } from "../../src/device/model/embedder.ts";

/** Texts that are embedded between two writes of the file. */
const batchTexts = 64;

/** Vectors of all texts, from the file where it has them, else from the embedder. */
export async function vectorsOf(
  texts: readonly string[],
  file: string,
  embedder: Embedder,
): Promise<ReadonlyMap<string, Float32Array>> {
  const vectors = new Map<string, Float32Array>();
  const rows = existsSync(file) ? readFileSync(file, "utf8").split("\n") : [];
  for (const row of rows) {
    const at = row.indexOf(" ");
    if (at < 0) continue;
    const bytes = Uint8Array.from(Buffer.from(row.slice(0, at), "base64"));
    vectors.set(row.slice(at + 1), new Float32Array(bytes.buffer));
  }
  const missing = texts.filter((text) => !vectors.has(text));
  const { signal } = new AbortController();
  for (let at = 0; at < missing.length; at += batchTexts) {
    const batch = missing.slice(at, at + batchTexts);
    const reply = await embedder.embed(batch, signal);
    if (reply.type === "failed") throw new Error(`${embedder.name}: ${reply.reason}`);
    for (const [index, text] of batch.entries()) {
      const vector = reply.vectors[index] ?? new Float32Array(0);
      vectors.set(text, vector);
      const bytes = Buffer.from(vector.buffer, vector.byteOffset, vector.byteLength);
      appendFileSync(file, `${bytes.toString("base64")} ${text}\n`);
    }
  }
  return vectors;
}
