/**
 * Carries out what own devices ask, after it was journalled and acknowledged. Questions go to the
 * agent's line; looking things up has a lane of its own, so that a question which waits for another
 * device never blocks that device's question to us.
 *
 * What was only looked up is done again after a crash; a question that began is not: its asker is told
 * that it was interrupted. Trouble is tried a few times, then the operation is dead and shown.
 *
 * Spec: docs/protocol.md "Device control".
 */
import type { Clock } from "../../shared/clock.ts";
import type { AnswerMoment } from "../messaging/payload.ts";
import { members } from "../skills/strict-json.ts";
import {
  type HomebaseRow,
  homebaseOpsIn,
  openStates,
  updateHomebaseOp,
} from "../store/homebase.ts";
import type { DeviceStore } from "../store/sqlite.ts";
import { storeErrorOf } from "../store/store-error.ts";
import type { HomebaseReply } from "./op.ts";
import { sendReply } from "./reply.ts";

/** What an operation comes to. */
export type Outcome = Omit<HomebaseReply, "re">;

/** An operation while it is carried out. */
export interface Task {
  /** The own device that asks. */
  readonly asker: string;
  readonly args: ReadonlyMap<string, unknown>;
  readonly signal: AbortSignal;
  /** Tells the asker how far it is. */
  readonly tell: (progress: Outcome) => void;
}

/** How an operation is carried out. */
export interface OpKind {
  /** Operations of one lane run one after the other; those of none at once. */
  readonly lane: "look" | undefined;
  /** Whether it acts: then it expires, and is never begun twice. */
  readonly acts: boolean;
  readonly run: (task: Task) => Promise<Outcome>;
}

/** What serving needs. */
export interface ServeParts {
  readonly store: DeviceStore;
  readonly clock: Clock;
  readonly moment: () => AnswerMoment;
  /** What the newest device list says of a device of ours. */
  readonly standing: (deviceId: string) => "live" | "revoked" | "unknown";
  readonly kinds: ReadonlyMap<string, OpKind>;
  /** Something is to be sent. */
  readonly wakePump: () => void;
  /** Something about an operation changed. */
  readonly changed: () => void;
}

/** The work on operations asked of this device. */
export interface Serving {
  /** Looks for what is to be done. Before `start` nothing is. */
  readonly look: () => void;
  readonly start: () => void;
  /** Ends what runs without answering: the next start tells its askers that it was interrupted. */
  readonly close: () => Promise<void>;
}

/** A question, or an approval, is answered within this time of being asked, or not at all. Units: ms. */
const askLifeMs = 10 * 60_000;
/** Tries before an operation is given up. */
export const maxAttempts = 5;
/** Before the second try; doubled before each further one. Units: ms. */
const retryMs = 30_000;
/** Pause after local trouble. Units: ms. */
const troubleMs = 5_000;

/** Builds it. */
export function createServing(parts: ServeParts): Serving {
  return new OpServing(parts);
}

class OpServing implements Serving {
  readonly #parts: ServeParts;
  readonly #running = new Map<number, { stop: AbortController; done: Promise<void> }>();
  #lane: Promise<unknown> = Promise.resolve();
  #serving = false;
  #looksSoon = false;
  #cancelLook: (() => void) | undefined;

  constructor(parts: ServeParts) {
    this.#parts = parts;
  }

  readonly start = (): void => {
    if (this.#serving) return;
    this.#serving = true;
    this.look();
  };

  async close(): Promise<void> {
    this.#serving = false;
    this.#cancelLook?.();
    for (const { stop } of this.#running.values()) stop.abort();
    await Promise.all([...this.#running.values()].map(({ done }) => done));
  }

  readonly look = (): void => {
    if (this.#looksSoon) return;
    this.#looksSoon = true;
    // After the caller's own work: a look changes rows, and every change asks for another look.
    queueMicrotask(() => {
      this.#looksSoon = false;
      if (this.#serving) this.#lookNow();
    });
  };

  #lookNow(): void {
    try {
      this.#recover();
      const nowMs = this.#parts.clock.nowMs();
      const due = this.#open("waiting").filter((row) => row.nextMs <= nowMs);
      // A question that was taken back meanwhile never begins.
      for (const row of due.filter(({ op }) => op === "cancel")) this.#take(row);
      for (const row of this.#open("waiting")) if (row.nextMs <= nowMs) this.#take(row);
      const nextMs = Math.min(...this.#open("waiting").map((row) => row.nextMs));
      if (nextMs > nowMs && nextMs !== Infinity) this.#lookIn(nextMs - nowMs);
    } catch (thrown) {
      this.#trouble(thrown);
    }
  }

  /** Operations in those states that this process does not work on. */
  #open(...states: readonly ("waiting" | "accepted" | "running")[]): readonly HomebaseRow[] {
    return this.#parts.store
      .read((tx) => homebaseOpsIn(tx, "in", states))
      .filter(({ row }) => !this.#running.has(row));
  }

  /** What a process that ended left behind. */
  #recover(): void {
    for (const row of this.#open("accepted", "running")) {
      if (row.state === "running" && this.#parts.kinds.get(row.op)?.acts === true) {
        this.#end(row, {
          status: "interrupted",
          text: "the device stopped while it worked on this; it is not begun again by itself",
        });
      } else {
        this.#parts.store.write((tx) => updateHomebaseOp(tx, row.row, { state: "waiting" }));
      }
    }
  }

  #take(row: HomebaseRow): void {
    const { standing, kinds } = this.#parts;
    const stands = standing(row.peerDevice);
    // A device that was removed meanwhile gets nothing done, and no answer.
    if (stands === "revoked") return this.#bury(row, "dead");
    if (stands === "unknown") return this.#tryLater(row, "device-unknown");
    if (row.op === "cancel") return this.#cancel(row);
    const kind = kinds.get(row.op);
    if (kind === undefined) return this.#end(row, unknownOp(row.op));
    if (kind.acts && this.#isOld(row)) return this.#end(row, tooOld);
    const stop = new AbortController();
    const work = (): Promise<void> => this.#carryOut(row, kind, stop.signal);
    const done = (kind.lane === undefined ? Promise.resolve() : this.#lane).then(work);
    if (kind.lane !== undefined) this.#lane = done;
    this.#running.set(row.row, { stop, done });
  }

  async #carryOut(row: HomebaseRow, kind: OpKind, signal: AbortSignal): Promise<void> {
    const { store } = this.#parts;
    const tell = (progress: Outcome): void => {
      if (!signal.aborted) this.#end(row, progress);
    };
    try {
      if (!kind.acts) store.write((tx) => updateHomebaseOp(tx, row.row, { state: "running" }));
      const outcome = await kind.run({ asker: row.peerDevice, args: argsOf(row), signal, tell });
      // Stopped with the device, it stays as it is: the next start says so.
      if (this.#serving) this.#end(row, outcome);
    } catch (thrown) {
      this.#trouble(thrown, kind.acts ? undefined : row);
    } finally {
      this.#running.delete(row.row);
    }
  }

  #cancel(row: HomebaseRow): void {
    const re = argsOf(row).get("re");
    this.#bury(row, "done");
    const target = this.#parts.store
      .read((tx) => homebaseOpsIn(tx, "in", openStates))
      // Only the device that asked takes its question back.
      .find(({ opId, peerDevice }) => opId === re && peerDevice === row.peerDevice);
    if (target === undefined) return;
    const running = this.#running.get(target.row);
    if (running === undefined) this.#end(target, { status: "cancelled" });
    else running.stop.abort();
  }

  /** Devices keep relay time; what lies far ahead comes from a clock that is wrong. */
  #isOld({ sentMs }: HomebaseRow): boolean {
    return Math.abs(this.#parts.moment().relayNowMs - sentMs) > askLifeMs;
  }

  #tryLater(row: HomebaseRow, reason: string): void {
    const attempts = row.attempts + 1;
    const { store, clock } = this.#parts;
    const isLast = attempts >= maxAttempts;
    const nextMs = clock.nowMs() + retryMs * 2 ** row.attempts;
    store.write((tx) => updateHomebaseOp(tx, row.row, { state: "waiting", attempts, nextMs }));
    if (isLast) this.#end(row, { status: "failed", reason, text: givenUp }, "dead");
    else this.#lookIn(retryMs);
  }

  /** A full disk or a lock passes; what the process was at is found by the next look. */
  #trouble(thrown: unknown, row?: HomebaseRow): void {
    if (storeErrorOf(thrown) === undefined) {
      if (row === undefined) throw thrown;
      return this.#tryLater(row, thrown instanceof Error ? thrown.name : "unknown");
    }
    this.#lookIn(troubleMs);
  }

  #lookIn(delayMs: number): void {
    this.#cancelLook?.();
    this.#cancelLook = this.#parts.clock.schedule(delayMs, this.look);
  }

  #end(row: HomebaseRow, outcome: Outcome, state?: "dead"): void {
    const { store, moment, wakePump, changed } = this.#parts;
    store.write((tx) => {
      sendReply(tx, row, moment(), { re: row.opId, ...outcome });
      if (state !== undefined) updateHomebaseOp(tx, row.row, { state });
    });
    wakePump();
    changed();
  }

  #bury(row: HomebaseRow, state: "dead" | "done"): void {
    this.#parts.store.write((tx) => updateHomebaseOp(tx, row.row, { state }));
    this.#parts.changed();
  }
}

function argsOf({ args }: HomebaseRow): ReadonlyMap<string, unknown> {
  return members(JSON.parse(args)) ?? new Map();
}

function unknownOp(op: string): Outcome {
  const text = `this device knows no operation ${op}: update pixie there`;
  return { status: "unknown-op", reason: "unknown-op", text };
}

const tooOld: Outcome = {
  status: "expired",
  text: `it arrived more than ${askLifeMs / 60_000} minutes after it was asked: nothing was done`,
};

const givenUp = "given up after several tries";
