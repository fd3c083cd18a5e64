/**
 * The port of an embedder: texts in, one vector each, so that texts of like meaning lie close. It
 * serves the router that reads meaning and the search by meaning.
 *
 * It keeps nothing and ranks nothing. Spec: docs/agent.md "Brains".
 */
import type { ModelFailure } from "./port.ts";

/** One vector a text, in the order of the texts, each of length 1. */
export interface Vectors {
  readonly type: "vectors";
  readonly vectors: readonly Float32Array[];
}

/** An embedder. Whoever opened it disposes of it. Trouble is an answer, never an exception. */
export interface Embedder extends AsyncDisposable {
  /** Which vectors compare: those of the same name only. */
  readonly name: string;
  /** Numbers in a vector. */
  readonly dimensions: number;
  /** Embeds texts; what is longer than the embedder reads counts by its beginning. */
  readonly embed: (
    texts: readonly string[],
    signal: AbortSignal,
  ) => Promise<Vectors | ModelFailure>;
}
