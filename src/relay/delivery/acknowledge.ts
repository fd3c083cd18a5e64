/**
 * Acknowledge: batches what devices acknowledge over all connections of a lane, then lets go of
 * shared bodies. An item counts as acknowledged only when the commit came back.
 *
 * Which items may be acknowledged (only those delivered on this very connection) is decided by
 * stream.ts; whether the connection still holds the mailbox is decided in the statement.
 */
import type { Acknowledged, Acknowledgement, BodyRelease } from "../store/acknowledgements.ts";
import { failureCode, isRetryable } from "../store/failure.ts";
import { type Batcher, createBatcher } from "./batcher.ts";

/** False: a newer connection holds the mailbox, and nothing was acknowledged. Rejects when the database fails. */
export type Acknowledge = Batcher<Acknowledgement, boolean>;

/** What acknowledging a lane's items needs. */
export interface AcknowledgeOptions {
  readonly acknowledge: (batch: readonly Acknowledgement[]) => Promise<Acknowledged>;
  readonly release: (bodies: readonly BodyRelease[]) => Promise<void>;
  readonly onFailure: (code: string, bodies: number) => void;
}

/**
 * Acknowledgements of one statement, each of at most 256 items. Few would do for busy devices, but a
 * hundred that acknowledge three items each must not wait for three commits one after the other.
 */
const maxBatch = 128;
/** A connection waits with at most its window, so this is reached by thousands of them at once. */
const maxWaiting = 65_536;
const maxAttempts = 4;

/** Builds the acknowledging side of one lane. */
export function createAcknowledge(options: AcknowledgeOptions): Acknowledge {
  return createBatcher({
    maxBatch,
    maxWaiting,
    run: async (batch) => {
      const { current, released } = await retried(() => options.acknowledge(batch));
      try {
        await retried(() => options.release(released));
      } catch (cause) {
        // The items are acknowledged; the bodies stay until their day is dropped.
        options.onFailure(failureCode(cause), released.length);
      }
      return current;
    },
  });
}

async function retried<T>(run: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await run();
    } catch (cause) {
      if (attempt === maxAttempts || !isRetryable(cause)) throw cause;
    }
  }
}
