/**
 * What happened on a mailbox connection, as the frames that say it, and the numbers in an
 * acknowledgement. Pure; the forms are shared/wire/frames.ts, when each is sent is
 * device-connection.ts.
 *
 * Spec: docs/protocol.md "The mailbox connection".
 */
import { clampU64, toBase64Url } from "../../shared/bytes.ts";
import type { Result } from "../../shared/result.ts";
import type { Refusal } from "../../shared/wire/errors.ts";
import { parseU64 } from "../../shared/wire/fields.ts";
import type { AckFrame, RelayFrame } from "../../shared/wire/frames.ts";
import type { Session } from "../store/mailboxes.ts";
import type { Challenge } from "./authenticate.ts";
import type { Answer } from "./requests.ts";

/** What the device is to sign. */
export function challengeFrame({ nonce, timeMs }: Challenge): RelayFrame {
  return { type: "challenge", nonce: toBase64Url(nonce), time: String(timeMs) };
}

/** The device holds its mailbox: what waits there, and what found no room. */
export function readyFrame(epoch: string, session: Session, nowMs: number): RelayFrame {
  return {
    type: "ready",
    epoch,
    time: String(nowMs),
    queued: session.queuedItems,
    refused: {
      count: session.refusedCount,
      since: session.refusedSinceMs === null ? null : String(session.refusedSinceMs),
    },
  };
}

/** The reply to the request of that id. */
export function replyFrame(
  id: number,
  answered: Result<Answer, Refusal>,
  nowMs: number,
): RelayFrame {
  const common = { type: "reply", id, time: String(nowMs) } as const;
  if (answered.ok) return { ...common, ok: { ...answered.value } };
  const { code, message, retryAfterMs } = answered.error;
  const retry = retryAfterMs === undefined ? {} : { retry_after_ms: retryAfterMs };
  return { ...common, error: { code, message, ...retry } };
}

/** Why the connection ends. */
export function refusedFrame({ code, message }: Refusal, nowMs: number): RelayFrame {
  return { type: "refused", error: code, message, time: String(nowMs) };
}

/** The numbers that a device acknowledges; what is no number acknowledges nothing. */
export function ackedSeqs(frame: AckFrame): readonly number[] {
  return frame.seqs.flatMap((text) => {
    const seq = parseU64(text);
    return seq.ok ? [clampU64(seq.value)] : [];
  });
}
