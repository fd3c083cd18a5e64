/**
 * Work that ends at either of two signals. `AbortSignal.any` keeps an entry for every call in the
 * longer-lived signal on Node 20 (https://github.com/nodejs/node/issues/55351); this takes its listeners back.
 */

/** Runs `work` with a signal that aborts with the first of the two. */
export async function underEither<T>(
  [first, second]: readonly [AbortSignal, AbortSignal],
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const either = new AbortController();
  const abort = (): void => either.abort();
  if (first.aborted || second.aborted) abort();
  first.addEventListener("abort", abort, { once: true });
  second.addEventListener("abort", abort, { once: true });
  try {
    return await work(either.signal);
  } finally {
    first.removeEventListener("abort", abort);
    second.removeEventListener("abort", abort);
  }
}
