/**
 * `pixie align …`: what the agent is told. Shows the document as the brain receives it, and changes
 * the three choices that make it: instructions, blurbs, and the skills on the menu.
 *
 * Spec: docs/agent.md "The system prompt".
 */
import type { Command } from "commander";

import { menuText } from "../agent/alignment.ts";
import { menuBudget } from "../agent/menu-budget.ts";
import { err, ok, type Result } from "../../shared/result.ts";
import type { ResultOf } from "../api/operations.ts";
import type { DeviceError } from "../device.ts";
import type { Session } from "../api/session.ts";
import { menuOf, openRegistry } from "../skills/registry.ts";
import { addCommand, type CliParts, type Invocation, type Outcome, usage } from "./command.ts";
import { skillReference } from "./references.ts";
import { eventLines } from "./trace-text.ts";
import { visibleText } from "./visible.ts";

/** Adds `align` and its commands. */
export function registerAlignGroup(program: Command, parts: CliParts): void {
  const align = program.command("align").description("what your agent is told");
  addCommand(align, parts, {
    usage: "show",
    about: "show the document exactly as the brain receives it, with its price",
    examples: ["pixie align show", "pixie align show --context 4096"],
    options: [["--context <tokens>", "judge the menu's share of a context of that size"]],
    run: (invocation) =>
      invocation.withSession({ connect: false }, (session) => show(session, invocation)),
  });
  addCommand(align, parts, {
    usage: "select [skills...]",
    about: "put exactly these skills on the menu; without any, show which are",
    examples: ["pixie align select search-info check-schedule", "pixie align select --none"],
    options: [["--none", "no skill: no planning"]],
    run: (invocation) =>
      invocation.withSession({ connect: false }, (session) => select(session, invocation)),
  });
  addCommand(align, parts, {
    usage: "instructions",
    about: "show, rewrite or reset the base instructions",
    examples: [
      "pixie align instructions",
      "pixie align instructions --file rules.txt",
      "pixie align instructions --reset",
    ],
    options: [
      ["--file <file>", "new instructions, - for standard input"],
      ["--reset", "back to the default"],
    ],
    run: (invocation) =>
      invocation.withSession({ connect: false }, (session) => instructions(session, invocation)),
  });
  addCommand(align, parts, {
    usage: "blurbs [names...]",
    about:
      "turn exactly these blurbs on (they tell about a tool and grant nothing); without any, show all",
    examples: [
      "pixie align blurbs",
      "pixie align blurbs notebook date",
      "pixie align blurbs --none",
    ],
    options: [["--none", "all off"]],
    run: (invocation) =>
      invocation.withSession({ connect: false }, (session) => blurbs(session, invocation)),
  });
  registerTurnCommands(align, parts);
}

function registerTurnCommands(align: Command, parts: CliParts): void {
  addCommand(align, parts, {
    usage: "harness [name]",
    about:
      "how turns go: planned (a plan first, for small models) or resident (a loop that loads skills); without a name, show which",
    examples: ["pixie align harness", "pixie align harness resident"],
    run: (invocation) =>
      invocation.withSession({ connect: false }, (session) => harness(session, invocation)),
  });
  addCommand(align, parts, {
    usage: "tokens",
    about: "the price of the document part by part, counted by the brain in use",
    examples: ["pixie align tokens"],
    run: ({ withSession }) => withSession({ connect: false }, priced),
  });
  addCommand(align, parts, {
    usage: "rehearse <question>",
    about: "plan and bind, and run nothing: which skill and which tools a question would get",
    examples: ['pixie align rehearse "what is on this weekend?"'],
    run: ({ argument, withSession }) =>
      withSession({ connect: false }, async (session) => {
        const trace = await session.call("rehearse", { question: argument(0) ?? "" });
        if (!trace.ok) return trace;
        return ok({ json: trace.value, lines: trace.value.flatMap(eventLines) });
      }),
  });
}

type Alignment = ResultOf<"alignment">;

async function show(session: Session, invocation: Invocation): Promise<Outcome> {
  const context = invocation.text("context");
  if (context !== undefined && !/^[1-9]\d{2,8}$/.test(context)) {
    return usage(`--context: expected a number of tokens from 100, got ${context}`);
  }
  const alignment = await session.call("alignment", {});
  const skills = await session.call("skills", {});
  if (!alignment.ok) return alignment;
  if (!skills.ok) return skills;
  const notes = [priceText(alignment.value)];
  if (context !== undefined) {
    const menu = menuOf(openRegistry(skills.value));
    const { state, text } = menuBudget(menu, menuText(menu), Number(context));
    if (state === "refuse") return err({ type: "menu-too-large", message: text });
    if (state === "warn") notes.push(text);
  }
  return ok({
    json: alignment.value,
    lines: visibleText(alignment.value.document).split("\n"),
    notes,
  });
}

function priceText({ tokens, tokensAreExact, selected }: Alignment): string {
  const price = `${tokensAreExact ? "" : "~"}${tokens} tokens`;
  return selected.length === 0 ? `${price}; no skill on the menu, so no planning` : price;
}

async function select(session: Session, { args, flag }: Invocation): Promise<Outcome> {
  const ids = args.map(skillReference);
  if (flag("none") && ids.length > 0) return usage("--none: expected no skills beside it");
  if (flag("none") || ids.length > 0) {
    const selected = await session.call("align-select", { ids: [...ids] });
    if (!selected.ok) return selected;
  }
  const alignment = await session.call("alignment", {});
  if (!alignment.ok) return alignment;
  const { selected } = alignment.value;
  const off = ids.filter((id) => !selected.includes(id));
  return ok({
    json: { selected },
    lines: selected.map((id) => `@${id}`),
    notes: [
      ...off.map((id) => `@${id} is disabled: it comes onto the menu once it is enabled`),
      ...(selected.length === 0 ? ["no skill on the menu: no planning"] : []),
    ],
  });
}

async function instructions(session: Session, invocation: Invocation): Promise<Outcome> {
  const wanted = await newInstructions(invocation);
  if (wanted === undefined) return await shownInstructions(session);
  if (!wanted.ok) return wanted;
  const changed = await session.call("align-instructions", { text: wanted.value });
  return changed.ok ? await shownInstructions(session) : changed;
}

/** The text to store, null to reset, or undefined when nothing is to change. */
async function newInstructions({
  text,
  flag,
  io,
}: Invocation): Promise<Result<string | null, DeviceError> | undefined> {
  const file = text("file");
  if (file === undefined) return flag("reset") ? ok(null) : undefined;
  if (flag("reset")) return usage("--reset: expected no --file beside it");
  const read = file === "-" ? ok(await io.readInput()) : io.readFile(file);
  return read.ok ? ok(read.value.replace(/\r?\n$/, "")) : read;
}

async function shownInstructions(session: Session): Promise<Outcome> {
  const alignment = await session.call("alignment", {});
  if (!alignment.ok) return alignment;
  const { instructions: current, instructionsAreDefault } = alignment.value;
  return ok({
    json: { instructions: current, instructionsAreDefault },
    lines: visibleText(current).split("\n"),
    notes: instructionsAreDefault ? ["these are the default instructions"] : [],
  });
}

async function priced(session: Session): Promise<Outcome> {
  const price = await session.call("align-price", {});
  if (!price.ok) return price;
  const { brain, exact, tokens: all, contextTokens, parts } = price.value;
  const about = exact ? "" : "~";
  const whole = { part: "all of it", tokens: all };
  return ok({
    json: price.value,
    lines: [...parts, whole].map((one) => `${about}${one.tokens}  ${one.part}`),
    notes: [
      exact
        ? `counted by the tokenizer of ${brain}`
        : `${brain} has no tokenizer: characters divided by four`,
      ...(contextTokens === null ? [] : [`${brain} reads ${contextTokens} tokens at once`]),
    ],
  });
}

async function harness(session: Session, { argument }: Invocation): Promise<Outcome> {
  const wanted = argument(0);
  if (wanted !== undefined) {
    if (wanted !== "planned" && wanted !== "resident") {
      return usage(`expected planned or resident, got ${wanted}`);
    }
    const changed = await session.call("align-harness", { harness: wanted });
    if (!changed.ok) return changed;
  }
  const alignment = await session.call("alignment", {});
  if (!alignment.ok) return alignment;
  const { harness: current } = alignment.value;
  return ok({ json: { harness: current }, lines: [current] });
}

async function blurbs(session: Session, { args, flag }: Invocation): Promise<Outcome> {
  if (flag("none") && args.length > 0) return usage("--none: expected no blurbs beside it");
  if (flag("none") || args.length > 0) {
    const changed = await session.call("align-blurbs", { ids: [...args] });
    if (!changed.ok) return changed;
  }
  const alignment = await session.call("alignment", {});
  if (!alignment.ok) return alignment;
  return ok({
    json: alignment.value.blurbs,
    lines: alignment.value.blurbs.map(({ id, on, text }) => `${id}  ${on ? "on" : "off"}  ${text}`),
  });
}
