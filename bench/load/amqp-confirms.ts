/**
 * Counts what a broker confirmed. Confirms of one channel come in any order, one by one or for all up to
 * a tag (`multiple`); each message counts once, however its confirms overlap.
 *
 * Spec: RabbitMQ's publisher confirms.
 */

/** Confirms of one channel, whose tags begin at 1. Bound: tags that came early, at most a publisher's window. */
export class AmqpConfirms {
  #through = 0n;
  readonly #early = new Set<bigint>();

  /** Takes a confirm; returns how many messages it confirmed for the first time. */
  take(tag: bigint, isMultiple: boolean): number {
    if (tag <= this.#through || (!isMultiple && this.#early.has(tag))) return 0;
    if (!isMultiple) {
      this.#early.add(tag);
      this.#advance();
      return 1;
    }
    const known = [...this.#early].filter((early) => early <= tag);
    for (const early of known) this.#early.delete(early);
    const count = Number(tag - this.#through) - known.length;
    this.#through = tag;
    this.#advance();
    return count;
  }

  #advance(): void {
    while (this.#early.delete(this.#through + 1n)) this.#through += 1n;
  }
}
