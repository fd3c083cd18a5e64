/**
 * Authentication of a mailbox connection: a fresh challenge, answered once, by the device's own key.
 *
 * Spec: docs/protocol.md "The mailbox connection".
 */
import type { Clock } from "../../shared/clock.ts";
import { verifyChallenge } from "../../shared/crypto/relay-auth.ts";
import { idFromText, parseId } from "../../shared/ids.ts";
import { challengeMs } from "../../shared/limits.ts";
import type { AuthFrame } from "../../shared/wire/frames.ts";
import type { KnownDevice } from "../store/devices.ts";

/** What the relay asked a connection to sign. */
export interface Challenge {
  readonly nonce: Uint8Array;
  readonly timeMs: bigint;
}

/** The device that answered, or undefined: unknown, revoked, or a wrong signature. */
export type Authenticate = (
  frame: AuthFrame,
  challenge: Challenge,
) => Promise<KnownDevice | undefined>;

// A key whose private half nobody holds: an unknown device costs the same verification.
const nobody = new Uint8Array(32).fill(1);

/** The last of the time to answer, in which a loop that is late reads what has come. Units: ms. */
const lastLookMs = 1_000;

/**
 * Gives a device its time to answer; `onLate` is called once it is over, unless the returned function was
 * called before.
 */
export function startAnswerTime(clock: Clock, onLate: () => void): () => void {
  // In a storm of reconnects the loop comes to its timers late, and to them before it reads its sockets:
  // of two steps the second one never comes before what had arrived at the first.
  let cancel = clock.schedule(challengeMs - lastLookMs, () => {
    cancel = clock.schedule(lastLookMs, onLate);
  });
  return () => cancel();
}

/** Builds the check. */
export function createAuthenticate(
  findDevice: (deviceId: string) => Promise<KnownDevice | undefined>,
  originDigest: () => Uint8Array,
): Authenticate {
  return async (frame, challenge) => {
    const signature = parseId(frame.sig, 64);
    if (!parseId(frame.device_id).ok || !signature.ok) return undefined;
    const device = await findDevice(frame.device_id);
    const claim = {
      originDigest: originDigest(),
      nonce: challenge.nonce,
      deviceId: idFromText(frame.device_id),
      timeMs: challenge.timeMs,
    };
    return verifyChallenge(claim, device?.dsk ?? nobody, signature.value) ? device : undefined;
  };
}
