/**
 * When a recipient acknowledges: at `ackBatch` receipts, or `ackMs` after the first of them. The same
 * for every system under load.
 */
import { ackBatch, ackMs } from "./client.ts";

/** Counts receipts. */
export class AckTimer {
  readonly #flush: () => void;
  #count = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(flush: () => void) {
    this.#flush = flush;
  }

  /** One more receipt; may flush. */
  received(): void {
    this.#count += 1;
    if (this.#count >= ackBatch) this.#flush();
    else this.#timer ??= setTimeout(this.#flush, ackMs);
  }

  /** Call when everything was acknowledged. */
  stop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#count = 0;
  }
}
