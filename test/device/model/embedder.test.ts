/** What every embedder promises, on the one that needs no weights. */
import { expect, it } from "vitest";

import { createWordEmbedder } from "../../support/word-embedder.ts";

const never = new AbortController().signal;

function cosine(a: Float32Array | undefined, b: Float32Array | undefined): number {
  return Array.from(a ?? []).reduce((sum, value, at) => sum + value * (b?.[at] ?? 0), 0);
}

it("answers one vector of length 1 a text, in their order, alike for like texts", async () => {
  const reply = await createWordEmbedder().embed(
    ["the gate code", "code of the gate", "whale"],
    never,
  );
  if (reply.type === "failed") throw new Error(reply.reason);
  const [gate, code, whale] = reply.vectors;
  expect(reply.vectors).toHaveLength(3);
  for (const vector of reply.vectors) expect(cosine(vector, vector)).toBeCloseTo(1, 5);
  expect(cosine(gate, code)).toBeGreaterThan(cosine(gate, whale));
});

it("an abort is an answer, not an exception", async () => {
  const reply = await createWordEmbedder().embed(["x"], AbortSignal.abort());
  expect(reply).toMatchObject({ type: "failed" });
});
