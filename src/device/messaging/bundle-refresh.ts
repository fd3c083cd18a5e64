/**
 * Fetches what is new of an account: its lists and prekeys. One fetch per account at a time, whoever
 * asks; what was learned makes waiting payloads due.
 *
 * Spec: docs/protocol.md "Prekey" (never older than 24 h), "Metadata rules for the client" (4).
 */
import type { Clock } from "../../shared/clock.ts";
import { maxBundleAgeMs } from "../../shared/limits.ts";
import { err, ok, type Result } from "../../shared/result.ts";
import { type BundleChange, bundleRequest, learnBundle } from "../identity/bundles.ts";
import { oweRecovered } from "../identity/sync.ts";
import type { RelayTime } from "../identity/relay-time.ts";
import { getOwnAccount } from "../store/identity.ts";
import { bundleFetchedMs } from "../store/lists.ts";
import { wakeRecipient } from "../store/outbox-due.ts";
import type { DeviceStore } from "../store/sqlite.ts";
import type { RelayTransport } from "../transport/port.ts";

/** What fetching needs. */
export interface BundleRefreshParts {
  readonly store: DeviceStore;
  readonly transport: Pick<RelayTransport, "fetchBundle">;
  readonly relayTime: RelayTime;
  readonly clock: Clock;
  /** Runs after a fetch changed something: devices joined or left, keys came. */
  readonly onLearned: (aik: string, change: BundleChange) => void;
}

/** Why nothing was learned, for a person. `refused`: the relay's own code. */
export interface RefreshError {
  readonly reason: string;
  readonly refused: string | undefined;
}

export interface BundleRefresh {
  /** Fetches now, or joins the fetch that is under way. */
  readonly fetch: (aik: string) => Promise<Result<undefined, RefreshError>>;
  /** Fetches when what we have is too old to seal from. */
  readonly freshen: (aik: string) => Promise<Result<undefined, RefreshError>>;
}

/** Builds the fetcher. Bound: one request per account in flight. */
export function createBundleRefresh(parts: BundleRefreshParts): BundleRefresh {
  const underWay = new Map<string, Promise<Result<undefined, RefreshError>>>();

  const fetch = (aik: string): Promise<Result<undefined, RefreshError>> => {
    const running = underWay.get(aik);
    if (running !== undefined) return running;
    const started = fetchOnce(parts, aik).finally(() => underWay.delete(aik));
    underWay.set(aik, started);
    return started;
  };

  return {
    fetch,
    freshen: async (aik) => (isFresh(parts, aik) ? ok(undefined) : await fetch(aik)),
  };
}

function isFresh(parts: BundleRefreshParts, aik: string): boolean {
  const { store, relayTime } = parts;
  return store.read((tx) => {
    const fetchedMs = bundleFetchedMs(tx, aik);
    const origin = bundleRequest(tx, aik, 0)?.relayOrigin;
    if (fetchedMs === undefined || origin === undefined) return false;
    return relayTime.nowMs(origin) - fetchedMs < maxBundleAgeMs;
  });
}

async function fetchOnce(
  parts: BundleRefreshParts,
  aik: string,
  since?: number,
): Promise<Result<undefined, RefreshError>> {
  const { store, transport, relayTime, clock } = parts;
  const asked = store.read((tx) => {
    const origin = bundleRequest(tx, aik, 0)?.relayOrigin;
    return origin === undefined
      ? undefined
      : bundleRequest(tx, aik, relayTime.nowMs(origin), since);
  });
  if (asked === undefined) return fault("no key to their mailbox is known yet");
  const answer = await transport.fetchBundle(asked.relayOrigin, asked.request);
  if (!answer.ok) {
    return answer.error.type === "refused"
      ? fault(answer.error.refusal.message, answer.error.refusal.code)
      : fault(answer.error.reason);
  }
  relayTime.learn(asked.relayOrigin, answer.value.relayTimeMs);
  const learned = store.write((tx) => {
    const change = learnBundle(tx, aik, answer.value.reply, answer.value.relayTimeMs);
    if (change.ok && isNews(change.value)) wakeRecipient(tx, aik, clock.nowMs());
    if (change.ok && getOwnAccount(tx)?.aik === aik) oweRecovered(tx, change.value.added);
    return change;
  });
  if (learned.ok) {
    if (isNews(learned.value)) parts.onLearned(aik, learned.value);
    return ok(undefined);
  }
  // A gap between what we hold and what came: ask for the whole chain, once.
  if (learned.error.type === "list-gap" && since !== 0) return await fetchOnce(parts, aik, 0);
  return fault(
    learned.error.type === "list-foreign"
      ? "their relay names another identity key: word of its renewal has not come yet"
      : `their device list is not acceptable (${learned.error.type})`,
  );
}

/** Whether a bundle brought anything that was not known. */
function isNews(change: BundleChange): boolean {
  return (
    change.pinned ||
    change.renewed.length > 0 ||
    change.added.length > 0 ||
    change.revoked.length > 0
  );
}

function fault(
  reason: string,
  refused?: string,
): { readonly ok: false; readonly error: RefreshError } {
  return err({ reason, refused });
}
