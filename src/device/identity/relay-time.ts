/**
 * What time it is at a relay. Slot days, token expiries, prekey ages and invites are all judged by
 * the relay's clock, so a device remembers how far its own is off, per relay; the local clock never
 * decides whether something opens.
 *
 * Every answer of a relay carries its time. What was learned survives a restart.
 *
 * Spec: docs/protocol.md "Keys" (relay time).
 */
import type { Clock } from "../../shared/clock.ts";
import { getSetting, putSetting } from "../store/settings.ts";
import type { DeviceStore } from "../store/sqlite.ts";

/** Relay clocks as this device knows them. Units: ms. */
export interface RelayTime {
  /** Now, on that relay's clock; the local clock until the relay has answered once. */
  readonly nowMs: (relayOrigin: string) => number;
  /** How far that relay is ahead of the local clock. */
  readonly offsetMs: (relayOrigin: string) => number;
  /** Takes in the time of an answer that just arrived. */
  readonly learn: (relayOrigin: string, relayTimeMs: number) => void;
}

/** Smaller drifts stay in memory: they are the noise of the network, and a write costs an fsync. */
const worthStoringMs = 5_000;
const settingPrefix = "relay-offset:";

/** Builds the clocks over what the store remembers. */
export function createRelayTime(clock: Clock, store: DeviceStore): RelayTime {
  const offsets = new Map<string, number>();

  const offsetMs = (origin: string): number => {
    const known = offsets.get(origin) ?? storedOffset(store, origin);
    offsets.set(origin, known);
    return known;
  };

  return {
    offsetMs,
    nowMs: (origin) => clock.nowMs() + offsetMs(origin),
    learn: (origin, relayTimeMs) => {
      const offset = Math.round(relayTimeMs - clock.nowMs());
      offsets.set(origin, offset);
      if (Math.abs(offset - storedOffset(store, origin)) >= worthStoringMs) {
        store.write((tx) => putSetting(tx, settingPrefix + origin, String(offset)));
      }
    },
  };
}

function storedOffset(store: DeviceStore, origin: string): number {
  const stored = store.read((tx) => getSetting(tx, settingPrefix + origin));
  return stored === undefined ? 0 : Number(stored);
}
