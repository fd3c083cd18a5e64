/**
 * A line before one thing that serves one at a time: whoever comes waits for those before, within a
 * bound, and leaves the line when told to stop.
 *
 * Spec: docs/agent.md "The engine".
 */

/** Takes turns. `undefined`: the line is full, or the signal was aborted while waiting. */
export type Line = <T>(work: () => Promise<T>, signal: AbortSignal) => Promise<T | undefined>;

/** A line in which at most `places` wait or are served. */
export function createLine(places: number): Line {
  let last: Promise<unknown> = Promise.resolve();
  let taken = 0;
  return async (work, signal) => {
    if (taken >= places || signal.aborted) return undefined;
    taken += 1;
    const turn = last.then(() => (signal.aborted ? undefined : work()));
    // A failure is the caller's to hear; the next in line only waits for the end.
    last = Promise.allSettled([turn]);
    try {
      return await turn;
    } finally {
      taken -= 1;
    }
  };
}
