/**
 * The agent of a device: the owner's skills and choices from the store, a brain, and the tools, made
 * into turns whose traces are kept.
 *
 * Built by the runtime. How a turn goes is in agent/turn.ts; what tools may reach is decided where
 * they are built. Spec: docs/agent.md.
 */
import type { Clock } from "../shared/clock.ts";
import { typeableId } from "../shared/ids.ts";
import { err, ok, type Result } from "../shared/result.ts";
import type { Rng } from "../shared/rng.ts";
import {
  type Alignment,
  blurbId,
  blurbs,
  defaultInstructions,
  estimatedTokens,
  maxInstructions,
  systemPrompt,
} from "./agent/alignment.ts";
import { type AgentEvent, stopOf } from "./agent/events.ts";
import { defaultLimits } from "./agent/limits.ts";
import { parseTrace } from "./agent/trace.ts";
import { runTurn } from "./agent/turn.ts";
import type { AlignmentView, AskOptions, DeviceAgent, DeviceError, RunView } from "./device.ts";
import {
  readAlignment,
  selectSkills,
  storeBlurbs,
  storeInstructions,
} from "./library/alignment.ts";
import { readCatalogue } from "./library/catalogue.ts";
import type { Model } from "./model/port.ts";
import { withholdHealings } from "./skills/expand.ts";
import { pendingHealings } from "./skills/origins.ts";
import { menuOf, openRegistry } from "./skills/registry.ts";
import { codePoints } from "./skills/skill.ts";
import { toolSet } from "./skills/tools.ts";
import { addAgentRun, agentRunsById, listAgentRuns } from "./store/agent-runs.ts";
import type { DeviceStore, ReadTx, WriteTx } from "./store/sqlite.ts";
import type { ToolBox } from "./tools/tool.ts";

/** What the agent is made of. */
export interface AssistantParts {
  readonly store: DeviceStore;
  readonly clock: Clock;
  readonly rng: Rng;
  /** Loads the brain at the first question, so that a device that is never asked pays nothing. */
  readonly loadBrain: () => Promise<Model>;
  readonly tools: ToolBox;
  /** IANA name of the zone that the device is in. */
  readonly zone: () => string;
  /** Runs when the menu changed. */
  readonly onSkillsChanged: () => void;
  /** Runs in the transaction that keeps a turn. */
  readonly onRun?: (tx: WriteTx, events: readonly AgentEvent[]) => void;
}

/** Longest question. Units: code points. */
const maxQuestion = 8_000;
/** Turns that a list shows. */
const listedRuns = 100;

/** Builds the agent. Nothing is loaded before the first question. */
export function createAssistant(parts: AssistantParts): DeviceAgent {
  const { store } = parts;
  let loading: Promise<Model> | undefined;
  const brain = (): Promise<Model> => (loading ??= parts.loadBrain());
  return {
    ask: async (question, options = {}) => {
      const problem = questionProblem(question);
      if (problem !== undefined) return err({ type: "malformed-question", message: problem });
      return ok(await ask(parts, await brain(), question, options));
    },
    runs: (): readonly RunView[] => store.read((tx) => listAgentRuns(tx, listedRuns)),
    run: (runId) => store.read((tx) => storedTrace(tx, runId)),
    alignment: () => store.read(alignmentView),
    select: (ids) => {
      const selected = selectSkills(store, ids);
      if (selected.ok) parts.onSkillsChanged();
      return selected;
    },
    setInstructions: (text) => setInstructions(store, text),
    setBlurbs: (ids) => setBlurbs(store, ids),
  };
}

async function ask(
  { store, clock, rng, tools, zone, onRun }: AssistantParts,
  model: Model,
  question: string,
  { rehearse = false, signal, onEvent }: AskOptions,
): Promise<readonly AgentEvent[]> {
  const { skills, origins, alignment } = store.read((tx) => ({
    ...readCatalogue(tx),
    alignment: alignmentOf(tx),
  }));
  const slugs = new Set(toolSet.map((tool) => tool.slug));
  const healings = pendingHealings(skills, origins, (slug) => slugs.has(slug));
  const runId = typeableId(rng);
  const startedMs = clock.nowMs();
  const events = await runTurn(
    { model, tools, clock, zone: zone(), limits: defaultLimits },
    {
      runId,
      question,
      registry: openRegistry(skills, toolSet),
      alignment,
      withhold: withholdHealings(healings),
      rehearse,
      ...(signal === undefined ? {} : { signal }),
      ...(onEvent === undefined ? {} : { onEvent }),
    },
  );
  if (!rehearse) {
    const stopReason = stopOf(events)?.reason ?? "aborted";
    store.write((tx) => {
      addAgentRun(tx, { runId, startedMs, question, stopReason, trace: JSON.stringify(events) });
      onRun?.(tx, events);
    });
  }
  return events;
}

function questionProblem(question: string): string | undefined {
  if (question.trim() === "") return "the question is empty: expected some words";
  const length = codePoints(question);
  return length > maxQuestion
    ? `the question is too long: expected at most ${maxQuestion} characters, got ${length}`
    : undefined;
}

function storedTrace(tx: ReadTx, runId: string): Result<readonly AgentEvent[], DeviceError> {
  const [run, another] = agentRunsById(tx, runId);
  if (run === undefined) {
    return err({
      type: "no-such-run",
      message: `no run is kept under ${runId}: see pixie runs list`,
    });
  }
  if (another !== undefined) {
    return err({
      type: "ambiguous-run",
      message: `several runs begin with ${runId}: give more of it`,
    });
  }
  return ok(parseTrace(run.trace));
}

function alignmentOf(tx: ReadTx): Alignment {
  const stored = readAlignment(tx);
  return {
    instructions: stored.instructions,
    // A release may retire a blurb; its name is then nobody's.
    blurbs: stored.blurbs.flatMap((name) => blurbId(name) ?? []),
  };
}

function alignmentView(tx: ReadTx): AlignmentView {
  const alignment = alignmentOf(tx);
  const menu = menuOf(openRegistry(readCatalogue(tx).skills, toolSet));
  const document = systemPrompt(alignment, menu);
  return {
    document,
    tokens: estimatedTokens(document),
    tokensAreExact: false,
    instructions: alignment.instructions ?? defaultInstructions,
    instructionsAreDefault: alignment.instructions === undefined,
    blurbs: blurbs.map(({ id, text }) => ({ id, on: alignment.blurbs.includes(id), text })),
    selected: menu.skills.map(({ id }) => id),
  };
}

function setInstructions(
  store: DeviceStore,
  text: string | undefined,
): Result<undefined, DeviceError> {
  const length = codePoints(text ?? "");
  if (length > maxInstructions) {
    return err({
      type: "malformed-instructions",
      message: `the instructions are too long: expected at most ${maxInstructions} characters, got ${length}`,
    });
  }
  if (text?.trim() === "") {
    return err({
      type: "malformed-instructions",
      message: "the instructions are empty: reset them to get the default back",
    });
  }
  storeInstructions(store, text);
  return ok(undefined);
}

function setBlurbs(store: DeviceStore, ids: readonly string[]): Result<undefined, DeviceError> {
  const unknown = ids.find((id) => blurbId(id) === undefined);
  if (unknown !== undefined) {
    const names = blurbs.map(({ id }) => id).join(", ");
    return err({
      type: "no-such-blurb",
      message: `there is no blurb ${unknown}: expected ${names}`,
    });
  }
  storeBlurbs(store, ids);
  return ok(undefined);
}
