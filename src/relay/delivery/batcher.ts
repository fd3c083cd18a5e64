/**
 * Turns single requests into batches: one batch runs at a time, at once when idle, and whatever
 * arrives meanwhile is the next one. No timer: at low load nothing waits, at high load batches grow
 * by themselves.
 *
 * Knows nothing of what it batches. Bound: `maxWaiting` requests; beyond it `ask` refuses.
 */

/** How a batch is made and run. */
export interface BatcherOptions<Request, Reply> {
  /** Replies in the order of the requests. */
  readonly run: (requests: readonly Request[]) => Promise<readonly Reply[]>;
  readonly maxBatch: number;
  readonly maxWaiting: number;
  /** Whether two requests may share a batch; all may by default. */
  readonly together?: (first: Request, next: Request) => boolean;
}

/** Asks for one reply. Rejects with `BatcherFullError`, or with what `run` threw. */
export type Batcher<Request, Reply> = (request: Request) => Promise<Reply>;

/** Too many requests wait. */
export class BatcherFullError extends Error {
  override readonly name = "BatcherFullError";
}

interface Waiting<Request, Reply> {
  readonly request: Request;
  readonly resolve: (reply: Reply) => void;
  readonly reject: (cause: unknown) => void;
}

/** Builds a batcher. */
export function createBatcher<Request, Reply>(
  options: BatcherOptions<Request, Reply>,
): Batcher<Request, Reply> {
  const queue: Waiting<Request, Reply>[] = [];
  let busy = false;

  async function work(): Promise<void> {
    busy = true;
    while (queue.length > 0) await runBatch(queue.splice(0, cut()));
    busy = false;
  }

  function cut(): number {
    const together = options.together;
    const [first] = queue;
    if (together === undefined || first === undefined) return options.maxBatch;
    const stranger = queue.findIndex((waiting) => !together(first.request, waiting.request));
    return Math.min(options.maxBatch, stranger === -1 ? queue.length : stranger);
  }

  async function runBatch(batch: readonly Waiting<Request, Reply>[]): Promise<void> {
    try {
      const replies = await options.run(batch.map((waiting) => waiting.request));
      if (replies.length !== batch.length) {
        throw new Error(`a batch of ${batch.length} got ${replies.length} replies`);
      }
      for (const [index, reply] of replies.entries()) batch[index]?.resolve(reply);
    } catch (cause) {
      for (const waiting of batch) waiting.reject(cause);
    }
  }

  return (request) =>
    new Promise<Reply>((resolve, reject) => {
      if (queue.length >= options.maxWaiting) {
        reject(new BatcherFullError(`more than ${options.maxWaiting} requests wait`));
        return;
      }
      queue.push({ request, resolve, reject });
      if (!busy) void work();
    });
}
