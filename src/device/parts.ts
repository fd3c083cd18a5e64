/**
 * Builds the rooms of a device on its open store and joins them: what the relay delivers goes to
 * the inbox, what it means is decided by dispatch, what is sent because of it is the pump's.
 *
 * No operations for people: those are in runtime.ts.
 */
import type { Clock } from "../shared/clock.ts";
import type { Rng } from "../shared/rng.ts";
import { type Background, createBackground } from "./background.ts";
import { type Connection, createConnection } from "./connection.ts";
import type { Delays, DeviceEvent } from "./device.ts";
import { createDispatch } from "./dispatch.ts";
import type { FinishParts } from "./finish-renewal.ts";
import { ownIdentity } from "./identity/keys.ts";
import { compareView } from "./identity/lists.ts";
import { createRelayTime, type RelayTime } from "./identity/relay-time.ts";
import { payOwedSync, queueNames } from "./identity/sync.ts";
import { type BundleRefresh, createBundleRefresh } from "./messaging/bundle-refresh.ts";
import { createInbox, type Inbox } from "./messaging/inbox.ts";
import type { OpenedMessage } from "./messaging/payload.ts";
import { createPump, type Pump } from "./messaging/pump.ts";
import { mend } from "./mend.ts";
import { getOwnAccount } from "./store/identity.ts";
import type { DeviceStore } from "./store/sqlite.ts";
import type { StoreError } from "./store/store-error.ts";
import type { RelayTransport } from "./transport/port.ts";

/** What the rooms are built on. */
export interface Ground {
  readonly store: DeviceStore;
  readonly transport: RelayTransport;
  readonly clock: Clock;
  readonly rng: Rng;
  readonly delays: Delays;
  readonly emit: (event: DeviceEvent) => void;
  readonly notice: (notice: string) => void;
}

/** The rooms, joined. */
export interface DeviceParts extends Ground {
  readonly relayTime: RelayTime;
  readonly background: Background;
  readonly bundles: BundleRefresh;
  readonly pump: Pump;
  readonly inbox: Inbox;
  readonly connection: Connection;
  /** Tells the relay what it is still to be told. */
  readonly mend: () => Promise<void>;
}

/** Whatever changes the account's devices is told to the connection as well. */
function hearing(ground: Ground, onDevices: () => void): Ground {
  const emit = (event: DeviceEvent): void => {
    if (event.type === "devices") onDevices();
    ground.emit(event);
  };
  return { ...ground, emit };
}

/** How long asking others to send again is spread, so that a relay's return is no storm. Units: ms. */
const resendDelayMs = [3_600_000, 43_200_000] as const;

/** Builds and joins the rooms. Nothing runs before the connection is started. */
export function joinRooms(given: Ground): DeviceParts {
  const ground = hearing(given, () => connection.devicesChanged());
  const { store, clock, rng, notice } = ground;
  const relayTime = createRelayTime(clock, store);
  const background = createBackground();
  const onTrouble = ({ message }: StoreError): void => notice(message);
  const bundles = createBundleRefresh({
    ...ground,
    relayTime,
    onLearned: (aik) => {
      payOwed(ground, relayTime, aik);
      pump.wake();
      ground.emit(
        store.read(getOwnAccount)?.aik === aik ? { type: "devices" } : { type: "contact", aik },
      );
    },
  });
  const onChange = background.changed;
  const pump = createPump({ ...ground, relayTime, bundles, onTrouble, onChange });
  const dispatch = createDispatch({
    rng,
    receiptDelay: ground.delays.receiptMs,
    effects: {
      emit: ground.emit,
      notice,
      refresh: (aik) => background.run(() => bundles.fetch(aik)),
      checkOwnList: (view) => background.run(() => checkOwnList(ground, bundles, view)),
      tellRelay: (request) => background.run(() => connection.request(request)),
      finishRenewals: () => background.run(mendNow),
    },
  });
  const inbox = createInbox({
    store,
    clock,
    rng,
    dispatch,
    onTrouble,
    receiptDelay: ground.delays.receiptMs,
    relayNowMs: () => relayTime.nowMs(store.read(getOwnAccount)?.relayOrigin ?? ""),
    acknowledge: (seqs) => {
      connection.acknowledge(seqs);
      pump.wake();
      background.changed();
    },
    onSetAside: (reason) => ground.emit({ type: "set-aside", reason }),
  });
  const resendDelay = ground.delays.resendMs ?? resendDelayMs;
  const mendNow = (): Promise<void> =>
    mend({ ...finishParts(ground, { relayTime, pump, connection }), resendDelay });
  const connection = createConnection({
    ...ground,
    mend: mendNow,
    relayTime,
    bundles,
    background,
    onDelivery: inbox.deliver,
    onReady: pump.wake,
  });
  return { ...ground, relayTime, background, bundles, pump, inbox, connection, mend: mendNow };
}

/** Siblings hear our name; one that was linked can be sealed to by now: it gets people and history. */
function payOwed(ground: Ground, relayTime: RelayTime, aik: string): void {
  const { store, clock, rng } = ground;
  const own = store.read(ownIdentity);
  if (own?.aikText !== aik) return;
  const relayNowMs = relayTime.nowMs(own.relayOrigin);
  store.write((tx) => {
    queueNames(tx, own, relayNowMs, { nowMs: clock.nowMs(), rng });
    payOwedSync(tx, own, relayNowMs, { nowMs: clock.nowMs(), rng });
  });
}

/** What a renewal is finished through. */
export function finishParts(
  ground: Ground,
  { relayTime, pump, connection }: Pick<DeviceParts, "relayTime" | "pump" | "connection">,
): FinishParts {
  return {
    ...ground,
    relayNowMs: relayTime.nowMs,
    request: connection.request,
    onQueued: pump.wake,
  };
}

/** A sender has seen a list of ours that we do not know: the relay's chain decides who is alarmed. */
async function checkOwnList(
  { store, notice }: Ground,
  bundles: BundleRefresh,
  view: OpenedMessage["recipientList"],
): Promise<void> {
  const aik = store.read(getOwnAccount)?.aik;
  if (aik === undefined) return;
  const fetched = await bundles.fetch(aik);
  if (!fetched.ok) return;
  const verdict = store.read((tx) => compareView(tx, aik, view));
  if (verdict === "newer" || verdict === "contradicts") {
    notice(
      `ALARM: somebody was shown version ${view.version} of your device list, which your relay does not have. Compare your safety number with your contacts in person`,
    );
  }
}
