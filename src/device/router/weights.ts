/**
 * What the trainings make and the routers read: the shape of the weights that ship.
 *
 * Spec: docs/agent.md "Routers".
 */
import type { BackgroundText } from "./background.ts";
import type { JudgeWeights } from "./judge.ts";
import type { TableText } from "./table.ts";

/** Weights of the static router, by scripts/train-router.ts. */
export interface StaticWeights {
  readonly table: TableText;
  readonly background: BackgroundText;
  readonly judge: JudgeWeights;
}

/** Weights of the embedding router, by scripts/train-embedding-router.ts. */
export interface EmbeddingWeights {
  /** Numbers in the vectors of the embedder that they fit. */
  readonly dimensions: number;
  readonly requestMap: TableText;
  readonly lineMap: TableText;
  readonly background: BackgroundText;
  readonly judge: JudgeWeights;
}
