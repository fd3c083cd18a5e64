/**
 * The device as a person uses it: opens the store, has the rooms joined, and maps every operation
 * of the contract to the room that carries it out. Closing goes the other way round.
 *
 * Spec: docs/architecture.md "The device".
 */
import { systemClock } from "../shared/clock.ts";
import { parseRelayOrigin } from "../shared/crypto/origin.ts";
import { err, ok, type Result } from "../shared/result.ts";
import { systemRng } from "../shared/rng.ts";
import { acceptInviteLink, makeInvite, noAccount, registerAccount } from "./account.ts";
import { createApprovals } from "./approvals.ts";
import { createAssistant } from "./assistant.ts";
import { type AskQueue, queueAsks } from "./ask-queue.ts";
import type {
  Delays,
  Device,
  DeviceError,
  DeviceEvent,
  DeviceOptions,
  DeviceSkills,
  MessageView,
  SentMessage,
} from "./device.ts";
import { contactView, contactViews, findContact } from "./identity/contacts.ts";
import { deviceViews, identityView } from "./identity/devices.ts";
import { grantLink } from "./identity/grant-link.ts";
import { ownIdentity } from "./identity/keys.ts";
import { offerLink } from "./identity/offer-link.ts";
import { createLibrary } from "./library/library.ts";
import { composeText } from "./messaging/compose.ts";
import { deliveryView, messageViews } from "./messaging/conversation.ts";
import { sendMessage } from "./messaging/send.ts";
import { createOwnBrains, type OwnBrains } from "./own-brains.ts";
import { createOwnMcp, type OwnMcp } from "./own-mcp.ts";
import { askingParts, createOwnHomebase, type OwnHomebase, siblingSearch } from "./own-homebase.ts";
import { createOwnSources, type OwnSources } from "./own-sources.ts";
import { type DeviceParts, finishParts, joinRooms } from "./parts.ts";
import { peopleActs } from "./people.ts";
import { recoverAccount } from "./recover.ts";
import { renewalActs } from "./renew.ts";
import { settle } from "./settle.ts";
import { skillCard } from "./skill-card.ts";
import { getOwnAccount } from "./store/identity.ts";
import { forgetOldIds } from "./store/messages.ts";
import { openDataFolder, openInMemory, type OpenStore } from "./store/open-folder.ts";
import { countOpenOutbox } from "./store/outbox.ts";
import { countSetAside } from "./store/set-aside.ts";
import { createRelayTransport } from "./transport/relay-client.ts";

/** Delays of a device in ordinary use: they hide who answers whom, and when. */
export const defaultDelays: Delays = { echoMs: [5_000, 60_000], receiptMs: [30_000, 300_000] };

/** Opens a device over its data folder, or in memory. It does nothing before `start`. */
export async function createDevice(options: DeviceOptions): Promise<Result<Device, DeviceError>> {
  const notice = options.onNotice ?? (() => undefined);
  const opened = await openStore(options, notice);
  if (!opened.ok) return opened;
  const clock = options.clock ?? systemClock;
  const rng = options.rng ?? systemRng;
  opened.value.store.write((tx) => forgetOldIds(tx, clock.nowMs()));
  const { emit, onEvent } = createListeners();
  const parts = joinRooms({
    store: opened.value.store,
    transport: options.transport ?? createRelayTransport({ clock, rng }),
    clock,
    rng,
    delays: options.delays ?? defaultDelays,
    emit,
    notice,
  });
  const skills = createLibrary({
    ...parts,
    findContact: (nameOrKey) => contactNamed(parts, nameOrKey),
    sendText: (aik, text) => sendText(parts, aik, text, { sentinel: true }),
    onChange: () => parts.emit({ type: "skills" }),
    onNotice: notice,
  });
  if (!skills.ok) {
    await closeAll(parts, opened.value);
    return skills;
  }
  const zone = (): string => options.zone ?? Intl.DateTimeFormat().resolvedOptions().timeZone;
  const asking = askingParts(parts, onEvent);
  const brains = createOwnBrains(parts, options.models);
  const own = createOwnSources({ ...parts, ...brains, askSibling: siblingSearch(asking) });
  const mcp = createOwnMcp(parts);
  const approvals = createApprovals(parts);
  const asks = queueAsks(
    createAssistant({
      ...parts,
      ...brains,
      tools: own.tools,
      onRun: own.remember,
      onDemand: mcp.onDemand,
      approvals,
      zone,
      onSkillsChanged: () => parts.emit({ type: "skills" }),
    }),
  );
  const home = createOwnHomebase({ parts, agent: asks.agent, tools: own.tools, zone, asking });
  const made = { open: opened.value, skills: skills.value, asks, mcp, home, brains, own, onEvent };
  return ok(deviceOver(parts, made));
}

function createListeners(): Pick<Device, "onEvent"> & {
  readonly emit: (event: DeviceEvent) => void;
} {
  const listeners = new Set<(event: DeviceEvent) => void>();
  return {
    emit: (event) => {
      for (const listener of listeners) listener(event);
    },
    onEvent: (listener) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}

async function openStore(
  options: DeviceOptions,
  onNotice: (notice: string) => void,
): Promise<Result<OpenStore, DeviceError>> {
  const { dataDir, inMemory = false, storeKey: keySource = { type: "auto" } } = options;
  if (dataDir === undefined) {
    if (!inMemory) throw new Error("expected dataDir or inMemory in the device's options");
    return openInMemory();
  }
  if (inMemory) throw new Error("expected dataDir or inMemory in the device's options, got both");
  return await openDataFolder({ dataDir, keySource, onNotice });
}

interface Opened {
  readonly open: OpenStore;
  readonly skills: DeviceSkills;
  readonly asks: AskQueue;
  readonly mcp: OwnMcp;
  readonly home: OwnHomebase;
  readonly brains: OwnBrains;
  readonly own: OwnSources;
  readonly onEvent: Device["onEvent"];
}

function deviceOver(
  parts: DeviceParts,
  { open, skills, asks, mcp, home, own, brains, onEvent }: Opened,
): Device {
  const { store, relayTime, connection, pump } = parts;
  let closing: Promise<void> | undefined;
  const closeInOrder = async (): Promise<void> => {
    await asks.close();
    await mcp.close();
    own[Symbol.dispose]();
    await brains.close();
    await closeAll(parts, open);
  };
  const close = (): Promise<void> => (closing ??= closeInOrder());
  return {
    identity: () => store.read(identityView),
    register: (options) => registerAccount(parts, options),
    recover: (options) => recoverAccount(parts, options),
    ...linkingOf(parts),
    ...peopleActs(parts),
    ...renewalActs({ ...parts, ...finishParts(parts, parts) }),
    start: () => {
      const account = store.read(ownIdentity);
      if (account === undefined) return err(noAccount);
      connection.start(account);
      pump.wake();
      return ok(undefined);
    },
    settle: (boundMs) => settle(parts, boundMs),
    status: () => ({
      connection: connection.describe(),
      outboxOpen: store.read(countOpenOutbox),
      setAside: store.read(countSetAside),
      relayOffsetMs: relayTime.offsetMs(store.read(getOwnAccount)?.relayOrigin ?? ""),
    }),
    devices: () => store.read(deviceViews),
    contacts: () => store.read((tx) => contactViews(tx, relayTime.nowMs)),
    invite: async (wishes) => await waking(parts, makeInvite(parts, wishes)),
    acceptInvite: async (link) => await waking(parts, acceptInviteLink(parts, link)),
    send: (contact, text) => {
      const found = contactNamed(parts, contact);
      return found.ok ? sendText(parts, found.value.aik, text) : found;
    },
    messages: (contact) => messagesOf(parts, contact),
    delivery: (messageId) => store.read((tx) => deliveryView(tx, messageId)),
    skills,
    agent: asks.agent,
    mcp: mcp.mcp,
    sources: own.sources,
    models: brains.models,
    homebase: home.homebase,
    onEvent,
    close,
    [Symbol.asyncDispose]: close,
  };
}

function linkingOf(parts: DeviceParts): Pick<Device, "offerLink" | "grantLink"> {
  const { store, transport: rendezvous, relayTime, connection, bundles, pump } = parts;
  return {
    offerLink: async ({ relayUrl, deviceName }) => {
      const origin = parseRelayOrigin(relayUrl);
      if (!origin.ok) return refuse("relay-url", `relay: ${origin.error.reason}`);
      return await offerLink({ ...parts, rendezvous }, { relayOrigin: origin.value, deviceName });
    },
    grantLink: async (code) =>
      await grantLink(
        {
          ...parts,
          rendezvous,
          relayNowMs: relayTime.nowMs,
          updateList: connection.request,
          refreshOwnBundle: async () => {
            const aik = store.read(getOwnAccount)?.aik;
            if (aik !== undefined) await bundles.fetch(aik);
          },
          onChanged: () => {
            parts.emit({ type: "devices" });
            pump.wake();
          },
        },
        code,
      ),
  };
}

function contactNamed(
  { store, relayTime }: DeviceParts,
  nameOrKey: string,
): Result<ReturnType<typeof contactView>, DeviceError> {
  return store.read((tx) => {
    const found = findContact(tx, nameOrKey);
    return found.ok ? ok(contactView(tx, found.value, relayTime.nowMs)) : found;
  });
}

function sendText(
  parts: DeviceParts,
  aik: string,
  text: string,
  options: { readonly sentinel?: boolean } = {},
): Result<SentMessage, DeviceError> {
  const content = composeText(text, options);
  if (!content.ok) return content;
  const { store, clock, rng, relayTime, delays, pump } = parts;
  const own = store.read(getOwnAccount);
  if (own === undefined) return err(noAccount);
  const times = { nowMs: clock.nowMs(), relayNowMs: relayTime.nowMs(own.relayOrigin) };
  const messageId = store.write((tx) => {
    const id = sendMessage(tx, aik, content.value, { ...times, echoDelay: delays.echoMs, rng });
    tx.afterCommit(() => parts.emit({ type: "message", conversation: aik, messageId: id }));
    return id;
  });
  pump.wake();
  return ok({ messageId });
}

function messagesOf(
  { store }: DeviceParts,
  contact: string | undefined,
): Result<readonly MessageView[], DeviceError> {
  return store.read((tx) => {
    if (contact === undefined) return ok(messageViews(tx, undefined, skillCard));
    const found = findContact(tx, contact);
    return found.ok ? ok(messageViews(tx, found.value.aik, skillCard)) : found;
  });
}

async function waking<T>({ pump }: DeviceParts, act: Promise<T>): Promise<T> {
  const result = await act;
  pump.wake();
  return result;
}

/** First nothing new begins, then what runs ends, then the store and its folder are released. */
async function closeAll(parts: DeviceParts, open: OpenStore): Promise<void> {
  const { connection, pump, inbox, transport, background } = parts;
  const pumping = pump.close();
  await connection.close();
  inbox.close();
  await transport[Symbol.asyncDispose]();
  await pumping;
  await background.idle();
  open.close();
}

function refuse(
  type: string,
  message: string,
): { readonly ok: false; readonly error: DeviceError } {
  return err({ type, message });
}
