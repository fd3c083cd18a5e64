/**
 * Tells device control from ordinary messages, and takes it in. It is heard from verified devices of
 * this very account only; the same text of anyone else stays a text, acts as nothing and is counted.
 *
 * Runs within the inbox's transaction. Spec: docs/protocol.md "Device control".
 */
import { clampU64, parseUtf8 } from "../../shared/bytes.ts";
import { idText } from "../../shared/ids.ts";
import type { AnswerMoment, OpenedMessage } from "../messaging/payload.ts";
import { parseSentinel } from "../sentinel.ts";
import { countForeignHomebaseText } from "../store/homebase.ts";
import { getOwnDevice } from "../store/identity.ts";
import type { WriteTx } from "../store/sqlite.ts";
import { parseOp } from "./op.ts";
import { takeOp } from "./take-op.ts";

/**
 * What a message turned out to be: `text` is to be shown like any other; `heard` is device control
 * with nothing to do here; after `changed` there is.
 */
export type Heard = "text" | "heard" | "changed";

/** Takes in a message if it is device control. */
export function hearControl(tx: WriteTx, opened: OpenedMessage, moment: AnswerMoment): Heard {
  const text = parseUtf8(opened.content);
  const sentinel = text.ok ? parseSentinel(text.value) : undefined;
  if (sentinel?.kind !== "pixie_homebase_op") return "text";
  const op = opened.relation === "self" ? parseOp(sentinel.value) : undefined;
  const ownDevice = getOwnDevice(tx)?.deviceId;
  if (op === undefined || ownDevice === undefined) {
    countForeignHomebaseText(tx);
    return "text";
  }
  const changed = takeOp(tx, op, {
    ...moment,
    ownDevice,
    senderDevice: idText(opened.sender.deviceId),
    sentMs: clampU64(opened.sentAtMs),
  });
  return changed ? "changed" : "heard";
}
