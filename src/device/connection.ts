/**
 * This device's place at its relay: the mailbox connection, and what is due whenever it stands —
 * a prekey that was never published or is a day old, invites that were closed meanwhile, bundles of
 * the people we write to, private halves of prekeys that nobody can have sealed to any more.
 *
 * Deliveries go to the inbox; what is sent is the pump's.
 *
 * Spec: docs/protocol.md "The mailbox connection", "Keys" (SPK), "Metadata rules for the client" (4).
 */
import type { Clock } from "../shared/clock.ts";
import { err } from "../shared/result.ts";
import type { Rng } from "../shared/rng.ts";
import type { Delivery } from "../shared/wire/frames.ts";
import type { Background } from "./background.ts";
import type { DeviceEvent } from "./device.ts";
import { closedInviteRequests } from "./identity/invites.ts";
import { answerChallenge, type OwnIdentity, ownIdentity } from "./identity/keys.ts";
import { destroySpentPrekeys, prekeyDueMs } from "./identity/prekeys.ts";
import type { RelayTime } from "./identity/relay-time.ts";
import { anyOwedSync } from "./identity/sync.ts";
import type { BundleRefresh } from "./messaging/bundle-refresh.ts";
import { allContacts } from "./store/contacts.ts";
import { noteDrained, noteEpoch } from "./mend.ts";
import { publishPrekey } from "./publish-prekey.ts";
import type { DeviceStore } from "./store/sqlite.ts";
import type {
  Answered,
  MailboxConnection,
  MailboxRequest,
  MailboxState,
  RelayTransport,
} from "./transport/port.ts";

/** What the connection is built from. */
export interface ConnectionParts {
  readonly store: DeviceStore;
  readonly transport: Pick<RelayTransport, "openMailbox">;
  readonly clock: Clock;
  readonly rng: Rng;
  readonly relayTime: RelayTime;
  readonly bundles: BundleRefresh;
  readonly background: Background;
  readonly onDelivery: (delivery: Delivery) => void;
  /** Does what is owed to the relay beside the upkeep here. */
  readonly mend: () => Promise<void>;
  /** The connection stands: the outbox may be due. */
  readonly onReady: () => void;
  readonly emit: (event: DeviceEvent) => void;
  readonly notice: (notice: string) => void;
}

export interface Connection {
  /** Connects, once. */
  readonly start: (own: OwnIdentity) => void;
  readonly started: () => boolean;
  /** "stopped", or the state of the connection with its reason. */
  readonly describe: () => string;
  /** Whether everything that was queued when it connected is here. */
  readonly drained: () => boolean;
  readonly acknowledge: (seqs: readonly bigint[]) => void;
  readonly request: (request: MailboxRequest) => Answered<Readonly<Record<string, unknown>>>;
  /** The account's devices changed: a new prekey may be due before its time. */
  readonly devicesChanged: () => void;
  readonly close: () => Promise<void>;
}

/** How often upkeep is looked at while connected. Units: ms. */
const upkeepMs = 3_600_000;
/** The same while a newly linked device has published no prekey. Units: ms. */
const newDeviceMs = 15_000;
/** How long a request waits for a connection that is just being made. Units: ms. */
const connectPatienceMs = 10_000;

/** Builds the connection; `start` opens it. */
export function createConnection(parts: ConnectionParts): Connection {
  return new RelayConnection(parts);
}

class RelayConnection implements Connection {
  readonly #parts: ConnectionParts;
  #mailbox: MailboxConnection | undefined;
  #own: OwnIdentity | undefined;
  #drained = false;
  #drainBeganMs = 0;
  #cancelUpkeep: (() => void) | undefined;
  #closed = false;
  /** Requests that wait for the first answer of the relay. */
  readonly #waits = new Set<() => void>();

  constructor(parts: ConnectionParts) {
    this.#parts = parts;
  }

  start(own: OwnIdentity): void {
    if (this.#mailbox !== undefined || this.#closed) return;
    this.#own = own;
    this.#mailbox = this.#parts.transport.openMailbox(
      {
        relayOrigin: own.relayOrigin,
        deviceId: own.deviceId,
        answerChallenge: (nonce, timeMs) => answerChallenge(own, nonce, timeMs),
      },
      {
        onState: (state) => this.#onState(own, state),
        onDelivery: this.#parts.onDelivery,
        onDrained: () => this.#onDrained(own),
      },
    );
  }

  started(): boolean {
    return this.#mailbox !== undefined;
  }

  describe(): string {
    const state = this.#mailbox?.state();
    if (state === undefined) return "stopped";
    return "reason" in state ? `${state.type}: ${state.reason}` : state.type;
  }

  drained(): boolean {
    return this.#drained && this.#mailbox?.state().type === "ready";
  }

  acknowledge(seqs: readonly bigint[]): void {
    this.#mailbox?.acknowledge(seqs);
  }

  readonly request: Connection["request"] = async (request) => {
    if (this.#mailbox === undefined || this.#own === undefined) {
      return err({ type: "unreachable", reason: "this device is not connected to its relay" });
    }
    if (this.#mailbox.state().type === "connecting") await this.#connected();
    const answer = await this.#mailbox.request(request);
    if (answer.ok) {
      this.#parts.relayTime.learn(this.#own.relayOrigin, answer.value.relayTimeMs);
    }
    return answer;
  };

  readonly devicesChanged = (): void => {
    // The account may have been renewed since the connection was made.
    const own = this.#parts.store.read(ownIdentity);
    if (own === undefined || this.#mailbox?.state().type !== "ready") return;
    this.#parts.background.run(() => this.#publishPrekey(own));
  };

  async close(): Promise<void> {
    this.#closed = true;
    this.#cancelUpkeep?.();
    this.#endWaits();
    await this.#mailbox?.close();
  }

  /** Resolves when an attempt to connect ended, one way or the other, or at the bound. */
  #connected(): Promise<void> {
    return new Promise((resolve) => {
      const cancel = this.#parts.clock.schedule(connectPatienceMs, () => end());
      const end = (): void => {
        cancel();
        this.#waits.delete(end);
        resolve();
      };
      this.#waits.add(end);
    });
  }

  #endWaits(): void {
    for (const end of Array.from(this.#waits)) end();
  }

  #onState(own: OwnIdentity, state: MailboxState): void {
    const { relayTime, background, emit, notice, onReady } = this.#parts;
    if (state.type !== "connecting") this.#endWaits();
    this.#cancelUpkeep?.();
    if (state.type === "ready") {
      relayTime.learn(own.relayOrigin, state.relayTimeMs);
      this.#drained = false;
      this.#drainBeganMs = state.relayTimeMs;
      this.#parts.store.write((tx) => noteEpoch(tx, state.epoch));
      if (state.refused.count > 0) {
        notice(`the relay turned away ${state.refused.count} envelopes: the mailbox was full`);
      }
      this.#upkeep();
      onReady();
    }
    if (state.type === "displaced") {
      notice(
        "another connection of this very device took over: a copy of its data folder is in use somewhere. This one has stopped; link it anew as a device of its own",
      );
    }
    emit({
      type: "connection",
      state: state.type,
      reason: "reason" in state ? state.reason : undefined,
    });
    background.changed();
  }

  #onDrained(own: OwnIdentity): void {
    const { store, relayTime, emit, background } = this.#parts;
    this.#drained = true;
    const relayNowMs = relayTime.nowMs(own.relayOrigin);
    store.write((tx) => {
      noteDrained(tx, relayNowMs);
      destroySpentPrekeys(tx, { beganMs: this.#drainBeganMs, relayNowMs });
    });
    emit({ type: "drained" });
    background.changed();
  }

  /** What stands due while connected; looks again in an hour. */
  #upkeep(): void {
    const { background, clock, store } = this.#parts;
    const before = store.read(ownIdentity);
    if (before === undefined) return;
    this.#cancelUpkeep = clock.schedule(this.#untilUpkeep(before), () => this.#upkeep());
    background.run(async () => {
      await this.#parts.mend();
      // Mending may have renewed the account.
      const own = store.read(ownIdentity) ?? before;
      await this.#publishPrekey(own);
      await this.#closeInvites(own);
      await this.#freshenBundles(own);
      await this.#drainWhileConnected(own);
    });
  }

  #untilUpkeep(own: OwnIdentity): number {
    const { store, relayTime } = this.#parts;
    const dueMs = store.read((tx) => prekeyDueMs(tx, own.aikText));
    const untilMs = dueMs - relayTime.nowMs(own.relayOrigin);
    const lookMs = store.read(anyOwedSync) ? newDeviceMs : upkeepMs;
    return untilMs > 0 ? Math.min(untilMs, lookMs) : lookMs;
  }

  async #publishPrekey(own: OwnIdentity): Promise<void> {
    const parts = { ...this.#parts, request: this.request };
    await publishPrekey(parts, own, this.#parts.relayTime.nowMs(own.relayOrigin));
  }

  /**
   * A mailbox that holds nothing is a drain that begins and ends now. Without it a device that stays
   * connected would keep private halves until it happens to reconnect.
   */
  async #drainWhileConnected(own: OwnIdentity): Promise<void> {
    const { store, relayTime } = this.#parts;
    const beganMs = relayTime.nowMs(own.relayOrigin);
    const answer = await this.request({ type: "mailbox-status" });
    if (!answer.ok || answer.value.reply["queued"] !== 0) return;
    const relayNowMs = answer.value.relayTimeMs;
    store.write((tx) => destroySpentPrekeys(tx, { beganMs, relayNowMs }));
  }

  /** Invites that were used up while the relay could not be told. */
  async #closeInvites(own: OwnIdentity): Promise<void> {
    const relayNowMs = this.#parts.relayTime.nowMs(own.relayOrigin);
    for (const request of this.#parts.store.read((tx) => closedInviteRequests(tx, relayNowMs))) {
      await this.request(request);
    }
  }

  async #freshenBundles(own: OwnIdentity): Promise<void> {
    const { store, bundles } = this.#parts;
    // A device that was linked and has published nothing yet waits for people and history.
    const isOwed = store.read(anyOwedSync);
    await (isOwed ? bundles.fetch(own.aikText) : bundles.freshen(own.aikText));
    const people = store.read(allContacts).filter((person) => person.relation !== "blocked");
    for (const person of people) {
      if (this.#closed) return;
      await bundles.freshen(person.aik);
    }
  }
}
