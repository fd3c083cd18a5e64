/**
 * One turn of work on one outgoing payload: what ended is ended, sealings that were not answered
 * are posted again as they are, copies that seem lost are queued again, and what is due is sealed
 * and posted. Every change of state is a transaction of its own, so a crash between any two lines
 * leaves an entry that the next turn understands.
 *
 * Spec: docs/protocol.md "Sender state".
 */
import { newestList } from "../identity/lists.ts";
import type { RelayTime } from "../identity/relay-time.ts";
import { getContact } from "../store/contacts.ts";
import { peerPrekeyOf } from "../store/lists.ts";
import { confirmedNewer, type OutboxRow } from "../store/outbox.ts";
import type { DeviceStore, ReadTx, WriteTx } from "../store/sqlite.ts";
import type { Rng } from "../../shared/rng.ts";
import type { BundleRefresh } from "./bundle-refresh.ts";
import { routeTo } from "./fan-out.ts";
import { shouldReseal } from "./outbox.ts";
import { type Copy, type Entry, isOpen, type Moment, type OutboxEvent } from "./outbox-entry.ts";
import { applyEvents, loadEntry } from "./outbox-rows.ts";
import { devicesByMailbox, type PostingParts, postSealed } from "./posting.ts";
import { maxReseals, maxResealsToStrangers, overtakenMs, prekeyAskMs } from "./retry-times.ts";
import { revokedCopies, sealDueCopies } from "./sealing.ts";

/** What a turn of work needs. */
export interface EntryWorkParts extends PostingParts {
  readonly store: DeviceStore;
  readonly relayTime: RelayTime;
  readonly bundles: BundleRefresh;
  readonly rng: Rng;
}

/** Does what is due about one entry. */
export async function workOnEntry(parts: EntryWorkParts, row: OutboxRow): Promise<void> {
  const entry = parts.store.write((tx) => endWhatEnded(tx, row, parts.moment()));
  if (entry?.state !== "open") return;
  const { nowMs } = parts.moment();
  for (const slot of slotsToRepeat(entry, nowMs)) await postSealed(parts, slot);
  if (entry.copies.some((copy) => copy.state === "accepted" && copy.nextMs <= nowMs)) {
    await lookAtAccepted(parts, row);
  }
  const current = parts.store.read((tx) => loadEntry(tx, row));
  if (current !== undefined && wantsSealing(current, parts.moment().nowMs)) {
    await sealAndPost(parts, row);
  }
}

function endWhatEnded(tx: WriteTx, row: OutboxRow, moment: Moment): Entry | undefined {
  const entry = loadEntry(tx, row);
  const list = newestList(tx, row.recipientAik);
  if (entry === undefined) return undefined;
  const revoked = list === undefined ? [] : revokedCopies(entry, list);
  return applyEvents(tx, row, [{ type: "time" }, ...revoked], moment);
}

function slotsToRepeat(entry: Entry, nowMs: number): ReadonlySet<string> {
  const slots = entry.copies
    .filter((copy) => copy.state === "sealed" && copy.nextMs <= nowMs)
    .map((copy) => copy.slot);
  return new Set(slots.filter((slot) => slot !== null));
}

function wantsSealing(entry: Entry, nowMs: number): boolean {
  if (entry.state !== "open") return false;
  // No copies yet, or every device was removed before the relay accepted anything.
  if (entry.acceptedMs === null && !entry.copies.some(isOpen)) return entry.nextMs <= nowMs;
  return entry.copies.some((copy) => copy.state === "queued" && copy.nextMs <= nowMs);
}

async function sealAndPost(parts: EntryWorkParts, row: OutboxRow): Promise<void> {
  const aik = row.recipientAik;
  const route = parts.store.read((tx) => routeTo(tx, aik));
  if (!route.ok) {
    return waitFor(parts, row, route.error.reason, parts.moment().nowMs + prekeyAskMs);
  }
  // Never from a bundle that is more than a day old: the device may have destroyed that key.
  const fresh = await parts.bundles.freshen(aik);
  if (!fresh.ok) return waitFor(parts, row, fresh.error.reason, undefined);
  const slot = parts.store.write((tx) =>
    sealDueCopies(tx, row, {
      route: route.value,
      relayNowMs: parts.relayTime.nowMs(route.value.relayOrigin),
      moment: parts.moment(),
      rng: parts.rng,
    }),
  );
  if (slot === undefined) return;
  const unaddressed = await postSealed(parts, slot);
  if (unaddressed.length > 0) await addUnaddressed(parts, row, unaddressed);
}

/** The relay knows devices that got no copy: learn them, and give each a sealing of its own. */
async function addUnaddressed(
  parts: EntryWorkParts,
  row: OutboxRow,
  mailboxes: readonly string[],
): Promise<void> {
  // What only one device may read goes to no other.
  if (row.onlyDevice !== null) return;
  await parts.bundles.fetch(row.recipientAik);
  parts.store.write((tx) => {
    const entry = loadEntry(tx, row);
    const deviceByMailbox = devicesByMailbox(tx, row.recipientAik);
    const deviceIds = mailboxes
      .map((mailbox) => deviceByMailbox.get(mailbox))
      .filter((deviceId) => deviceId !== undefined)
      .filter((deviceId) => mayBeAdded(entry, deviceId));
    if (deviceIds.length > 0) {
      applyEvents(tx, row, [{ type: "unaddressed", deviceIds }], parts.moment());
    }
  });
}

function mayBeAdded(entry: Entry | undefined, deviceId: string): boolean {
  const copy = entry?.copies.find((candidate) => candidate.deviceId === deviceId);
  return copy === undefined || (copy.state === "queued" && copy.attempts === 0);
}

async function lookAtAccepted(parts: EntryWorkParts, row: OutboxRow): Promise<void> {
  // Without an answer the decision is made on what is known; the next look is 20 minutes away.
  await parts.bundles.freshen(row.recipientAik);
  parts.store.write((tx) => {
    const moment = parts.moment();
    const entry = loadEntry(tx, row);
    const route = routeTo(tx, row.recipientAik);
    if (entry === undefined) return;
    const relayNowMs = route.ok ? parts.relayTime.nowMs(route.value.relayOrigin) : moment.nowMs;
    const due = entry.copies.filter(
      (copy) => copy.state === "accepted" && copy.nextMs <= moment.nowMs,
    );
    applyEvents(tx, row, resealEvents(tx, row, due, { nowMs: moment.nowMs, relayNowMs }), moment);
  });
}

function resealEvents(
  tx: ReadTx,
  row: OutboxRow,
  due: readonly Copy[],
  times: { readonly nowMs: number; readonly relayNowMs: number },
): readonly OutboxEvent[] {
  const relation = getContact(tx, row.recipientAik)?.relation;
  const limit = relation === "invited" ? maxResealsToStrangers : maxReseals;
  const lost: string[] = [];
  const givenUp: string[] = [];
  const fine: string[] = [];
  for (const copy of due) {
    const { deviceId, acceptedMs } = copy;
    const device = { recipientAik: row.recipientAik, deviceId };
    const facts = {
      ...times,
      newestPrekeyMs: peerPrekeyOf(tx, row.recipientAik, deviceId)?.notBeforeMs,
      overtaken:
        acceptedMs !== null && confirmedNewer(tx, device, acceptedMs, times.nowMs - overtakenMs),
    };
    if (!shouldReseal(copy, facts)) fine.push(deviceId);
    else (copy.reseals < limit ? lost : givenUp).push(deviceId);
  }
  const reason = `sealed ${limit} times more without a confirmation: that device may have lost its keys`;
  const events: readonly OutboxEvent[] = [
    { type: "reseal", deviceIds: lost },
    { type: "checked", deviceIds: fine, reason: undefined },
    { type: "checked", deviceIds: givenUp, reason: givenUp.length > 0 ? reason : undefined },
  ];
  return events;
}

function waitFor(
  parts: EntryWorkParts,
  row: OutboxRow,
  reason: string,
  untilMs: number | undefined,
): void {
  parts.store.write((tx) =>
    applyEvents(tx, row, [{ type: "waits", reason, untilMs }], parts.moment()),
  );
}
