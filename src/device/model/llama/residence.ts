/**
 * Keeps an engine in memory while it is used and unloads it after a time without questions; the next
 * question loads it again. Its tokenizer alone stays, so that prices of texts stay exact.
 *
 * Disposing stops what is running first. Spec: docs/agent.md "The engine".
 */
import type { Clock } from "../../../shared/clock.ts";
import { err, ok, type Result } from "../../../shared/result.ts";
import type { ModelFailure } from "../port.ts";
import { type Engine, loadFile, type LoadedFile } from "./engine.ts";

/** An engine that comes and goes. */
export interface Residence extends AsyncDisposable {
  /** Works with the engine, which stays until the work is done. The signal also aborts on disposal. */
  readonly use: <T>(
    work: (engine: Engine, signal: AbortSignal) => Promise<T>,
    signal: AbortSignal,
  ) => Promise<T | ModelFailure>;
  readonly countTokens: (text: string) => number;
  readonly isLoaded: () => boolean;
}

/** What a residence is made of. */
export interface ResidenceParts {
  readonly open: () => Promise<Result<Engine, ModelFailure>>;
  readonly file: string;
  readonly clock: Clock;
  /** Units: ms. 0: it is never unloaded. */
  readonly idleMs: number;
}

/** Opens the engine once, so that whatever is wrong with the file is known now. */
export async function createResidence(
  parts: ResidenceParts,
): Promise<Result<Residence, ModelFailure>> {
  const first = await parts.open();
  return first.ok ? ok(residenceOf(parts, first.value)) : err(first.error);
}

function residenceOf({ open, file, clock, idleMs }: ResidenceParts, first: Engine): Residence {
  const ending = new AbortController();
  let engine: Promise<Result<Engine, ModelFailure>> | undefined = Promise.resolve(ok(first));
  let loaded: Engine | undefined = first;
  let tokenizer: LoadedFile | undefined;
  let users = 0;
  let running: Promise<unknown> = Promise.resolve();
  let cancelUnload = (): void => undefined;

  const unload = async (): Promise<void> => {
    const leaving = loaded;
    if (users > 0 || leaving === undefined) return;
    const words = await loadFile({ file, threads: 1, vocabOnly: true });
    // Somebody came while the tokenizer was loading: everything stays as it is.
    if (users > 0 || ending.signal.aborted || !words.ok) {
      if (words.ok) await words.value[Symbol.asyncDispose]();
      return;
    }
    tokenizer = words.value;
    loaded = undefined;
    engine = undefined;
    await leaving[Symbol.asyncDispose]();
  };
  const load = async (): Promise<Result<Engine, ModelFailure>> => {
    const opened = await open();
    if (!opened.ok) {
      engine = undefined;
      return opened;
    }
    loaded = opened.value;
    const words = tokenizer;
    tokenizer = undefined;
    await words?.[Symbol.asyncDispose]();
    return opened;
  };
  const arm = (): void => {
    cancelUnload();
    if (idleMs > 0 && !ending.signal.aborted) {
      cancelUnload = clock.schedule(idleMs, () => {
        running = Promise.allSettled([running, unload()]);
      });
    }
  };
  arm();

  return {
    use: async (work, signal) => {
      if (ending.signal.aborted) return { type: "failed", reason: "the model was closed" };
      cancelUnload();
      users += 1;
      try {
        const opened = await (engine ??= load());
        if (!opened.ok) return opened.error;
        const done = work(opened.value, AbortSignal.any([signal, ending.signal]));
        running = Promise.allSettled([running, done]);
        return await done;
      } finally {
        users -= 1;
        if (users === 0) arm();
      }
    },
    countTokens: (text) => loaded?.countTokens(text) ?? tokenizer?.model.tokenize(text).length ?? 0,
    isLoaded: () => loaded !== undefined,
    [Symbol.asyncDispose]: async () => {
      ending.abort();
      cancelUnload();
      await engine;
      await running;
      await loaded?.[Symbol.asyncDispose]();
      await tokenizer?.[Symbol.asyncDispose]();
      loaded = undefined;
      tokenizer = undefined;
    },
  };
}
