/**
 * Heartbeat: pings every 25 s and ends a connection that missed two pongs, however busy it is. Data
 * does not count: a peer that only ever sends may still be deaf (R35, O4).
 */
import type { Clock } from "../../shared/clock.ts";
import { pingIntervalMs } from "../../shared/limits.ts";

/** What a heartbeat acts through. */
export interface HeartbeatPorts {
  readonly ping: () => void;
  /** Two pongs are missing. */
  readonly onDead: () => void;
  readonly clock: Clock;
}

/** A running heartbeat. */
export interface Heartbeat {
  readonly pong: () => void;
  readonly stop: () => void;
}

const maxMissed = 2;

/** Starts one. The first ping is sent after one interval. */
export function startHeartbeat({ ping, onDead, clock }: HeartbeatPorts): Heartbeat {
  let missed = 0;
  let cancel = clock.schedule(pingIntervalMs, beat);
  function beat(): void {
    if (missed >= maxMissed) {
      onDead();
      return;
    }
    missed += 1;
    cancel = clock.schedule(pingIntervalMs, beat);
    ping();
  }
  return {
    pong: () => {
      missed = 0;
    },
    stop: () => cancel(),
  };
}
