/**
 * What a sibling's note does here: its records are taken in, whoever is new is looked up at their relay,
 * and a device that recovered tells people its new key as it learns of them.
 *
 * Called by dispatch.ts within the inbox's transaction. Spec: docs/protocol.md "Notes to siblings".
 */
import type { Rng } from "../../shared/rng.ts";
import type { DeviceEvent } from "../device.ts";
import { tellsKeyToWhomItLearnsOf } from "../identity/sync.ts";
import { applySync } from "../identity/sync-records.ts";
import type { Arrival } from "./inbox.ts";
import { type Payload, queueProfile } from "./payload.ts";
import { allContacts } from "../store/contacts.ts";
import { bundleFetchedMs } from "../store/lists.ts";
import type { WriteTx } from "../store/sqlite.ts";

/** What it needs of a delivery. */
export interface SyncContext {
  readonly tx: WriteTx;
  readonly arrival: Arrival;
  readonly rng: Rng;
  readonly effects: {
    readonly emit: (event: DeviceEvent) => void;
    readonly refresh: (aik: string) => void;
    readonly notice: (notice: string) => void;
  };
}

/** Takes a note in. A topic that is not known is said and left. */
export function takeSync(
  { tx, effects, arrival, rng }: SyncContext,
  payload: Extract<Payload, { kind: "sync" }>,
  senderDevice: string,
): undefined {
  const known = new Set(allContacts(tx).map(({ aik }) => aik));
  const { nowMs } = arrival;
  const outcome = applySync(tx, payload.topic, payload.json, { nowMs, senderDevice });
  if (outcome === undefined) {
    tx.afterCommit(() => effects.notice(`a sibling sent "${payload.topic}": update pixie here`));
    return;
  }
  const tellsKey = tellsKeyToWhomItLearnsOf(tx);
  for (const { aik, relation } of allContacts(tx)) {
    // A sibling tells whom we know; only their relay tells which prekeys they have.
    if (bundleFetchedMs(tx, aik) === undefined) tx.afterCommit(() => effects.refresh(aik));
    if (tellsKey && relation === "contact" && !known.has(aik)) {
      queueProfile(tx, aik, { ...arrival, rng });
    }
  }
  tx.afterCommit(() => effects.emit({ type: "devices" }));
}
