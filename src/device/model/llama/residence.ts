/**
 * Keeps an engine in memory while it is used and unloads it after a time without questions; the next
 * question loads it again. Its tokenizer alone stays, so that prices of texts stay exact.
 *
 * Disposing stops what is running first. Spec: docs/agent.md "The engine".
 */
import type { Clock } from "../../../shared/clock.ts";
import { err, ok, type Result } from "../../../shared/result.ts";
import type { ModelFailure } from "../port.ts";
import { underEither } from "./either-signal.ts";
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
  return first.ok ? ok(new Resident(parts, first.value)) : err(first.error);
}

class Resident implements Residence {
  readonly #parts: ResidenceParts;
  readonly #ending = new AbortController();
  #opening: Promise<Result<Engine, ModelFailure>> | undefined;
  #engine: Engine | undefined;
  #tokenizer: LoadedFile | undefined;
  #users = 0;
  #running: Promise<unknown> = Promise.resolve();
  #cancelUnload: (() => void) | undefined;

  constructor(parts: ResidenceParts, engine: Engine) {
    this.#parts = parts;
    this.#engine = engine;
    this.#opening = Promise.resolve(ok(engine));
    this.#armUnload();
  }

  readonly use: Residence["use"] = async (work, signal) => {
    const ending = this.#ending.signal;
    if (ending.aborted) return { type: "failed", reason: "the model was closed" };
    this.#cancelUnload?.();
    this.#users += 1;
    try {
      const opened = await (this.#opening ??= this.#load());
      if (!opened.ok) return opened.error;
      const done = underEither([signal, ending], (until) => work(opened.value, until));
      this.#running = Promise.allSettled([this.#running, done]);
      return await done;
    } finally {
      this.#users -= 1;
      if (this.#users === 0) this.#armUnload();
    }
  };

  readonly countTokens = (text: string): number =>
    this.#engine?.countTokens(text) ?? this.#tokenizer?.model.tokenize(text).length ?? 0;

  readonly isLoaded = (): boolean => this.#engine !== undefined;

  async [Symbol.asyncDispose](): Promise<void> {
    this.#ending.abort();
    this.#cancelUnload?.();
    await this.#opening;
    await this.#running;
    await this.#engine?.[Symbol.asyncDispose]();
    await this.#tokenizer?.[Symbol.asyncDispose]();
    this.#engine = undefined;
    this.#tokenizer = undefined;
  }

  #armUnload(): void {
    this.#cancelUnload?.();
    const { idleMs, clock } = this.#parts;
    if (idleMs === 0 || this.#ending.signal.aborted) return;
    this.#cancelUnload = clock.schedule(idleMs, () => {
      this.#running = Promise.allSettled([this.#running, this.#unload()]);
    });
  }

  async #unload(): Promise<void> {
    const leaving = this.#engine;
    if (this.#users > 0 || leaving === undefined) return;
    const words = await loadFile({ file: this.#parts.file, threads: 1, vocabOnly: true });
    // Somebody came while the tokenizer was loading: everything stays as it is.
    if (this.#users > 0 || this.#ending.signal.aborted || !words.ok) {
      if (words.ok) await words.value[Symbol.asyncDispose]();
      return;
    }
    this.#tokenizer = words.value;
    this.#engine = undefined;
    this.#opening = undefined;
    await leaving[Symbol.asyncDispose]();
  }

  async #load(): Promise<Result<Engine, ModelFailure>> {
    const opened = await this.#parts.open();
    if (!opened.ok) {
      this.#opening = undefined;
      return opened;
    }
    this.#engine = opened.value;
    const words = this.#tokenizer;
    this.#tokenizer = undefined;
    await words?.[Symbol.asyncDispose]();
    return opened;
  }
}
