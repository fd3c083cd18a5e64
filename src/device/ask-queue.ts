/**
 * Questions to the agent one at a time: a second brain in memory would slow both, and a small machine
 * has no room for it. Whoever waits is told how many are ahead, may leave, and is refused when the
 * line is full, so that nobody waits without knowing. A turn that waits for its owner steps aside, and
 * goes on before those who have not begun.
 *
 * Wraps the agent for the runtime; how a turn goes is not its business.
 * Spec: docs/agent.md "Waiting".
 */
import { err } from "../shared/result.ts";
import type { AgentError, AskOptions, DeviceAgent } from "./agent/port.ts";

/** Waits for something else than the brain, and lets others have it meanwhile. */
export type StepAside = <T>(wait: () => Promise<T>) => Promise<T>;

/** How a turn is asked of the agent in the line. */
export interface TurnOptions extends AskOptions {
  readonly stepAside?: StepAside;
}

/** The agent before a line is put before it. */
export interface UnqueuedAgent extends DeviceAgent {
  readonly ask: (question: string, options?: TurnOptions) => ReturnType<DeviceAgent["ask"]>;
  readonly approve: (runId: string, options?: TurnOptions) => ReturnType<DeviceAgent["approve"]>;
}

/** The agent behind the line. */
export interface AskQueue {
  readonly agent: DeviceAgent;
  /** Stops the turn that runs and everyone who waits; resolves when that turn is stored. */
  readonly close: () => Promise<void>;
}

/** Questions that may wait behind the one that runs, turns that stepped aside included. */
export const maxWaitingAsks = 16;

type Ask = (options: TurnOptions) => ReturnType<DeviceAgent["ask"]>;

/** Puts a line before an agent. */
export function queueAsks(agent: UnqueuedAgent): AskQueue {
  const line = new Line();
  const asking = new Map<AbortController, Promise<unknown>>();
  let closed = false;
  const queued = async (options: AskOptions, work: Ask): ReturnType<Ask> => {
    if (closed) return err(leftTheLine);
    if (line.isFull()) return err(lineIsFull);
    const stop = new AbortController();
    const pass = (): void => stop.abort();
    options.signal?.addEventListener("abort", pass);
    if (options.signal?.aborted === true) pass();
    const answer = inTurn(line, { ...options, signal: stop.signal }, work);
    asking.set(stop, answer);
    try {
      return (await answer) ?? err(leftTheLine);
    } finally {
      asking.delete(stop);
      options.signal?.removeEventListener("abort", pass);
    }
  };
  return {
    agent: {
      ...agent,
      ask: (question, options = {}) => queued(options, (more) => agent.ask(question, more)),
      approve: (runId, options = {}) => queued(options, (more) => agent.approve(runId, more)),
    },
    close: async () => {
      closed = true;
      for (const stop of asking.keys()) stop.abort();
      await Promise.allSettled(asking.values());
    },
  };
}

/** Runs `work` when its turn has come; `undefined` when it left the line before. */
async function inTurn(
  line: Line,
  options: AskOptions & { readonly signal: AbortSignal },
  work: Ask,
): Promise<Awaited<ReturnType<Ask>> | undefined> {
  const place = await line.enter(options.signal, options.onQueued ?? (() => undefined));
  if (place === undefined) return undefined;
  try {
    return await work({ ...options, stepAside: place.stepAside });
  } finally {
    place.leave();
  }
}

/** A turn's right to the brain. */
interface Place {
  readonly stepAside: StepAside;
  /** Ends the turn, wherever it is. */
  readonly leave: () => void;
}

interface Waiting {
  readonly begin: () => void;
  readonly tell: (ahead: number) => void;
}

class Line {
  readonly #waiting: Waiting[] = [];
  #aside = 0;
  #busy = false;

  isFull(): boolean {
    return this.#waiting.length + this.#aside >= maxWaitingAsks;
  }

  /** Resolves when it is the caller's turn, or with nothing when the signal aborts before. */
  async enter(signal: AbortSignal, tell: (ahead: number) => void): Promise<Place | undefined> {
    if (!this.#busy) this.#busy = true;
    else if (signal.aborted || !(await this.#wait(signal, tell))) return undefined;
    return this.#place();
  }

  #wait(signal: AbortSignal, tell: (ahead: number) => void): Promise<boolean> {
    return new Promise((resolve) => {
      const giveUp = (): void => {
        this.#waiting.splice(this.#waiting.indexOf(entry), 1);
        this.#tellAll();
        resolve(false);
      };
      const begin = (): void => {
        signal.removeEventListener("abort", giveUp);
        resolve(true);
      };
      const entry: Waiting = { begin, tell };
      signal.addEventListener("abort", giveUp, { once: true });
      this.#waiting.push(entry);
      tell(this.#waiting.length);
    });
  }

  #place(): Place {
    let where: "here" | "aside" | "returning" | "gone" = "here";
    const place = (): typeof where => where;
    return {
      stepAside: async (wait) => {
        const waited = wait();
        where = "aside";
        this.#aside += 1;
        this.#next();
        try {
          return await waited;
        } finally {
          if (place() === "aside") {
            where = "returning";
            this.#aside -= 1;
            await this.#return();
            // Stopped while it came back: the place that it got is the next one's.
            if (place() === "gone") this.#next();
            else where = "here";
          }
        }
      },
      leave: () => {
        if (where === "here") this.#next();
        if (where === "aside") this.#aside -= 1;
        where = "gone";
      },
    };
  }

  /** Takes a turn back that stepped aside: before all who have not begun. */
  #return(): Promise<void> {
    if (!this.#busy) {
      this.#busy = true;
      return Promise.resolve();
    }
    return new Promise((resolve) => {
      this.#waiting.unshift({ begin: resolve, tell: () => undefined });
      this.#tellAll();
    });
  }

  /** The brain is free: the next one begins. */
  #next(): void {
    const next = this.#waiting.shift();
    this.#busy = next !== undefined;
    this.#tellAll();
    next?.begin();
  }

  #tellAll(): void {
    this.#waiting.forEach(({ tell }, at) => tell(at + 1));
  }
}

const leftTheLine: AgentError = {
  type: "ask-stopped",
  message: "the question was taken back before its turn came: nothing was run",
};

const lineIsFull: AgentError = {
  type: "asks-full",
  message: `${maxWaitingAsks} questions wait already, the most there may be: ask again when some are answered`,
};
