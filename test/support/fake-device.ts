/**
 * A device without store, keys or network, for tests of what stands in front of one: API and command
 * line. It answers what it is told to and remembers what it was asked.
 */
import { EventEmitter, once } from "node:events";

import { err, ok } from "../../src/shared/result.ts";
import type {
  ContactView,
  Device,
  DeviceEvent,
  DeviceView,
  Identity,
  LinkGrant,
  MessageView,
} from "../../src/device/device.ts";
import type { DeviceModels } from "../../src/device/weights/port.ts";
import type { DeviceAgent } from "../../src/device/agent/port.ts";
import { createOwnMcp } from "../../src/device/own-mcp.ts";
import { createBackground } from "../../src/device/background.ts";
import { createOwnSources } from "../../src/device/own-sources.ts";
import { systemClock } from "../../src/shared/clock.ts";
import { contactView, librarian, type Librarian } from "./library.ts";

/** A device to ask, and the strings to pull. */
export interface FakeDevice {
  readonly device: Device;
  readonly library: Librarian;
  readonly calls: string[];
  readonly emit: (event: DeviceEvent) => void;
  readonly listeners: () => number;
  /** Lets the other device of a grant arrive, as `fakeDeviceView`. */
  readonly settleGrant: () => void;
}

/** The identity of every fake. */
export const fakeIdentity: Identity = {
  aik: "A".repeat(43),
  accountName: "Ada",
  deviceId: "D".repeat(22),
  deviceName: "laptop",
  admin: true,
  relayOrigin: "https://relay.example",
  listVersion: 1,
};

/** One device of an account. */
export const fakeDeviceView: DeviceView = {
  deviceId: "D".repeat(22),
  state: "admin",
  thisDevice: true,
  addedMs: 1,
  hasPrekey: true,
  name: "laptop",
};

const fakeModels: DeviceModels = {
  list: async () => ({ folder: "", brain: "basic", embedder: undefined, models: [] }),
  pull: () => Promise.reject(new Error("nothing is pulled here")),
  import: () => Promise.reject(new Error("nothing is imported here")),
  use: () => Promise.reject(new Error("no model is used here")),
  bench: () => Promise.reject(new Error("nothing is measured here")),
  check: async () => [],
};

/** Builds a fake. Parts given replace its answers. */
export function fakeDevice(parts: Partial<Device> = {}): FakeDevice {
  const contacts: readonly ContactView[] = [contactView("ben")];
  const library = librarian("ada", contacts);
  const calls: string[] = [];
  const messages: MessageView[] = [];
  const listeners = new Set<(event: DeviceEvent) => void>();
  const completion = new EventEmitter();
  const completed = once(completion, "view").then((): DeviceView => fakeDeviceView);
  const grant = (): LinkGrant => ({
    digits: "12345678",
    newDeviceName: "phone",
    completed: completed.then(ok),
    cancel: () => Promise.resolve(void calls.push("cancel")),
  });
  const close = (): Promise<void> => {
    calls.push("close");
    return Promise.resolve();
  };
  const device: Device = {
    identity: () => fakeIdentity,
    register: () => Promise.resolve(ok({ identity: fakeIdentity, recoveryCode: "ABCD EFGH" })),
    recover: () => Promise.resolve(ok(fakeIdentity)),
    offerLink: () => Promise.reject(new Error("not offered here")),
    grantLink: () => Promise.resolve(ok(grant())),
    start: () => {
      calls.push("start");
      return ok(undefined);
    },
    settle: () => Promise.resolve("settled"),
    status: () => ({ connection: "ready", outboxOpen: 0, setAside: 0, relayOffsetMs: 0 }),
    devices: () => [fakeDeviceView],
    contacts: () => contacts,
    invite: () => Promise.resolve(ok({ link: "pixie-invite:x", expiresMs: 2 })),
    acceptInvite: () => Promise.resolve(ok(contactView("ben"))),
    contestedKeys: () => ok([]),
    renewAccount: () => Promise.resolve(ok({ identity: fakeIdentity, recoveryCode: "JKLM NPQR" })),
    recoveryCode: () => ok({ recoveryCode: "ABCD EFGH" }),
    revokeDevice: () => Promise.resolve(ok({ ...fakeDeviceView, state: "revoked" })),
    admitContact: () => ok(contactView("ben")),
    blockContact: () => Promise.resolve(ok({ ...contactView("ben"), relation: "blocked" })),
    unblockContact: () => ok(contactView("ben")),
    safetyNumber: () => ok({ name: "ben", digits: "12345 67890", verifiedMs: undefined }),
    markVerified: () => ok(contactView("ben")),
    send: (contact, text) => {
      calls.push(`send ${contact} ${text}`);
      return ok({ messageId: "M".repeat(22) });
    },
    messages: () => ok(messages),
    delivery: () => ({ state: "accepted", copies: [], reason: undefined }),
    skills: library.skills,
    agent: fakeAgent,
    mcp: createOwnMcp({ store: library.store, clock: systemClock }).mcp,
    models: fakeModels,
    homebase: {
      serve: () => void calls.push("serve"),
      ask: () => Promise.resolve(onlyDevice),
      approvals: () => Promise.resolve(onlyDevice),
      answerApproval: () => Promise.resolve(onlyDevice),
      list: () => ({ operations: [], foreignTexts: 0 }),
    },
    sources: createOwnSources({
      store: library.store,
      clock: systemClock,
      background: createBackground(),
      askSibling: () => Promise.resolve({ ok: false, reason: "there is one device" }),
    }).sources,
    onEvent: (listener) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    close,
    [Symbol.asyncDispose]: close,
    ...parts,
  };
  return {
    device,
    library,
    calls,
    emit: (event) => listeners.forEach((listener) => listener(event)),
    listeners: () => listeners.size,
    settleGrant: () => void completion.emit("view"),
  };
}

const onlyDevice = err({ type: "no-such-device", message: "there is one device" });

/** An agent that answers everything alike. */
const fakeAgent: DeviceAgent = {
  ask: (question) =>
    Promise.resolve(
      ok([
        {
          type: "turn-started",
          runId: "R".repeat(22),
          question,
          brain: "fake",
          mode: "agent",
          harness: "planned",
          earlier: 0,
          tainted: false,
          atMs: 1,
        },
        { type: "answer", text: "as always" },
        { type: "stopped", reason: "answered", detail: "Nothing was called." },
      ]),
    ),
  approve: () => Promise.resolve(err({ type: "no-such-run", message: "there are none" })),
  startChat: () => "C".repeat(22),
  chats: () => [],
  runs: () => [],
  run: () => err({ type: "no-such-run", message: "there are none" }),
  alignment: () => ({
    harness: "planned",
    document: "be brief",
    tokens: 2,
    tokensAreExact: false,
    instructions: "be brief",
    instructionsAreDefault: false,
    blurbs: [],
    selected: [],
  }),
  price: () =>
    Promise.resolve({
      brain: "fake",
      exact: false,
      tokens: 2,
      contextTokens: undefined,
      parts: [],
    }),
  select: () => ok(undefined),
  setInstructions: () => ok(undefined),
  setBlurbs: () => ok(undefined),
  setHarness: () => undefined,
  approvals: () => [],
  answerApproval: () => err({ type: "no-such-approval", message: "there are none" }),
};
