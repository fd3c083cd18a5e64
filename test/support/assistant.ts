/**
 * The agent of a device over a store in memory, with a brain whose words are written down and with real
 * MCP servers where a test adds some. Time stands still until the test moves it.
 */
import path from "node:path";
import { fileURLToPath } from "node:url";

import { createApprovals } from "../../src/device/approvals.ts";
import { createAssistant } from "../../src/device/assistant.ts";
import type { DeviceAgent } from "../../src/device/agent/port.ts";
import type { McpServerConfig } from "../../src/device/mcp/port.ts";
import type { Model } from "../../src/device/model/port.ts";
import { createOwnMcp, type OwnMcp } from "../../src/device/own-mcp.ts";
import type { DeviceStore } from "../../src/device/store/sqlite.ts";
import { systemClock } from "../../src/shared/clock.ts";
import { librarian, type Librarian } from "./library.ts";
import { createManualClock, type ManualClock } from "./manual-clock.ts";
import { seededRng } from "./seeded-rng.ts";
import { recordingTools, turnNowMs } from "./turns.ts";

/** An agent, and the strings to pull. */
export interface AssistantWorld {
  readonly agent: DeviceAgent;
  readonly own: OwnMcp;
  readonly library: Librarian;
  readonly store: DeviceStore;
  readonly clock: ManualClock;
  /** The brain of the next turns. */
  brain: Model | undefined;
  /** Resolves with the id of the next question to the owner. */
  readonly nextQuestion: () => Promise<string>;
}

/** Builds one. */
export function assistantWorld(): AssistantWorld {
  const library = librarian("ada");
  const { store } = library;
  const clock = createManualClock(turnNowMs);
  const rng = seededRng("assistant-world");
  let tell: ((approvalId: string) => void) | undefined;
  const emit = (event: { readonly approvalId: string }): void => tell?.(event.approvalId);
  const approvals = createApprovals({ store, clock, rng, emit });
  const hostEnv = { PATH: process.env["PATH"], HOME: process.env["HOME"], SECRET_TOKEN: "x" };
  // Processes end by the clock of the machine, whatever time it is in the test.
  const own = createOwnMcp({ store, clock: systemClock, hostEnv });
  const world: Omit<AssistantWorld, "agent"> = {
    own,
    library,
    store,
    clock,
    brain: undefined,
    nextQuestion: () => new Promise((resolve) => (tell = resolve)),
  };
  const spoken: Model = {
    name: "scripted",
    plan: (request, signal) => brainOf(world).plan(request, signal),
    step: (request, signal) => brainOf(world).step(request, signal),
    answer: (request, signal) => brainOf(world).answer(request, signal),
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
  const agent = createAssistant({
    store,
    clock,
    rng,
    approvals,
    brain: () => Promise.resolve(spoken),
    tools: recordingTools().tools,
    onDemand: own.onDemand,
    zone: () => "Europe/Berlin",
    onSkillsChanged: () => undefined,
  });
  return Object.assign(world, { agent });
}

function brainOf({ brain }: { readonly brain: Model | undefined }): Model {
  if (brain === undefined) throw new Error("expected a brain");
  return brain;
}

/** A real server that behaves as its first argument says: test/device/mcp/children/tiny-server.mjs. */
export function tinyServer(
  behaviour: string,
  { name = "tiny", mark = "" }: { readonly name?: string; readonly mark?: string } = {},
): McpServerConfig {
  const root = fileURLToPath(new URL("../..", import.meta.url));
  const program = path.join(root, "test/device/mcp/children/tiny-server.mjs");
  return { name, command: process.execPath, args: [program, behaviour, mark], env: {} };
}
