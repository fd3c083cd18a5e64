/**
 * Two devices of one account at a rendezvous: a real relay's, or one in memory whose answers a test
 * may spoil. Waiting between polls passes fifty times faster than the clock says.
 */
import type { GrantLinkParts } from "../../../src/device/identity/grant-link.ts";
import { learnBundle, bundleRequest } from "../../../src/device/identity/bundles.ts";
import { newestList } from "../../../src/device/identity/lists.ts";
import { answerChallenge, ownIdentity } from "../../../src/device/identity/keys.ts";
import type { OfferLinkParts } from "../../../src/device/identity/offer-link.ts";
import { preparePrekey, prekeyPublished } from "../../../src/device/identity/prekeys.ts";
import type { AskError, Rendezvous } from "../../../src/device/identity/rendezvous.ts";
import type { DeviceStore } from "../../../src/device/store/sqlite.ts";
import type {
  MailboxConnection,
  MailboxState,
  RelayTransport,
} from "../../../src/device/transport/port.ts";
import type { Relay } from "../../../src/relay/index.ts";
import { type Clock, systemClock } from "../../../src/shared/clock.ts";
import { checkSuccessor, parseDeviceList } from "../../../src/shared/crypto/device-list.ts";
import { err, ok, type Result } from "../../../src/shared/result.ts";
import { systemRng } from "../../../src/shared/rng.ts";
import { refusal } from "../../../src/shared/wire/errors.ts";
import type { ManualClock } from "../../support/manual-clock.ts";
import { testOrigin, valueOf } from "../../support/people.ts";
import { createEventLog } from "../transport/misbehaving.ts";
import { memoryStore, registered, type Registered } from "./identity-world.ts";

/** The system's clock with short waits. */
export const hastyClock: Clock = {
  nowMs: systemClock.nowMs,
  schedule: (delayMs, run) => systemClock.schedule(delayMs / 50, run),
};

/** What the new device asks for. */
export const wishes = { relayOrigin: testOrigin, deviceName: "Tablet" };

/** Moves time a second at a time until something has come about. */
export async function until(clock: ManualClock, condition: () => boolean): Promise<void> {
  while (!condition()) await clock.advance(1_000);
}

/** An admin device at a relay, and what it links others with. */
export interface Admin extends Registered {
  readonly parts: GrantLinkParts;
  readonly changes: () => number;
}

/** Registers an account at a real relay and connects its device. */
export async function adminAt(relay: Relay, transport: RelayTransport): Promise<Admin> {
  const admin = registered(`Alice ${systemRng(4).join("")}`, {
    relayOrigin: relay.origin,
    nowMs: Date.now(),
  });
  valueOf(await transport.register(relay.url, admin.created.request));
  const mailbox = await connect(transport, admin.store);
  return withParts(admin, {
    rendezvous: transport,
    clock: hastyClock,
    updateList: (request) => mailbox.request(request),
    refreshOwnBundle: () => refreshBundle(transport, admin.store),
  });
}

/** An admin device whose relay is a plain object: lists are taken when they follow the newest. */
export function adminWith(
  rendezvous: Rendezvous,
  change: Partial<Pick<GrantLinkParts, "clock" | "updateList" | "refreshOwnBundle">> = {},
): Admin {
  const admin = registered("Alice", { nowMs: Date.now() });
  return withParts(admin, {
    rendezvous,
    clock: hastyClock,
    updateList: (request) => {
      const known = admin.store.read((tx) => newestList(tx, admin.own.aikText));
      if (known === undefined) throw new Error("no list");
      const step = checkSuccessor(known, valueOf(parseDeviceList(request.deviceList)));
      return Promise.resolve(step.ok ? ok(undefined) : err(conflict));
    },
    refreshOwnBundle: () => Promise.resolve(),
    ...change,
  });
}

function withParts(
  admin: Registered,
  parts: Pick<GrantLinkParts, "rendezvous" | "clock" | "updateList" | "refreshOwnBundle">,
): Admin {
  let changes = 0;
  return {
    ...admin,
    changes: () => changes,
    parts: {
      ...parts,
      store: admin.store,
      rng: systemRng,
      relayNowMs: () => Date.now(),
      onChanged: () => {
        changes += 1;
      },
    },
  };
}

/** A device that belongs to nobody yet. */
export function newcomer(rendezvous: Rendezvous, clock: Clock = hastyClock): OfferLinkParts {
  return { store: memoryStore(), clock, rng: systemRng, rendezvous };
}

/** Connects a linked device as the runtime would, and publishes its first prekey. */
export async function comeOnline(transport: RelayTransport, store: DeviceStore): Promise<void> {
  const mailbox = await connect(transport, store);
  const row = store.write((tx) => {
    const own = ownIdentity(tx);
    return own === undefined ? undefined : preparePrekey(tx, own, Date.now(), systemRng);
  });
  if (row === undefined) throw new Error("no prekey is due");
  const answer = valueOf(await mailbox.request({ type: "publish-prekey", prekey: row.record }));
  store.write((tx) => prekeyPublished(tx, row, answer.relayTimeMs));
}

/** Fetches and learns the own account's bundle. */
export async function refreshBundle(transport: RelayTransport, store: DeviceStore): Promise<void> {
  const aik = store.read(ownIdentity)?.aikText ?? "";
  const asked = store.read((tx) => bundleRequest(tx, aik, Date.now()));
  if (asked === undefined) throw new Error("no route to the own account");
  const answer = valueOf(await transport.fetchBundle(asked.relayOrigin, asked.request));
  valueOf(store.write((tx) => learnBundle(tx, aik, answer.reply, answer.relayTimeMs)));
}

async function connect(transport: RelayTransport, store: DeviceStore): Promise<MailboxConnection> {
  const own = store.read(ownIdentity);
  if (own === undefined) throw new Error("no identity");
  const states = createEventLog<MailboxState>();
  const mailbox = transport.openMailbox(
    {
      relayOrigin: own.relayOrigin,
      deviceId: own.deviceId,
      answerChallenge: (nonce, timeMs) => answerChallenge(own, nonce, timeMs),
    },
    { onState: states.push, onDelivery: () => {}, onDrained: () => {} },
  );
  await states.until((state) => state.type === "ready");
  return mailbox;
}

/** What a write-once box answers the second time. */
export const conflict: AskError = { type: "refused", refusal: refusal("conflict", "taken") };
/** What a network that lost the answer says. */
export const lost: AskError = { type: "unreachable", reason: "the connection was cut" };

/** Boxes in memory. */
export interface FakeRendezvous extends Rendezvous {
  readonly boxes: Map<string, Uint8Array>;
  /** Errors for the next calls, by method and box number: `put 2`. Writes happen all the same. */
  readonly failures: Map<string, AskError[]>;
  readonly calls: string[];
}

/** Boxes as a relay keeps them: written once, read as often as asked. */
export function fakeRendezvous(): FakeRendezvous {
  const boxes = new Map<string, Uint8Array>();
  const failures = new Map<string, AskError[]>();
  const calls: string[] = [];
  const answer = <T>(call: string, reply: Result<T, AskError>): Promise<Result<T, AskError>> => {
    calls.push(call);
    const failure = failures.get(call)?.shift();
    return Promise.resolve(failure === undefined ? reply : err(failure));
  };
  return {
    boxes,
    failures,
    calls,
    putBox: (_origin, id, box, content) => {
      const name = `${id} ${box}`;
      const taken = boxes.has(name);
      if (!taken) boxes.set(name, content);
      return answer(`put ${box}`, taken ? err(conflict) : ok(undefined));
    },
    getBox: (_origin, id, box) => answer(`get ${box}`, ok({ reply: boxes.get(`${id} ${box}`) })),
  };
}
