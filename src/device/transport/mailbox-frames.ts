/**
 * The order in which a relay may speak on a mailbox connection: challenge once, `ready` after the
 * proof, and only then deliveries, `drained` and replies. Anything else ends the session. Frames
 * are never quoted in a reason: they may hold anything.
 *
 * Spec: docs/protocol.md "The mailbox connection".
 */
import { parseBase64Url, parseUtf8, toBase64Url } from "../../shared/bytes.ts";
import type { RefusalCode } from "../../shared/wire/errors.ts";
import { parseU64 } from "../../shared/wire/fields.ts";
import {
  type AuthFrame,
  type Delivery,
  parseDelivery,
  parseRelayFrame,
  type RelayFrame,
  type ReplyFrame,
} from "../../shared/wire/frames.ts";
import type { MailboxIdentity } from "./port.ts";

export type ReadyFrame = Extract<RelayFrame, { readonly type: "ready" }>;
type ChallengeFrame = Extract<RelayFrame, { readonly type: "challenge" }>;

/** What the frames of one session amount to. */
export interface FrameEvents {
  readonly onReady: (ready: ReadyFrame) => void;
  readonly onDelivery: (delivery: Delivery) => void;
  readonly onDrained: (through: bigint) => void;
  readonly onReply: (frame: ReplyFrame) => void;
  readonly onDisplaced: () => void;
  readonly onRefused: (code: RefusalCode, message: string) => void;
  /** The relay broke the order or the form. */
  readonly onViolation: (reason: string) => void;
}

/** Takes the frames of one session in order. */
export interface FrameReader {
  readonly text: (frame: Uint8Array) => void;
  readonly binary: (frame: Uint8Array) => void;
}

/** Builds the reader of one session. `prove` sends the answer to the challenge. */
export function createFrameReader(
  identity: MailboxIdentity,
  prove: (auth: AuthFrame) => void,
  events: FrameEvents,
): FrameReader {
  let phase: "new" | "proving" | "ready" = "new";

  const beforeReady = (frame: RelayFrame): void => {
    if (frame.type === "challenge" && phase === "new") {
      const auth = proofOf(identity, frame);
      if (auth === undefined) return events.onViolation("the relay's challenge is out of range");
      phase = "proving";
      return prove(auth);
    }
    if (frame.type === "ready" && phase === "proving") {
      phase = "ready";
      return events.onReady(frame);
    }
    return events.onViolation(`the relay sent ${frame.type} out of order`);
  };

  return {
    text: (bytes) => {
      const text = parseUtf8(bytes);
      const parsed = text.ok ? parseRelayFrame(text.value) : text;
      if (!parsed.ok) {
        return events.onViolation("the relay sent a frame of no known form; update pixie");
      }
      const frame = parsed.value;
      if (frame.type === "displaced") return events.onDisplaced();
      if (frame.type === "refused") return events.onRefused(frame.error, frame.message);
      return phase === "ready" ? afterReady(frame, events) : beforeReady(frame);
    },
    binary: (bytes) => {
      if (phase !== "ready") return events.onViolation("the relay sent a delivery out of order");
      const delivery = parseDelivery(bytes);
      if (!delivery.ok) return events.onViolation(`the relay sent ${delivery.error.reason}`);
      return events.onDelivery(delivery.value);
    },
  };
}

function afterReady(frame: RelayFrame, events: FrameEvents): void {
  if (frame.type === "reply") return events.onReply(frame);
  const through = frame.type === "drained" ? parseU64(frame.through) : undefined;
  if (through?.ok === true) return events.onDrained(through.value);
  return events.onViolation(`the relay sent ${frame.type} out of order or out of range`);
}

function proofOf(identity: MailboxIdentity, challenge: ChallengeFrame): AuthFrame | undefined {
  const nonce = parseBase64Url(challenge.nonce);
  const time = parseU64(challenge.time);
  if (!nonce.ok || !time.ok) return undefined;
  return {
    type: "auth",
    device_id: toBase64Url(identity.deviceId),
    sig: toBase64Url(identity.answerChallenge(nonce.value, time.value)),
  };
}
