/**
 * What the outbox keeps about one payload, and what can happen to it. The shapes of `outbox.ts`,
 * with the few changes that its steps are made of.
 *
 * Spec: docs/protocol.md "Sender state".
 */
import type { RefusalCode } from "../../shared/wire/errors.ts";
import { type RetryBounds, retryMs } from "./retry-times.ts";

/** One copy. `slot` names its sealing while it is SEALED. Times in ms. */
export interface Copy {
  readonly deviceId: string;
  readonly state: "queued" | "sealed" | "accepted" | "confirmed" | "dropped" | "expired";
  readonly slot: string | null;
  readonly prekeyNotBeforeMs: number | null;
  readonly acceptedMs: number | null;
  readonly confirmedMs: number | null;
  readonly nextMs: number;
  readonly attempts: number;
  readonly reseals: number;
}

/** One payload for one account. Times in ms of this device's clock. */
export interface Entry {
  readonly state: "open" | "done" | "expired" | "failed";
  readonly reason: string | null;
  readonly composedMs: number;
  /** Whether a receipt ends it, or acceptance by the relay does. */
  readonly confirmed: boolean;
  readonly acceptedMs: number | null;
  readonly nextMs: number;
  readonly attempts: number;
  readonly copies: readonly Copy[];
}

/** What became of one copy at the relay. */
export type CopyResult = "stored" | "duplicate" | "full";

/** Something that happened to an entry. */
export type OutboxEvent =
  /** Sealed and stored; `slot` is about to be posted. */
  | {
      readonly type: "sealed";
      readonly slot: string;
      readonly targets: readonly { readonly deviceId: string; readonly notBeforeMs: number }[];
    }
  /** The relay committed the upload. */
  | {
      readonly type: "answered";
      readonly slot: string;
      readonly results: ReadonlyMap<string, CopyResult>;
    }
  /** The relay refused the whole upload. */
  | {
      readonly type: "refused";
      readonly slot: string;
      readonly code: RefusalCode;
      readonly retryAfterMs: number;
    }
  /** No answer: the identical bytes are posted again. */
  | { readonly type: "unanswered"; readonly slot: string; readonly reason: string }
  /** Devices that belong to it and cannot be sealed to yet. */
  | { readonly type: "no-prekey"; readonly deviceIds: readonly string[] }
  /** Nothing can be sealed at all before `untilMs`, or before something is learned. */
  | { readonly type: "waits"; readonly reason: string; readonly untilMs: number | undefined }
  /** The relay named devices that got no copy. */
  | { readonly type: "unaddressed"; readonly deviceIds: readonly string[] }
  /** A receipt of that device. */
  | { readonly type: "confirmed"; readonly deviceId: string }
  /** That device, or its relay, came back without what it had: send again, confirmed or not. */
  | { readonly type: "resend"; readonly deviceIds: readonly string[] }
  /** Copies that seem to be lost to their devices. */
  | { readonly type: "reseal"; readonly deviceIds: readonly string[] }
  /** Our identity key was renewed: nobody takes what was certified under the old one. */
  | { readonly type: "renewed" }
  /** That device confirmed something newer: if it does not confirm this one soon, it lost it. */
  | { readonly type: "overtaken"; readonly deviceId: string }
  /** Copies that were looked at and left alone; with `reason` when re-sealing has come to its end. */
  | {
      readonly type: "checked";
      readonly deviceIds: readonly string[];
      readonly reason: string | undefined;
    }
  | { readonly type: "revoked"; readonly deviceIds: readonly string[] }
  /** The account has no device to send to: nothing to do. */
  | { readonly type: "nobody" }
  /** Sealing is impossible, and no retry helps. */
  | { readonly type: "impossible"; readonly reason: string }
  | { readonly type: "time" };

/** When something happens: the time and a random fraction in [0, 1) for back-off. */
export interface Moment {
  readonly nowMs: number;
  readonly fraction: number;
}

/** Whether anything may still happen to a copy by itself. */
export function isOpen(copy: Copy): boolean {
  return copy.state === "queued" || copy.state === "sealed" || copy.state === "accepted";
}

/** A copy that wants a new sealing. */
export function requeued(copy: Copy, nowMs: number): Copy {
  return { ...copy, state: "queued", slot: null, nextMs: nowMs };
}

/** An entry all of whose copies that may still change want a new sealing. */
export function requeuedOpen(entry: Entry, nowMs: number): Entry {
  const copies = entry.copies.map((copy) =>
    isOpen(copy) ? { ...requeued(copy, nowMs), attempts: 0 } : copy,
  );
  return { ...entry, copies };
}

/** A copy after one more fruitless try. */
export function retried(copy: Copy, bounds: RetryBounds, moment: Moment): Copy {
  const attempts = copy.attempts + 1;
  return { ...copy, attempts, nextMs: moment.nowMs + retryMs(attempts, bounds, moment.fraction) };
}

/** Changes the copies of one sealing. */
export function inSlot(entry: Entry, slot: string, change: (copy: Copy) => Copy): Entry {
  const copies = entry.copies.map((copy) =>
    copy.state === "sealed" && copy.slot === slot ? change(copy) : copy,
  );
  return { ...entry, copies };
}

/** Changes the copies of some devices. */
export function ofDevices(
  entry: Entry,
  deviceIds: readonly string[],
  change: (copy: Copy) => Copy,
): Entry {
  const copies = entry.copies.map((copy) =>
    deviceIds.includes(copy.deviceId) ? change(copy) : copy,
  );
  return { ...entry, copies };
}

/** Copies for these devices: new ones are queued, queued ones become due at `nextMs`. */
export function ensureCopies(entry: Entry, deviceIds: readonly string[], nextMs: number): Entry {
  const known = new Set(entry.copies.map((copy) => copy.deviceId));
  const added = deviceIds
    .filter((deviceId) => !known.has(deviceId))
    .map((deviceId): Copy => ({
      deviceId,
      state: "queued",
      slot: null,
      prekeyNotBeforeMs: null,
      acceptedMs: null,
      confirmedMs: null,
      nextMs,
      attempts: 0,
      reseals: 0,
    }));
  const copies = entry.copies.map((copy): Copy =>
    copy.state === "queued" && deviceIds.includes(copy.deviceId) ? { ...copy, nextMs } : copy,
  );
  return { ...entry, copies: [...copies, ...added] };
}
