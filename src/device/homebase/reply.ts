/**
 * Answers to an operation: queued for the device that asked and kept in the ledger, in one
 * transaction, so that what was told is what is remembered.
 *
 * Spec: docs/protocol.md "Device control".
 */
import { utf8 } from "../../shared/bytes.ts";
import { typeableId } from "../../shared/ids.ts";
import { type AnswerMoment, queueOwnMessage } from "../messaging/payload.ts";
import { type HomebaseRow, updateHomebaseOp } from "../store/homebase.ts";
import type { WriteTx } from "../store/sqlite.ts";
import { boundedReply, encodeOp, type HomebaseReply } from "./op.ts";

/** Tells the asker how far its operation is. */
export function sendReply(
  tx: WriteTx,
  row: HomebaseRow,
  moment: AnswerMoment,
  reply: HomebaseReply,
): void {
  const bounded = boundedReply(reply);
  const state = bounded.status === "unknown-op" ? "refused" : bounded.status;
  updateHomebaseOp(tx, row.row, { state, reply: JSON.stringify(bounded) });
  const text = encodeOp({
    op: "reply",
    id: typeableId(moment.rng),
    to: row.peerDevice,
    args: bounded,
  });
  queueOwnMessage(tx, utf8(text), moment);
}
