/**
 * Takes in an operation or a reply within the inbox's transaction: it is journalled, then the message
 * is acknowledged, then serve.ts works on it. Only called for messages of the own account; what comes
 * from anyone else never gets here.
 *
 * Spec: docs/protocol.md "Device control".
 */
import {
  addHomebaseOp,
  countOpenHomebaseOps,
  type HomebaseKey,
  homebaseOpOf,
  openStates,
  updateHomebaseOp,
} from "../store/homebase.ts";
import type { WriteTx } from "../store/sqlite.ts";
import type { AnswerMoment } from "../messaging/payload.ts";
import { type HomebaseOp, type HomebaseReply, parseReply, storedReply } from "./op.ts";
import { sendReply } from "./reply.ts";

/** Where an operation comes from, and to whom it came. Times on the relay's clock. */
export interface OpArrival extends AnswerMoment {
  readonly ownDevice: string;
  readonly senderDevice: string;
  readonly sentMs: number;
}

/** Operations that may wait or run at a time; a further one is refused. */
export const maxOpenOps = 32;
/** What ends others' waiting still comes in when that many wait, up to as many again. */
const endsWaiting: ReadonlySet<string> = new Set(["cancel", "approve"]);

/** Takes one in. Returns whether anything changed here. */
export function takeOp(tx: WriteTx, op: HomebaseOp, arrival: OpArrival): boolean {
  // Every own device gets every message of the account; only one is meant.
  if (op.to !== arrival.ownDevice) return false;
  if (op.op === "reply") {
    const reply = parseReply(op);
    return reply !== undefined && takeReply(tx, reply, arrival.senderDevice);
  }
  return journal(tx, op, arrival);
}

function journal(tx: WriteTx, op: HomebaseOp, arrival: OpArrival): boolean {
  const { senderDevice, sentMs, relayNowMs, nowMs } = arrival;
  const key: HomebaseKey = { direction: "in", peerDevice: senderDevice, opId: op.id };
  const bound = endsWaiting.has(op.op) ? 2 * maxOpenOps : maxOpenOps;
  const full = countOpenHomebaseOps(tx) >= bound;
  const added = addHomebaseOp(tx, {
    ...key,
    op: op.version === 1 ? op.op : `${op.op} (version ${op.version})`,
    args: JSON.stringify(Object.fromEntries(op.args)),
    sentMs,
    arrivedMs: relayNowMs,
    state: full ? "refused" : "waiting",
    attempts: 0,
    nextMs: nowMs,
    reply: null,
  });
  const row = homebaseOpOf(tx, key);
  if (row === undefined) throw new Error("an operation was journalled and is not there");
  if (full && added) {
    sendReply(tx, row, arrival, {
      re: op.id,
      status: "refused",
      reason: "homebase-full",
      text: `${bound} operations wait there already, the most there may be: ask again later`,
    });
  } else if (!added && row.reply !== null) {
    // Asked again under the same id: nothing is done twice, and the answer may have been lost.
    sendReply(tx, row, arrival, storedReply(row.reply));
  }
  return true;
}

/** Replies may come in any order and twice: only what is further along counts. */
function takeReply(tx: WriteTx, reply: HomebaseReply, senderDevice: string): boolean {
  const row = homebaseOpOf(tx, { direction: "out", peerDevice: senderDevice, opId: reply.re });
  if (row === undefined || !openStates.includes(row.state)) return false;
  const { status } = reply;
  const state = status === "unknown-op" ? "refused" : status;
  const isBack =
    openStates.includes(state) && openStates.indexOf(state) < openStates.indexOf(row.state);
  if (isBack) return false;
  updateHomebaseOp(tx, row.row, { state, reply: JSON.stringify(reply) });
  return true;
}
