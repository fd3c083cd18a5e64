/**
 * The load generator, in a process of its own: takes an order, runs it, answers with a report.
 *
 * Closed loop (`window`): every publisher keeps that many messages unconfirmed. Open loop
 * (`perSecond`): messages are due at fixed times, and latency counts from when they were due, so that
 * a system that stalls does not slow down the questions.
 */
import { assertNever } from "../../src/shared/result.ts";
import type { LoadClient, LoadEvents, LoadShape } from "./client.ts";
import { type AmqpTarget, connectAmqp } from "./amqp-client.ts";
import { connectMqtt, type MqttTarget } from "./mqtt-client.ts";
import { connectNats, type NatsTarget } from "./nats-client.ts";
import { connectPixie, type PixieTarget } from "./pixie-client.ts";

/** A system to load. */
export type LoadTarget = PixieTarget | AmqpTarget | NatsTarget | MqttTarget;

/** What to do. */
export interface LoadOrder {
  readonly target: LoadTarget;
  readonly shape: LoadShape;
  readonly pace: { readonly window: number } | { readonly perSecond: number };
  /** Share of the messages that warm up and are not counted. */
  readonly warmShare: number;
}

/** What came of it. Units: ms; latencies from submitting, or from when it was due, to receiving. */
export interface LoadReport {
  readonly copiesPerSecond: number;
  readonly latenciesMs: readonly number[];
  /** Processor time of the load generator itself. */
  readonly cpuShare: number;
}

/** A run that lost a message would wait for ever. Units: ms. */
const giveUpMs = 180_000;

function connectTo(target: LoadTarget, shape: LoadShape, events: LoadEvents): Promise<LoadClient> {
  switch (target.system) {
    case "pixie":
      return connectPixie(target, shape, events);
    case "amqp":
      return connectAmqp(target, shape, events);
    case "nats":
      return connectNats(target, shape, events);
    case "mqtt":
      return connectMqtt(target, shape, events);
    default:
      return assertNever(target);
  }
}

/** One run: who publishes what when, and what is counted. */
class LoadRun {
  readonly #order: LoadOrder;
  readonly #startedMs: Float64Array;
  readonly #latencies: number[] = [];
  readonly #warmCopies: number;
  readonly #allCopies: number;
  #next = 0;
  #accepted = 0;
  /** Copies that count: received, or accepted where nobody receives. */
  #counted = 0;
  #warmAtMs = 0;
  #warmCpu = process.cpuUsage();
  #finish: () => void = () => {};

  constructor(order: LoadOrder) {
    this.#order = order;
    const { messages, copies } = order.shape;
    this.#startedMs = new Float64Array(messages);
    this.#allCopies = messages * copies;
    this.#warmCopies = Math.floor(this.#allCopies * order.warmShare);
  }

  async run(): Promise<LoadReport> {
    const { target, shape, pace } = this.#order;
    const refill: number[] = Array.from({ length: shape.publishers }, () => 0);
    let isRefilling = false;
    const client = await connectTo(target, shape, {
      onAccepted: (publisher) => {
        // Confirmed in the order of publishing, so this is the oldest one of that publisher.
        if (!shape.isReceived) {
          for (let copy = 0; copy < shape.copies; copy++) this.#count(this.#accepted);
        }
        this.#accepted += 1;
        this.#finishWhenDone();
        if (!("window" in pace)) return;
        refill[publisher] = (refill[publisher] ?? 0) + 1;
        if (isRefilling) return;
        isRefilling = true;
        setImmediate(() => {
          isRefilling = false;
          for (const [each, room] of refill.entries()) {
            if (room > 0) this.#publish(client, each, room);
            refill[each] = 0;
          }
        });
      },
      onReceived: (message) => {
        this.#count(message);
        this.#finishWhenDone();
      },
    });
    const finished = new Promise<void>((resolve) => (this.#finish = resolve));
    if ("window" in pace) {
      for (let each = 0; each < shape.publishers; each++) this.#publish(client, each, pace.window);
    } else this.#pace(client, pace.perSecond);
    await finished;
    const elapsedMs = performance.now() - this.#warmAtMs;
    const { user, system } = process.cpuUsage(this.#warmCpu);
    await client.close();
    return {
      copiesPerSecond: ((this.#allCopies - this.#warmCopies) / elapsedMs) * 1_000,
      latenciesMs: this.#latencies,
      cpuShare: (user + system) / 1_000 / elapsedMs,
    };
  }

  #publish(client: LoadClient, publisher: number, room: number): void {
    const nowMs = performance.now();
    const messages: number[] = [];
    while (messages.length < room && this.#next < this.#order.shape.messages) {
      this.#startedMs[this.#next] = nowMs;
      messages.push(this.#next++);
    }
    if (messages.length > 0) client.publish(publisher, messages);
  }

  #pace(client: LoadClient, perSecond: number): void {
    const { messages, publishers } = this.#order.shape;
    const startMs = performance.now();
    const tick = (): void => {
      const due = Math.floor(((performance.now() - startMs) * perSecond) / 1_000);
      while (this.#next < Math.min(due, messages)) {
        const message = this.#next++;
        this.#startedMs[message] = startMs + (message * 1_000) / perSecond;
        client.publish(message % publishers, [message]);
      }
      if (this.#next < messages) setTimeout(tick, 1);
    };
    tick();
  }

  #count(message: number): void {
    this.#counted += 1;
    if (this.#counted === this.#warmCopies) {
      this.#warmAtMs = performance.now();
      this.#warmCpu = process.cpuUsage();
    }
    if (this.#counted > this.#warmCopies) {
      this.#latencies.push(performance.now() - (this.#startedMs[message] ?? 0));
    }
  }

  #finishWhenDone(): void {
    const { messages } = this.#order.shape;
    if (this.#counted >= this.#allCopies && this.#accepted >= messages) this.#finish();
  }
}

process.on("message", (order: LoadOrder) => {
  setTimeout(() => {
    throw new Error(`not every message arrived within ${giveUpMs / 1_000} s`);
  }, giveUpMs).unref();
  void new LoadRun(order).run().then((report) => process.send?.(report));
});
process.send?.("ready");
