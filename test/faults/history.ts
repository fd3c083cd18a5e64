/**
 * What a relay promised and what it did, and every way in which the two can differ. It shares no code
 * with the relay: it knows uploads by a name, devices by a name, and what came over which connection.
 *
 * Rules: what was accepted arrives at every device that it addressed; nothing arrives that was not
 * sent there; one number stands for one item for ever, and numbers rise on every connection; nothing
 * comes twice on one connection, and nothing at all after the relay said that it was acknowledged.
 */

/** A copy that came over a connection of a device. */
export interface Arrival {
  readonly device: string;
  /** Connections of a device, counted from 0. */
  readonly connection: number;
  readonly seq: bigint;
  readonly upload: string;
}

/** The relay said on a connection that everything up to a number was acknowledged. */
export interface Drained {
  readonly device: string;
  readonly connection: number;
  readonly through: bigint;
}

/** Everything that was seen from outside. */
export class History {
  readonly #sent = new Map<string, ReadonlySet<string>>();
  readonly #accepted = new Set<string>();
  readonly #arrivals: Arrival[] = [];
  readonly #drains: Drained[] = [];

  /** An upload is about to be posted for these devices. */
  sent(upload: string, devices: readonly string[]): void {
    this.#sent.set(upload, new Set(devices));
  }

  /** The relay answered that it has it. */
  accepted(upload: string): void {
    this.#accepted.add(upload);
  }

  arrived(arrival: Arrival): void {
    this.#arrivals.push(arrival);
  }

  drained(drained: Drained): void {
    this.#drains.push(drained);
  }

  get acceptedCount(): number {
    return this.#accepted.size;
  }

  get arrivalCount(): number {
    return this.#arrivals.length;
  }

  /** Every broken promise, in words; call it once everything was fetched. */
  violations(): readonly string[] {
    return [
      ...this.#lost(),
      ...this.#strangers(),
      ...this.#renumbered(),
      ...this.#disordered(),
      ...this.#resurrected(),
    ];
  }

  #lost(): readonly string[] {
    const came = new Set(this.#arrivals.map(({ upload, device }) => `${upload} ${device}`));
    return [...this.#accepted].flatMap((upload) =>
      [...(this.#sent.get(upload) ?? [])]
        .filter((device) => !came.has(`${upload} ${device}`))
        .map((device) => `lost: ${upload} was accepted and never came to ${device}`),
    );
  }

  #strangers(): readonly string[] {
    return this.#arrivals
      .filter(({ upload, device }) => this.#sent.get(upload)?.has(device) !== true)
      .map(({ upload, device }) => `stranger: ${upload} came to ${device}, nobody sent it there`);
  }

  #renumbered(): readonly string[] {
    const seqByCopy = new Map<string, bigint>();
    const copyBySeq = new Map<string, string>();
    return this.#arrivals.flatMap(({ device, seq, upload }) => {
      const copy = `${device} ${upload}`;
      const place = `${device} ${seq}`;
      const known = seqByCopy.get(copy) ?? seq;
      const other = copyBySeq.get(place) ?? upload;
      seqByCopy.set(copy, known);
      copyBySeq.set(place, other);
      if (known !== seq) return [`twice: ${upload} came to ${device} as ${known} and as ${seq}`];
      return other === upload ? [] : [`reused: ${device} was sent two items as ${seq}`];
    });
  }

  #disordered(): readonly string[] {
    const last = new Map<string, bigint>();
    return this.#arrivals.flatMap(({ device, connection, seq }) => {
      const key = `${device} ${connection}`;
      const before = last.get(key) ?? -1n;
      last.set(key, seq);
      return seq > before ? [] : [`disordered: ${device} was sent ${seq} after ${before}`];
    });
  }

  #resurrected(): readonly string[] {
    return this.#drains.flatMap(({ device, connection, through }) =>
      this.#arrivals
        .filter((each) => each.device === device && each.connection > connection)
        .filter((each) => each.seq <= through)
        .map(({ seq }) => `resurrected: ${device} was sent ${seq} after ${through} was drained`),
    );
  }
}
