/**
 * The agent of a device: the owner's skills and choices from the store, a brain, and the tools, made
 * into turns whose traces are kept.
 *
 * Built by the runtime. How a turn goes is in agent/turn.ts; what the agent is told is in
 * assistant-document.ts; what tools may reach is decided where they are built. Spec: docs/agent.md.
 */
import type { Clock } from "../shared/clock.ts";
import { typeableId } from "../shared/ids.ts";
import { err, ok, type Result } from "../shared/result.ts";
import type { Rng } from "../shared/rng.ts";
import { estimatedTokens } from "./agent/alignment.ts";
import type { Callable } from "./agent/callable.ts";
import { nobodyAnswers } from "./agent/consent.ts";
import { type AgentEvent, stopOf } from "./agent/events.ts";
import { exchangeOf, type History, keepHistory, noHistory } from "./agent/history.ts";
import { defaultLimits } from "./agent/limits.ts";
import type { AgentError, RunView } from "./agent/port.ts";
import { type Approved, approvedProposal } from "./agent/proposal.ts";
import { parseTrace } from "./agent/trace.ts";
import { runTurn } from "./agent/turn.ts";
import type { Approver, Plan } from "./agent/turn-parts.ts";
import type { Approvals } from "./approvals.ts";
import type { TurnOptions, UnqueuedAgent } from "./ask-queue.ts";
import {
  alignmentOf,
  alignmentView,
  harnessOf,
  priceView,
  setBlurbs,
  setHarness,
  setInstructions,
} from "./assistant-document.ts";
import { selectSkills } from "./library/alignment.ts";
import { readCatalogue } from "./library/catalogue.ts";
import type { Model } from "./model/port.ts";
import { withholdHealings } from "./skills/expand.ts";
import { pendingHealings } from "./skills/origins.ts";
import { openRegistry } from "./skills/registry.ts";
import { codePoints } from "./skills/skill.ts";
import { toolSet } from "./skills/tools.ts";
import {
  addAgentRun,
  agentRunsById,
  agentRunsOfChat,
  approveAgentRun,
  listAgentChats,
  listAgentRuns,
} from "./store/agent-runs.ts";
import type { DeviceStore, ReadTx, WriteTx } from "./store/sqlite.ts";
import type { ToolBox } from "./tools/tool.ts";

/** What the agent is made of. */
export interface AssistantParts {
  readonly store: DeviceStore;
  readonly clock: Clock;
  readonly rng: Rng;
  /** The brain in use, loaded at the first question. */
  readonly brain: () => Promise<Model>;
  /** Prices of texts, where the brain in use is open and has a tokenizer. */
  readonly countTokens?: () => ((text: string) => number) | undefined;
  readonly tools: ToolBox;
  /** Tools of MCP servers that the owner did not deny. */
  readonly onDemand: () => readonly Callable[];
  readonly approvals: Approvals;
  /** IANA name of the zone that the device is in. */
  readonly zone: () => string;
  /** Runs when the menu changed. */
  readonly onSkillsChanged: () => void;
  /** Runs in the transaction that keeps a turn. */
  readonly onRun?: (tx: WriteTx, events: readonly AgentEvent[]) => void;
}

/** Longest question. Units: code points. */
const maxQuestion = 8_000;
/** Turns, and chats, that a list shows. */
const listed = 100;
/** Turns of a chat that are looked at. */
const chatTurns = 200;
/** What a chat's history may take of a context, and the context of a brain that names none. Units: tokens. */
const historyShare = 0.25;
const assumedContext = 4_096;

/** Builds the agent. Nothing is loaded before the first question. */
export function createAssistant(parts: AssistantParts): UnqueuedAgent {
  const { store, rng } = parts;
  return {
    ask: async (question, options = {}) => {
      const problem = questionProblem(question);
      if (problem !== undefined) return err({ type: "malformed-question", message: problem });
      return ok(await ask(parts, await parts.brain(), { question }, options));
    },
    approve: async (runId, options = {}) => {
      const approved = approve(store, runId);
      if (!approved.ok) return approved;
      const { question, chatId, plan } = approved.value;
      const more = { ...options, mode: "agent", ...(chatId === null ? {} : { chatId }) } as const;
      return ok(await ask(parts, await parts.brain(), { question, plan }, more));
    },
    startChat: () => typeableId(rng),
    chats: () => store.read((tx) => listAgentChats(tx, listed)),
    runs: () => store.read((tx) => listAgentRuns(tx, listed).map(runView)),
    run: (runId) => {
      const found = store.read((tx) => storedRun(tx, runId));
      return found.ok ? ok(parseTrace(found.value.trace)) : found;
    },
    alignment: () => {
      const onDemand = parts.onDemand().map(({ declaration }) => declaration);
      return store.read((tx) =>
        alignmentView(tx, { onDemand, countTokens: parts.countTokens?.() }),
      );
    },
    price: async () => {
      const model = await parts.brain();
      const onDemand = parts.onDemand().map(({ declaration }) => declaration);
      return store.read((tx) => priceView(tx, model, onDemand));
    },
    select: (ids) => {
      const selected = selectSkills(store, ids);
      if (selected.ok) parts.onSkillsChanged();
      return selected;
    },
    setInstructions: (text) => setInstructions(store, text),
    setBlurbs: (ids) => setBlurbs(store, ids),
    approvals: parts.approvals.list,
    answerApproval: parts.approvals.answer,
    setHarness: (harness) => setHarness(store, harness),
  };
}

async function ask(
  { store, clock, rng, tools, zone, onRun, onDemand, approvals: asking }: AssistantParts,
  model: Model,
  { question, plan: approved }: { readonly question: string; readonly plan?: Plan | undefined },
  options: TurnOptions,
): Promise<readonly AgentEvent[]> {
  const { rehearse = false, mode = "agent", chatId, approvals = "wait" } = options;
  const { signal, onEvent, stepAside = (wait) => wait() } = options;
  const asideApprover: Approver = (...asked) => stepAside(() => asking.approver(...asked));
  const { skills, origins, alignment, harness, history } = store.read((tx) => ({
    ...readCatalogue(tx),
    alignment: alignmentOf(tx),
    harness: harnessOf(tx),
    history: chatId === undefined ? noHistory : historyOf(tx, chatId, model),
  }));
  const slugs = new Set(toolSet.map((tool) => tool.slug));
  const healings = pendingHealings(skills, origins, (slug) => slugs.has(slug));
  const runId = typeableId(rng);
  const startedMs = clock.nowMs();
  const events = await runTurn(
    {
      model,
      tools,
      clock,
      zone: zone(),
      limits: defaultLimits,
      approver: approvals === "wait" ? asideApprover : nobodyAnswers,
    },
    {
      runId,
      question,
      mode,
      harness,
      history,
      registry: openRegistry(skills, toolSet),
      alignment,
      onDemand: onDemand(),
      withhold: withholdHealings(healings),
      rehearse,
      ...(approved === undefined ? {} : { approved }),
      ...(signal === undefined ? {} : { signal }),
      ...(onEvent === undefined ? {} : { onEvent }),
    },
  );
  if (!rehearse) {
    const stopReason = stopOf(events)?.reason ?? "aborted";
    const trace = JSON.stringify(events);
    store.write((tx) => {
      addAgentRun(tx, { runId, startedMs, question, stopReason, trace, chatId: chatId ?? null });
      onRun?.(tx, events);
    });
  }
  return events;
}

function historyOf(tx: ReadTx, chatId: string, model: Model): History {
  const turns = agentRunsOfChat(tx, chatId, chatTurns);
  const exchanges = turns.flatMap(({ trace }) => exchangeOf(parseTrace(trace)) ?? []);
  const budget = (model.contextTokens ?? assumedContext) * historyShare;
  return keepHistory(exchanges, budget, model.countTokens ?? estimatedTokens);
}

function questionProblem(question: string): string | undefined {
  if (question.trim() === "") return "the question is empty: expected some words";
  const length = codePoints(question);
  return length > maxQuestion
    ? `the question is too long: expected at most ${maxQuestion} characters, got ${length}`
    : undefined;
}

type StoredRun = ReturnType<typeof agentRunsById>[number];

function storedRun(tx: ReadTx, runId: string): Result<StoredRun, AgentError> {
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
  return ok(run);
}

function runView({ chatId, ...run }: Omit<StoredRun, "trace">): RunView {
  return { ...run, chatId: chatId ?? undefined };
}

/** Takes a proposal, so that nobody else carries it out as well. */
function approve(
  store: DeviceStore,
  runId: string,
): Result<Approved & { readonly chatId: string | null }, AgentError> {
  return store.write((tx) => {
    const run = storedRun(tx, runId);
    if (!run.ok) return run;
    const { chatId, stopReason, trace } = run.value;
    if (stopReason === "approved") {
      return err({
        type: "already-approved",
        message: `${runId} was carried out already: ask again for another plan`,
      });
    }
    const approved = approvedProposal(parseTrace(trace));
    if (approved === undefined || !approveAgentRun(tx, run.value.runId)) {
      return err({
        type: "not-a-proposal",
        message: `${runId} ended as ${stopReason}: expected a run of pixie ask --mode plan or goal`,
      });
    }
    return ok({ ...approved, chatId });
  });
}
