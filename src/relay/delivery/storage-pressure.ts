/**
 * Storage pressure: whether the disk under the database has too little room for anything new. Then
 * uploads, registrations and boxes are refused as `storage-full`, while delivering and acknowledging
 * go on: they need a little room for the log, and are what makes room again. The reserve is that room.
 *
 * Knows no file system: how much is free is asked through a port, every few seconds. A database that
 * says itself that its disk is full is believed for a while; then one upload may try again.
 *
 * Spec: docs/operating.md "A full disk".
 */
import type { Clock } from "../../shared/clock.ts";
import { type Refusal, refusal } from "../../shared/wire/errors.ts";

/** What it decides by. */
export interface StoragePressureOptions {
  /** Bytes that are free, or undefined where that cannot be known. Never rejects. */
  readonly freeBytes: () => Promise<number | undefined>;
  /** Less than this is too little; 0 switches the look at the disk off. Units: bytes. */
  readonly reserveBytes: number;
  readonly clock: Clock;
  /** Told every change. */
  readonly onChange: (full: boolean, freeBytes: number | undefined) => void;
}

/** Storage as the rest of the relay sees it. */
export interface StoragePressure {
  readonly isFull: () => boolean;
  /** As seen last; undefined where it cannot be known. Units: bytes. */
  readonly freeBytes: () => number | undefined;
  /** The database could not write for want of room. */
  readonly noteFull: () => void;
  /** Looks now, and from then on. */
  readonly start: () => Promise<void>;
  readonly close: () => void;
}

const lookMs = 5_000;
/** How long a database's own word counts. Units: ms. */
const noteMs = 30_000;
/** Room beyond the reserve that must come back: else it would switch to and fro. */
const marginShare = 1 / 8;
/** When senders may try again. Units: ms. */
const retryMs = 60_000;

/** The refusal of everything that would be stored. */
export function storageRefusal(): Refusal {
  return refusal("storage-full", "the relay's disk is nearly full: nothing new is taken for now", {
    retryAfterMs: retryMs,
  });
}

/** Builds it. Nothing is full before `start`. */
export function createStoragePressure(options: StoragePressureOptions): StoragePressure {
  const { clock, reserveBytes } = options;
  let low = false;
  let free: number | undefined;
  let notedUntilMs = Number.NEGATIVE_INFINITY;
  let told = false;
  let cancel: (() => void) | undefined;
  let closed = false;

  const isFull = (): boolean => low || clock.nowMs() < notedUntilMs;

  function tell(): void {
    if (isFull() === told) return;
    told = isFull();
    options.onChange(told, free);
  }

  async function look(): Promise<void> {
    if (reserveBytes > 0) free = await options.freeBytes();
    if (free !== undefined) {
      low = free < (low ? reserveBytes * (1 + marginShare) : reserveBytes);
    }
    if (closed) return;
    tell();
    cancel = clock.schedule(lookMs, () => void look());
  }

  return {
    isFull,
    freeBytes: () => free,
    noteFull: () => {
      notedUntilMs = clock.nowMs() + noteMs;
      tell();
    },
    start: look,
    close: () => {
      closed = true;
      cancel?.();
    },
  };
}
