/**
 * What the agent of a device is told, as its owner sees and changes it: the Alignment document of the
 * chosen harness, instructions, blurbs, and its price.
 *
 * How the document is made is in agent/; turns are in assistant.ts. Spec: docs/agent.md "The system
 * prompt".
 */
import { err, ok, type Result } from "../shared/result.ts";
import {
  type Alignment,
  blurbId,
  blurbs,
  defaultInstructions,
  estimatedTokens,
  maxInstructions,
  systemPrompt,
} from "./agent/alignment.ts";
import type { CallDeclaration } from "./agent/callable.ts";
import type { Harness } from "./agent/events.ts";
import type { AgentError, AlignmentView, PriceView } from "./agent/port.ts";
import { pricedParts } from "./agent/price.ts";
import { residentPrompt } from "./agent/resident-prompt.ts";
import { readAlignment, storeBlurbs, storeInstructions } from "./library/alignment.ts";
import { readCatalogue } from "./library/catalogue.ts";
import type { Model } from "./model/port.ts";
import { menuOf, openRegistry } from "./skills/registry.ts";
import { codePoints } from "./skills/skill.ts";
import { toolSet } from "./skills/tools.ts";
import { getSetting, putSetting } from "./store/settings.ts";
import type { DeviceStore, ReadTx } from "./store/sqlite.ts";

/** What a view is made with beside the store. */
export interface DocumentParts {
  readonly onDemand: readonly CallDeclaration[];
  /** Exact, where a brain with a tokenizer is loaded. */
  readonly countTokens: ((text: string) => number) | undefined;
}

/** What the owner chose, as the prompt is made of it. */
export function alignmentOf(tx: ReadTx): Alignment {
  const stored = readAlignment(tx);
  return {
    instructions: stored.instructions,
    // A release may retire a blurb; its name is then nobody's.
    blurbs: stored.blurbs.flatMap((name) => blurbId(name) ?? []),
  };
}

/** The document and the choices behind it. */
export function alignmentView(tx: ReadTx, { onDemand, countTokens }: DocumentParts): AlignmentView {
  const alignment = alignmentOf(tx);
  const harness = harnessOf(tx);
  const menu = menuOf(openRegistry(readCatalogue(tx).skills, toolSet));
  const document =
    harness === "resident"
      ? residentPrompt(alignment, menu, onDemand)
      : systemPrompt(alignment, menu);
  return {
    harness,
    document,
    tokens: (countTokens ?? estimatedTokens)(document),
    tokensAreExact: countTokens !== undefined,
    instructions: alignment.instructions ?? defaultInstructions,
    instructionsAreDefault: alignment.instructions === undefined,
    blurbs: blurbs.map(({ id, text }) => ({ id, on: alignment.blurbs.includes(id), text })),
    selected: menu.skills.map(({ id }) => id),
  };
}

/** The price of the document for a brain. */
export function priceView(
  tx: ReadTx,
  { name, countTokens, contextTokens }: Model,
  onDemand: DocumentParts["onDemand"],
): PriceView {
  const { document } = alignmentView(tx, { onDemand, countTokens });
  const menu = menuOf(openRegistry(readCatalogue(tx).skills, toolSet));
  const count = countTokens ?? estimatedTokens;
  return {
    brain: name,
    exact: countTokens !== undefined,
    tokens: count(document),
    contextTokens,
    parts: pricedParts(alignmentOf(tx), menu, { document, countTokens: count }),
  };
}

const harnessKey = "agent-harness";

/** The harness that was chosen; `planned` on a fresh device. */
export function harnessOf(tx: ReadTx): Harness {
  return getSetting(tx, harnessKey) === "resident" ? "resident" : "planned";
}

/** Chooses a harness. */
export function setHarness(store: DeviceStore, harness: Harness): void {
  store.write((tx) => putSetting(tx, harnessKey, harness));
}

/** Replaces the base instructions; `undefined` resets them. */
export function setInstructions(
  store: DeviceStore,
  text: string | undefined,
): Result<undefined, AgentError> {
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

/** Turns exactly these blurbs on. Errors: one that does not exist. */
export function setBlurbs(
  store: DeviceStore,
  ids: readonly string[],
): Result<undefined, AgentError> {
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
