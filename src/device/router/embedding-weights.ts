import type { EmbeddingWeights } from "./weights.ts";
export const embeddingWeights: EmbeddingWeights = {} as never;
