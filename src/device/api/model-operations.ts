/**
 * Operations on models: part of the table in operations.ts. Pulling and importing tell how far they
 * are while they run; whoever goes away stops them, and what came is kept.
 *
 * Spec: docs/operating.md "Local API".
 */
import { type TObject, type TProperties, Type } from "typebox";

import type {
  ModelBench,
  ModelFinding,
  ModelProgress,
  ModelsView,
  ModelView,
} from "../weights/port.ts";
import { orNull, type Wire } from "./views.ts";

const text = Type.String();
const bytes = Type.Integer();
const rate = Type.Number({ description: "tokens per second" });

const modelView = Type.Object({
  name: text,
  use: Type.Union([Type.Literal("chat"), Type.Literal("embedding")]),
  title: text,
  file: text,
  bytes,
  memoryBytes: orNull(bytes),
  licence: orNull(text),
  tried: Type.Boolean(),
  installed: Type.Boolean(),
  active: Type.Boolean(),
});
const modelsView = Type.Object({
  folder: text,
  brain: text,
  embedder: orNull(text),
  models: Type.Array(modelView),
});
const benchView = Type.Object({
  name: text,
  loadMs: Type.Integer(),
  promptTokens: Type.Integer(),
  prefillRate: rate,
  completionTokens: Type.Integer(),
  decodeRate: rate,
});
const findingView = Type.Object({ ok: Type.Boolean(), text });

/** How far a pull or an import is. */
export const modelProgressView = Type.Object({
  type: Type.Literal("model-progress"),
  doneBytes: bytes,
  totalBytes: bytes,
});

const name = Type.String({ maxLength: 128 });

/** The models' part of the table. */
export const modelOperations = {
  models: { params: closed({}), result: modelsView },
  "pull-model": { params: closed({ name }), result: modelView },
  "import-model": {
    params: closed({ file: Type.String({ maxLength: 4_096 }) }),
    result: modelView,
  },
  "use-model": { params: closed({ name }), result: modelsView },
  "bench-model": { params: closed({ name: Type.Optional(name) }), result: benchView },
  "check-models": { params: closed({}), result: Type.Array(findingView) },
};

/** Name of an operation on models. */
export type ModelOperation = keyof typeof modelOperations;

function closed<Properties extends TProperties>(properties: Properties): TObject<Properties> {
  return Type.Object(properties, { additionalProperties: false });
}

type Same<A, B> = [A] extends [B] ? ([B] extends [A] ? true : false) : false;

/** Holds exactly as long as the schemas say what the views say. */
export const modelSchemasFit: [
  Same<Wire<Type.Static<typeof modelsView>>, Wire<ModelsView>>,
  Same<Wire<Type.Static<typeof modelView>>, Wire<ModelView>>,
  Same<Wire<Type.Static<typeof benchView>>, Wire<ModelBench>>,
  Same<Wire<Type.Static<typeof findingView>>, Wire<ModelFinding>>,
  Same<Wire<Type.Static<typeof modelProgressView>>, Wire<ModelProgress>>,
] = [true, true, true, true, true];
