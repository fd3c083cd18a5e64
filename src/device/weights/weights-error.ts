/**
 * Why a model file is not where it should be, in words that its owner can act on. One closed set for
 * pulling, importing and looking; what the engine says of a file is the engine's.
 */
import { err } from "../../shared/result.ts";

/** A failure. `message` is shown as it is. */
export interface WeightsError {
  readonly type:
    | "unreachable"
    | "refused"
    | "wrong-bytes"
    | "disk-full"
    | "folder"
    | "aborted"
    | "no-such-model"
    | "no-such-file"
    | "not-a-model";
  readonly message: string;
}

/** Wraps one. */
export function weightsError(
  type: WeightsError["type"],
  message: string,
): { readonly ok: false; readonly error: WeightsError } {
  return err({ type, message });
}

/** The code of a failure of the disk or the network; `undefined` for anything else, which is a bug. */
export function systemCode(cause: unknown): string | undefined {
  return cause instanceof Error && "code" in cause && typeof cause.code === "string"
    ? cause.code
    : undefined;
}
