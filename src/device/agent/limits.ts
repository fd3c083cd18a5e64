/**
 * The guards of a turn that stand outside its steps: the time it may take, and the owner's abort.
 * They end the turn even when a brain or a tool does not listen.
 *
 * Spec: docs/agent.md "Guards".
 */
import type { Clock } from "../../shared/clock.ts";
import type { Ending, Limits } from "./turn-parts.ts";

/** Limits of a device in ordinary use. */
export const defaultLimits: Limits = { steps: 8, tokens: 60_000, wallMs: 300_000 };

/** Runs `work` until it ends, is aborted, or its time is up, whichever is first. */
export async function untilStopped(
  { clock, limits }: { readonly clock: Clock; readonly limits: Limits },
  outer: AbortSignal | undefined,
  work: (signal: AbortSignal, pause: () => () => void) => Promise<Ending>,
): Promise<Ending> {
  const controller = new AbortController();
  const { signal } = controller;
  const timer = pausableTimer(clock, limits.wallMs, () => controller.abort("wall-clock"));
  const abort = (): void => controller.abort("aborted");
  if (outer?.aborted === true) abort();
  else outer?.addEventListener("abort", abort, { once: true });
  try {
    const stopped = new Promise<Ending>((resolve) => {
      const stop = (): void => resolve(endingOf(signal.reason, limits));
      if (signal.aborted) stop();
      else signal.addEventListener("abort", stop, { once: true });
    });
    return await Promise.race([stopped, work(signal, timer.pause)]);
  } finally {
    timer.cancel();
    outer?.removeEventListener("abort", abort);
  }
}

/** A timer that stands still between `pause` and the call of what that returns. */
function pausableTimer(
  clock: Clock,
  delayMs: number,
  run: () => void,
): { readonly pause: () => () => void; readonly cancel: () => void } {
  let leftMs = delayMs;
  let startedMs = clock.nowMs();
  let ended = false;
  let cancel = clock.schedule(leftMs, run);
  return {
    pause: () => {
      cancel();
      leftMs -= clock.nowMs() - startedMs;
      return () => {
        if (ended) return;
        startedMs = clock.nowMs();
        cancel = clock.schedule(leftMs, run);
      };
    },
    cancel: () => {
      ended = true;
      cancel();
    },
  };
}

function endingOf(reason: unknown, { wallMs }: Limits): Ending {
  const shown = "Calls that are shown without a result may have run.";
  return reason === "wall-clock"
    ? {
        reason: "wall-clock",
        detail: `${wallMs / 1_000} s are the most that one turn takes. ${shown}`,
      }
    : { reason: "aborted", detail: `Stopped by the owner. ${shown}` };
}
