/**
 * The life of one outgoing payload: one entry, one copy per recipient device. Pure: an entry, what
 * happened, the time and a random fraction in; the next entry out. `pump.ts` acts and stores.
 *
 *   QUEUED → SEALED → ACCEPTED → CONFIRMED      ACCEPTED → QUEUED again (a re-seal)
 *   SEALED → QUEUED when the relay wants another sealing, or a mailbox is full
 *   ACCEPTED or CONFIRMED → QUEUED when the device or its relay asks for it after a restore
 *   anything open → DROPPED (device removed) | EXPIRED (30 d after composing)
 *
 * Copies exist for the devices that were addressed when the relay first accepted the entry. Until
 * then the set follows the recipient's list; afterwards it never grows, because a device added
 * later gets earlier messages from its siblings.
 *
 * Spec: docs/protocol.md "Sender state".
 */
import { outboxLifeMs } from "../../shared/limits.ts";
import { assertNever } from "../../shared/result.ts";
import type { RefusalCode } from "../../shared/wire/errors.ts";
import {
  type Copy,
  ensureCopies,
  type Entry,
  inSlot,
  isOpen,
  type Moment,
  ofDevices,
  type OutboxEvent,
  requeued,
  requeuedOpen,
  retried,
} from "./outbox-entry.ts";
import {
  checkMs,
  newPrekeyMs,
  networkRetry,
  overtakenMs,
  prekeyAskMs,
  recipientRetry,
  resealMs,
  retryMs,
  tokenPatienceMs,
} from "./retry-times.ts";

/** The entry after an event. An entry that ended stays as it is, except that a late receipt counts. */
export function step(entry: Entry, event: OutboxEvent, moment: Moment): Entry {
  if (event.type === "confirmed") return settle(confirm(entry, event.deviceId, moment.nowMs));
  if (event.type === "resend") return resent(entry, event.deviceIds, moment.nowMs);
  if (entry.state !== "open") return entry;
  if (moment.nowMs >= entry.composedMs + outboxLifeMs) return expire(entry);
  return settle(
    isDecision(event) ? decided(entry, event, moment.nowMs) : afterSealing(entry, event, moment),
  );
}

/** Whether an accepted copy should be sealed again. All of it is decided here. */
export function shouldReseal(
  copy: Copy,
  facts: {
    readonly nowMs: number;
    readonly relayNowMs: number;
    readonly newestPrekeyMs: number | undefined;
    /** The device confirmed something accepted later, ten minutes ago or more. */
    readonly overtaken: boolean;
  },
): boolean {
  if (copy.state !== "accepted" || copy.acceptedMs === null) return false;
  if (facts.nowMs < copy.acceptedMs + resealMs(copy.reseals)) return false;
  const newest = facts.newestPrekeyMs;
  const usedOldPrekey =
    newest !== undefined &&
    copy.prekeyNotBeforeMs !== null &&
    newest > copy.prekeyNotBeforeMs &&
    facts.relayNowMs - newest > newPrekeyMs;
  return usedOldPrekey || facts.overtaken;
}

type OpenEvent = Exclude<OutboxEvent, { type: "confirmed" | "resend" }>;
type Decision = Extract<OpenEvent, { type: (typeof decisions)[number] }>;

const decisions = [
  "reseal",
  "renewed",
  "overtaken",
  "checked",
  "revoked",
  "nobody",
  "impossible",
  "time",
] as const;

function isDecision(event: OpenEvent): event is Decision {
  return decisions.some((type) => type === event.type);
}

/** What sealing and the relay bring about. */
function afterSealing(entry: Entry, event: Exclude<OpenEvent, Decision>, moment: Moment): Entry {
  switch (event.type) {
    case "sealed":
      return sealed(entry, event, moment.nowMs);
    case "answered":
      return answered(entry, event, moment);
    case "refused":
      return refused(entry, event, moment);
    case "unanswered":
      return inSlot({ ...entry, reason: event.reason }, event.slot, (copy) =>
        retried(copy, networkRetry, moment),
      );
    case "no-prekey":
      return ensureCopies(entry, event.deviceIds, moment.nowMs + prekeyAskMs);
    case "unaddressed":
      return ensureCopies(entry, event.deviceIds, moment.nowMs);
    case "waits":
      return waits(entry, event, moment);
    default:
      return assertNever(event);
  }
}

/** What this device decides by itself. */
function decided(entry: Entry, event: Decision, nowMs: number): Entry {
  switch (event.type) {
    case "reseal":
      // A confirmed copy is never sealed again by itself.
      return ofDevices(entry, event.deviceIds, (copy) =>
        copy.state === "accepted"
          ? { ...requeued(copy, nowMs), attempts: 0, reseals: copy.reseals + 1 }
          : copy,
      );
    case "renewed":
      return requeuedOpen(entry, nowMs);
    case "overtaken":
      return ofDevices(entry, [event.deviceId], (copy) =>
        copy.state === "accepted"
          ? { ...copy, nextMs: Math.min(copy.nextMs, lookMs(copy, nowMs + overtakenMs)) }
          : copy,
      );
    case "checked":
      return ofDevices(
        { ...entry, reason: event.reason ?? entry.reason },
        event.deviceIds,
        (copy) => ({ ...copy, nextMs: nowMs + checkMs }),
      );
    case "revoked":
      return ofDevices(entry, event.deviceIds, (copy) =>
        isOpen(copy) ? { ...copy, state: "dropped", slot: null } : copy,
      );
    case "nobody":
      return { ...entry, state: "done", reason: null };
    case "impossible":
      return { ...entry, state: "failed", reason: event.reason };
    case "time":
      return entry;
    default:
      return assertNever(event);
  }
}

/** When a copy is next worth a look: not before it may be sealed again. */
function lookMs(copy: Copy, notBeforeMs: number): number {
  return Math.max(notBeforeMs, (copy.acceptedMs ?? 0) + resealMs(copy.reseals));
}

function sealed(
  entry: Entry,
  event: Extract<OutboxEvent, { type: "sealed" }>,
  nowMs: number,
): Entry {
  const ids = event.targets.map((target) => target.deviceId);
  const notBefore = new Map(event.targets.map((target) => [target.deviceId, target.notBeforeMs]));
  return ofDevices(ensureCopies(entry, ids, nowMs), ids, (copy) =>
    copy.state === "queued"
      ? {
          ...copy,
          state: "sealed",
          slot: event.slot,
          prekeyNotBeforeMs: notBefore.get(copy.deviceId) ?? null,
          nextMs: nowMs,
        }
      : copy,
  );
}

function answered(
  entry: Entry,
  event: Extract<OutboxEvent, { type: "answered" }>,
  moment: Moment,
): Entry {
  const { nowMs } = moment;
  const stored = [...event.results.values()].some((state) => state !== "full");
  const next = { ...entry, reason: null, acceptedMs: entry.acceptedMs ?? (stored ? nowMs : null) };
  return inSlot(next, event.slot, (copy) => {
    const result = event.results.get(copy.deviceId) ?? "full";
    if (result === "full") return retried(requeued(copy, nowMs), recipientRetry, moment);
    return {
      ...copy,
      state: entry.confirmed ? "accepted" : "confirmed",
      slot: null,
      acceptedMs: nowMs,
      attempts: 0,
      nextMs: nowMs + resealMs(copy.reseals),
    };
  });
}

/** Refusals that say "later" leave the sealing as it is; all others ask for a new one. */
const laterCodes: ReadonlySet<RefusalCode> = new Set([
  "rate-limited",
  "overloaded",
  "storage-full",
]);

function refused(
  entry: Entry,
  event: Extract<OutboxEvent, { type: "refused" }>,
  moment: Moment,
): Entry {
  const { nowMs } = moment;
  const reason = refusalReason(event.code, nowMs - entry.composedMs);
  const bounds = event.code === "token-invalid" ? recipientRetry : networkRetry;
  return inSlot({ ...entry, reason }, event.slot, (copy) => {
    const base = laterCodes.has(event.code) ? copy : requeued(copy, nowMs);
    const next = retried(base, bounds, moment);
    return { ...next, nextMs: Math.max(next.nextMs, nowMs + event.retryAfterMs) };
  });
}

function refusalReason(code: RefusalCode, ageMs: number): string {
  if (code !== "token-invalid") return `the relay refused it for now (${code})`;
  return ageMs < tokenPatienceMs
    ? "the recipient's key has changed; waiting for the new one"
    : "the recipient's key has changed; ask them for a new invite";
}

function waits(
  entry: Entry,
  event: Extract<OutboxEvent, { type: "waits" }>,
  moment: Moment,
): Entry {
  const attempts = entry.attempts + 1;
  const untilMs = event.untilMs ?? moment.nowMs + retryMs(attempts, networkRetry, moment.fraction);
  const copies = entry.copies.map((copy): Copy =>
    copy.state === "queued" ? { ...copy, nextMs: Math.max(copy.nextMs, untilMs) } : copy,
  );
  return { ...entry, reason: event.reason, attempts, nextMs: untilMs, copies };
}

function confirm(entry: Entry, deviceId: string, nowMs: number): Entry {
  const next = ofDevices(entry, [deviceId], (copy) =>
    copy.state === "confirmed"
      ? copy
      : {
          ...copy,
          state: "confirmed",
          slot: null,
          acceptedMs: copy.acceptedMs ?? nowMs,
          confirmedMs: nowMs,
        },
  );
  const counted = next.copies.some((copy) => copy.deviceId === deviceId);
  // A receipt proves acceptance, even when the relay's answer was lost.
  return counted ? { ...next, acceptedMs: entry.acceptedMs ?? nowMs } : next;
}

function expire(entry: Entry): Entry {
  const copies = entry.copies.map((copy): Copy =>
    isOpen(copy) ? { ...copy, state: "expired", slot: null } : copy,
  );
  return { ...entry, state: "expired", reason: "nobody confirmed it within 30 days", copies };
}

/** What was accepted or even confirmed goes again; an entry that had ended with that is open again. */
function resent(entry: Entry, deviceIds: readonly string[], nowMs: number): Entry {
  if (entry.state === "failed" || entry.state === "expired") return entry;
  if (nowMs >= entry.composedMs + outboxLifeMs) return entry;
  const again = ofDevices(entry, deviceIds, (copy) =>
    copy.state === "accepted" || copy.state === "confirmed"
      ? { ...requeued(copy, nowMs), attempts: 0 }
      : copy,
  );
  const isOpenAgain = again.copies.some((copy) => copy.state === "queued");
  return isOpenAgain ? settle({ ...again, state: "open" }) : entry;
}

/** Derives the entry's own state and due time from its copies. */
function settle(entry: Entry): Entry {
  const open = entry.copies.filter(isOpen);
  if (open.length > 0) {
    const due = Math.min(...open.map((copy) => copy.nextMs), entry.composedMs + outboxLifeMs);
    return { ...entry, nextMs: due };
  }
  if (entry.copies.length === 0 || entry.state === "failed") return entry;
  if (entry.copies.some((copy) => copy.state === "expired")) return entry;
  if (entry.copies.some((copy) => copy.state === "confirmed")) {
    return { ...entry, state: "done", reason: null };
  }
  // Every addressed device is gone. Before the first acceptance the next fan-out decides anew.
  if (entry.acceptedMs === null) return entry;
  return { ...entry, state: "failed", reason: "every device that it was sent to was removed" };
}
