/**
 * Asking another own device, and waiting for its answer. What was asked is in the ledger before it is
 * sent, so an answer that comes after a restart, or after nobody waits any more, finds its question.
 *
 * Spec: docs/protocol.md "Device control".
 */
import { utf8 } from "../../shared/bytes.ts";
import type { Clock } from "../../shared/clock.ts";
import { typeableId } from "../../shared/ids.ts";
import { err, ok, type Result } from "../../shared/result.ts";
import { type AnswerMoment, queueOwnMessage } from "../messaging/payload.ts";
import {
  addHomebaseOp,
  homebaseOpOf,
  homebaseOpsIn,
  type HomebaseRow,
  openStates,
  updateHomebaseOp,
} from "../store/homebase.ts";
import type { DeviceStore, WriteTx } from "../store/sqlite.ts";
import { encodeOp } from "./op.ts";
import type { HomebaseError } from "./port.ts";

/** What asking needs. */
export interface AskingParts {
  readonly store: DeviceStore;
  readonly clock: Clock;
  readonly moment: () => AnswerMoment;
  readonly wakePump: () => void;
  /** Calls back whenever something about an operation changed. Returns what ends that. */
  readonly onChange: (listener: () => void) => () => void;
}

/** What is asked of whom. */
export interface Wanted {
  readonly device: string;
  readonly op: "ask" | "find-file" | "list-approvals" | "approve";
  readonly args: object;
}

/** How it is waited for. */
export interface Waiting {
  /** Units: ms. */
  readonly patienceMs: number;
  readonly signal?: AbortSignal | undefined;
  readonly onStatus?: ((row: HomebaseRow) => void) | undefined;
}

/** Questions to others that may be open at a time. */
const maxOpenAsks = 32;
/** An answer that takes longer does not come any more: questions live ten minutes. Units: ms. */
const forgottenMs = 2 * 3_600_000;

/**
 * Asks, and resolves with the ledger's row once the operation is over. Errors: `asks-full`;
 * `ask-stopped` when the signal aborts; `not-answered-yet` when the patience is over.
 */
export async function askDevice(
  parts: AskingParts,
  wanted: Wanted,
  waiting: Waiting,
): Promise<Result<HomebaseRow, HomebaseError>> {
  const { store, wakePump } = parts;
  const sent = store.write((tx) => send(tx, wanted, parts.moment()));
  if (sent === undefined) return err(tooMany);
  wakePump();
  const row = await untilOver(parts, sent, waiting);
  if (row !== undefined) return ok(row);
  if (waiting.signal?.aborted !== true) return err(notYet);
  store.write((tx) => takeBack(tx, sent, parts.moment()));
  wakePump();
  return err({ type: "ask-stopped", message: "the question was taken back" });
}

function send(
  tx: WriteTx,
  { device, op, args }: Wanted,
  moment: AnswerMoment,
): HomebaseRow | undefined {
  const { relayNowMs, nowMs, rng } = moment;
  const open = homebaseOpsIn(tx, "out", openStates);
  for (const row of open.filter(({ sentMs }) => sentMs < relayNowMs - forgottenMs)) {
    updateHomebaseOp(tx, row.row, { state: "expired" });
  }
  if (open.length >= maxOpenAsks) return undefined;
  const id = typeableId(rng);
  const key = { direction: "out", peerDevice: device, opId: id } as const;
  addHomebaseOp(tx, {
    ...key,
    op,
    args: JSON.stringify(args),
    sentMs: relayNowMs,
    arrivedMs: relayNowMs,
    state: "waiting",
    attempts: 0,
    nextMs: nowMs,
    reply: null,
  });
  queueOwnMessage(tx, utf8(encodeOp({ op, id, to: device, args })), moment);
  return homebaseOpOf(tx, key);
}

function takeBack(tx: WriteTx, row: HomebaseRow, moment: AnswerMoment): void {
  const args = { re: row.opId };
  const id = typeableId(moment.rng);
  updateHomebaseOp(tx, row.row, { state: "cancelled" });
  queueOwnMessage(tx, utf8(encodeOp({ op: "cancel", id, to: row.peerDevice, args })), moment);
}

/** The row once it is over; `undefined` when the patience is over or the signal aborts first. */
function untilOver(
  { store, clock, onChange }: AskingParts,
  sent: HomebaseRow,
  { patienceMs, signal, onStatus }: Waiting,
): Promise<HomebaseRow | undefined> {
  return new Promise((resolve) => {
    let known: HomebaseRow = sent;
    const end = (row: HomebaseRow | undefined): void => {
      cancel();
      stop();
      signal?.removeEventListener("abort", giveUp);
      resolve(row);
    };
    const giveUp = (): void => end(undefined);
    const look = (): void => {
      const row = store.read((tx) => homebaseOpOf(tx, sent));
      if (row === undefined || (row.state === known.state && row.reply === known.reply)) return;
      known = row;
      onStatus?.(row);
      if (!openStates.includes(row.state)) end(row);
    };
    const cancel = clock.schedule(patienceMs, giveUp);
    const stop = onChange(look);
    signal?.addEventListener("abort", giveUp);
    if (signal?.aborted === true) giveUp();
  });
}

const tooMany: HomebaseError = {
  type: "asks-full",
  message: `${maxOpenAsks} questions to other devices are open, the most there may be: wait for some`,
};

const notYet: HomebaseError = {
  type: "not-answered-yet",
  message:
    "no answer yet: the question waits for that device for ten minutes; see pixie homebase list",
};
