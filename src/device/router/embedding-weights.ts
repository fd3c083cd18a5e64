import type { EmbeddingWeights } from "./embedding.ts";
export const embeddingWeights: EmbeddingWeights = {} as never;
