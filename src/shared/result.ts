/**
 * The one way this code base says "this can fail and you can act on it".
 *
 * A caller that can act gets a `Result` with a plain, tagged error. A bug throws and is never
 * caught to continue. Nothing else lives here.
 */

/** Outcome of an operation whose failure the caller can act on. */
export type Result<T, E> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly error: E };

/** Wraps a success. */
export function ok<T>(value: T): { readonly ok: true; readonly value: T } {
  return { ok: true, value };
}

/** Wraps a failure. */
export function err<E>(error: E): { readonly ok: false; readonly error: E } {
  return { ok: false, error };
}

/** Marks a branch that the types rule out. Throws when untyped data reaches it all the same. */
export function assertNever(value: never): never {
  throw new Error(`unreachable case: ${JSON.stringify(value)}`);
}
