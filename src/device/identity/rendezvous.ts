/**
 * The four boxes of one linking at a relay: writing one once, and waiting for one. Ten minutes after
 * it began everything ends. What is in the boxes is made and judged in crypto; the relay sees sealed
 * bytes.
 *
 * A write whose answer got lost may have happened: the box is read back before it counts as taken
 * by somebody else.
 *
 * Spec: docs/protocol.md "Rendezvous", "Linking".
 */
import { equalBytes } from "../../shared/bytes.ts";
import { type Clock, sleep } from "../../shared/clock.ts";
import { rendezvousMs } from "../../shared/limits.ts";
import { err, ok, type Result } from "../../shared/result.ts";
import type { Refusal } from "../../shared/wire/errors.ts";
import type { LinkBoxNumber } from "../crypto/link-box.ts";
import type { DeviceError } from "../device.ts";

/** Why a relay gave no answer to act on. */
export type AskError =
  | { readonly type: "refused"; readonly refusal: Refusal }
  | { readonly type: "unreachable" | "protocol"; readonly reason: string };

/** What linking asks of relays; every transport has it. */
export interface Rendezvous {
  readonly putBox: (
    relayOrigin: string,
    id: string,
    box: number,
    content: Uint8Array,
  ) => Promise<Result<unknown, AskError>>;
  readonly getBox: (
    relayOrigin: string,
    id: string,
    box: number,
  ) => Promise<Result<{ readonly reply: Uint8Array | undefined }, AskError>>;
}

/** Where one linking happens, and on whose time. */
export interface RendezvousPlace {
  readonly rendezvous: Rendezvous;
  readonly clock: Clock;
  readonly relayOrigin: string;
  readonly boxId: string;
}

/** One linking's boxes. Every wait ends at the deadline or when cancelled. */
export interface LinkBoxes {
  readonly put: (
    box: LinkBoxNumber,
    content: Uint8Array,
  ) => Promise<Result<undefined, DeviceError>>;
  /** Waits for a box; `forMs` shortens the wait. */
  readonly take: (box: LinkBoxNumber, forMs?: number) => Promise<Result<Uint8Array, DeviceError>>;
  /** Waits a little, for polling something else. False when cancelled or past the deadline. */
  readonly pause: () => Promise<boolean>;
  readonly cancel: () => void;
}

/** People type eight digits in some ten seconds: a second of delay is not noticed. */
const pollMs = 1_000;

/** Opens the boxes of a linking that begins now. */
export function openBoxes(place: RendezvousPlace): LinkBoxes {
  const { clock } = place;
  const cancelled = new AbortController();
  const deadlineMs = clock.nowMs() + rendezvousMs;

  const pauseUntil = async (endMs: number): Promise<DeviceError | undefined> => {
    if (cancelled.signal.aborted) return cancelledError;
    const leftMs = endMs - clock.nowMs();
    if (leftMs <= 0) return timeoutError;
    try {
      await sleep(clock, Math.min(pollMs, leftMs), cancelled.signal);
      return undefined;
    } catch {
      // The only thing that interrupts a sleep is the signal.
      return cancelledError;
    }
  };

  return {
    put: async (box, content) => {
      for (;;) {
        const outcome = await putOnce(place, box, content);
        if (outcome !== "again") return outcome;
        const stop = await pauseUntil(deadlineMs);
        if (stop !== undefined) return err(stop);
      }
    },
    take: async (box, forMs = rendezvousMs) => {
      const endMs = Math.min(deadlineMs, clock.nowMs() + forMs);
      for (;;) {
        const outcome = await takeOnce(place, box);
        if (outcome !== "again") return outcome;
        const stop = await pauseUntil(endMs);
        if (stop !== undefined) return err(stop);
      }
    },
    pause: async () => (await pauseUntil(deadlineMs)) === undefined,
    cancel: () => cancelled.abort(),
  };
}

async function putOnce(
  { rendezvous, relayOrigin, boxId }: RendezvousPlace,
  box: LinkBoxNumber,
  content: Uint8Array,
): Promise<Result<undefined, DeviceError> | "again"> {
  const put = await rendezvous.putBox(relayOrigin, boxId, box, content);
  if (put.ok) return ok(undefined);
  if (isPassing(put.error)) return "again";
  if (put.error.type !== "refused" || put.error.refusal.code !== "conflict") {
    return err(asDeviceError(put.error));
  }
  const there = await rendezvous.getBox(relayOrigin, boxId, box);
  if (!there.ok) return isPassing(there.error) ? "again" : err(asDeviceError(there.error));
  const ours = there.value.reply !== undefined && equalBytes(there.value.reply, content);
  return ours ? ok(undefined) : err(takenError);
}

async function takeOnce(
  { rendezvous, relayOrigin, boxId }: RendezvousPlace,
  box: LinkBoxNumber,
): Promise<Result<Uint8Array, DeviceError> | "again"> {
  const answer = await rendezvous.getBox(relayOrigin, boxId, box);
  if (!answer.ok) return isPassing(answer.error) ? "again" : err(asDeviceError(answer.error));
  return answer.value.reply === undefined ? "again" : ok(answer.value.reply);
}

/** Whether asking again later may help. */
function isPassing(error: AskError): boolean {
  if (error.type !== "refused") return error.type === "unreachable";
  return error.refusal.code === "rate-limited" || error.refusal.code === "overloaded";
}

/** A relay's error as a person may read it. */
export function asDeviceError(error: AskError): DeviceError {
  return error.type === "refused"
    ? { type: error.refusal.code, message: error.refusal.message }
    : { type: error.type, message: error.reason };
}

const timeoutError: DeviceError = {
  type: "link-timeout",
  message: "the other device did not answer in time: start again with a new code",
};
const cancelledError: DeviceError = { type: "link-cancelled", message: "linking was cancelled" };
const takenError: DeviceError = {
  type: "link-taken",
  message: "another device answered this code already: start again with a new code",
};
