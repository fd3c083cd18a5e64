/**
 * Questions to the agent one at a time: a second brain in memory would slow both, and a small machine
 * has no room for it. Whoever waits is told how many are ahead, may leave, and is refused when the
 * line is full, so that nobody waits without knowing.
 *
 * Wraps the agent for the runtime; how a turn goes is not its business.
 * Spec: docs/agent.md "Waiting".
 */
import { err } from "../shared/result.ts";
import type { AgentError, AskOptions, DeviceAgent } from "./agent/port.ts";

/** The agent behind the line. */
export interface AskQueue {
  readonly agent: DeviceAgent;
  /** Stops the turn that runs and everyone who waits; resolves when that turn is stored. */
  readonly close: () => Promise<void>;
}

/** Questions that may wait behind the one that runs. */
export const maxWaitingAsks = 16;

interface Waiting {
  readonly begin: () => void;
  readonly tell: (ahead: number) => void;
}

type Ask = (options: AskOptions) => ReturnType<DeviceAgent["ask"]>;

/** Puts a line before an agent. */
export function queueAsks(agent: DeviceAgent): AskQueue {
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
    const answer = inTurn(line, stop.signal, options, () =>
      work({ ...options, signal: stop.signal }),
    );
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
async function inTurn<T>(
  line: Line,
  signal: AbortSignal,
  { onQueued }: AskOptions,
  work: () => Promise<T>,
): Promise<T | undefined> {
  if (!(await line.enter(signal, onQueued ?? (() => undefined)))) return undefined;
  try {
    return await work();
  } finally {
    line.leave();
  }
}

class Line {
  readonly #waiting: Waiting[] = [];
  #busy = false;

  isFull(): boolean {
    return this.#waiting.length >= maxWaitingAsks;
  }

  /** Resolves when it is the caller's turn, or with false when the signal aborts before. */
  enter(signal: AbortSignal, tell: (ahead: number) => void): Promise<boolean> {
    if (!this.#busy) {
      this.#busy = true;
      return Promise.resolve(true);
    }
    if (signal.aborted) return Promise.resolve(false);
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

  /** Ends the caller's turn; the next one begins. */
  leave(): void {
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
