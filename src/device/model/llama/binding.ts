/**
 * The native engine, loaded at the first use: it is an optional dependency, and a device without a
 * model neither loads nor needs it. What goes wrong here is one typed failure that says what to do.
 *
 * Spec: docs/agent.md "The engine".
 */
import type * as Module from "node-llama-cpp";

import type { ModelFailure } from "../port.ts";
import { err, ok, type Result } from "../../../shared/result.ts";

/** The engine's module. */
export type Binding = typeof Module;

/** Brings the module. Tests pass another way to load it. */
export async function loadBinding(
  load: () => Promise<Binding> = () => import("node-llama-cpp"),
): Promise<Result<Binding, ModelFailure>> {
  try {
    return ok(await load());
  } catch (cause) {
    return err(
      unavailable(
        `the model engine is not installed: run npm install node-llama-cpp beside pixie, or pixie model use basic (${firstLine(cause)})`,
      ),
    );
  }
}

/** A failure for want of an engine or a file. */
export function unavailable(reason: string): ModelFailure {
  return { type: "failed", reason, cause: "unavailable" };
}

/** The first line of whatever was thrown, for a sentence. */
export function firstLine(cause: unknown): string {
  const text = cause instanceof Error ? cause.message : String(cause);
  return (text.split("\n")[0] ?? "").slice(0, 200);
}
