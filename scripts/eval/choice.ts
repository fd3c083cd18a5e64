/**
 * The `choice` suite: does a router name the right handle for a request, before several menus, and
 * does it see when none fits? Cases are data that anyone can replace.
 *
 * Spec: docs/evaluation.md.
 */
import { type TSchema, Type } from "typebox";
import { Value } from "typebox/value";

import type { MenuLine, Router } from "../../src/device/router/port.ts";

/** Menus by name, and requests with the handle that is right, or null when none is. */
export interface ChoiceCases {
  readonly menus: Readonly<Record<string, readonly (readonly [handle: string, line: string])[]>>;
  readonly cases: readonly (readonly [menu: string, request: string, handle: string | null])[];
}

/** One line of results. Shares are 0 … 1; intervals are Wilson's at 95 %. */
export interface ChoiceRow {
  readonly suite: "choice";
  readonly brain: string;
  readonly router: string;
  /** SHA-256 of the model's file; null where none takes part. */
  readonly model: string | null;
  readonly menus: string;
  /** Requests that a handle of the menu fits. */
  readonly n: number;
  readonly top1: number;
  readonly top1Interval: readonly [number, number];
  /** The right handle is among the first three, whatever the verdict; null: the brain ranks nothing. */
  readonly top3: number | null;
  /** Of these requests, those of which it is said that nothing fits. */
  readonly wronglyClaimed: number;
  readonly wronglyClaimedInterval: readonly [number, number];
  /** Of these requests, those at which the owner is asked, and the right one is among those offered. */
  readonly offered: number;
  /** Requests that nothing fits, how many of them were recognised, and how often "nothing" was right. */
  readonly noneN: number;
  readonly none: number;
  readonly noneInterval: readonly [number, number];
  readonly nonePrecision: number;
  /** Share of requests at which the router asks instead of choosing. */
  readonly asked: number;
}

const pair = Type.Tuple([Type.String(), Type.String()]);
const casesSchema: TSchema = Type.Object({
  menus: Type.Record(Type.String(), Type.Array(pair)),
  cases: Type.Array(
    Type.Tuple([Type.String(), Type.String(), Type.Union([Type.String(), Type.Null()])]),
  ),
});

/** Reads cases. Throws with the first thing that is wrong with them. */
export function parseCases(json: string): ChoiceCases {
  const value: unknown = JSON.parse(json);
  if (!isCases(value)) {
    const [problem] = Value.Errors(casesSchema, value);
    throw new Error(`cases: ${problem?.instancePath ?? ""} ${problem?.message ?? "malformed"}`);
  }
  for (const [menu, request, handle] of value.cases) {
    const lines = value.menus[menu];
    if (lines === undefined) throw new Error(`cases: no menu ${menu} for “${request}”`);
    if (handle !== null && !lines.some(([one]) => one === handle)) {
      throw new Error(`cases: the menu ${menu} has no @${handle} for “${request}”`);
    }
  }
  return value;
}

function isCases(value: unknown): value is ChoiceCases {
  return Value.Check(casesSchema, value);
}

/** What takes part. */
export interface Contender {
  readonly brain: string;
  readonly router: Router;
  readonly model: string | null;
  /** Whether the order behind the first means anything. */
  readonly ranks: boolean;
}

/** Runs the suite for one contender: one row for each group of menus (the name up to its first hyphen), and one for all. */
export async function runChoice(
  contender: Contender,
  { menus, cases }: ChoiceCases,
  onCase: (line: string) => void = () => undefined,
): Promise<readonly ChoiceRow[]> {
  const { router } = contender;
  const { signal } = new AbortController();
  const outcomes: (CaseOutcome & { readonly group: string })[] = [];
  for (const [menu, request, wanted] of cases) {
    const lines: readonly MenuLine[] = (menus[menu] ?? []).map(([handle, line]) => ({
      handle,
      line,
    }));
    const ranking = await router.rank(request, lines, signal);
    if (ranking.type === "failed") throw new Error(`${router.name}: ${ranking.reason}`);
    const { scored, verdict } = ranking;
    const first = verdict.type === "none" ? null : (scored[0]?.handle ?? null);
    onCase(
      `${first === wanted ? "ok  " : "MISS"} ${menu}: ${request} → ${first} (${wanted}, ${verdict.type})`,
    );
    const top3 = scored.slice(0, 3).some(({ handle }) => handle === wanted);
    outcomes.push({
      group: menu.split("-")[0] ?? menu,
      wanted,
      first,
      top3,
      asked: verdict.type === "unsure",
      offered: verdict.type === "unsure" && verdict.handles.some((one) => one === wanted),
    });
  }
  const groups = [...new Set(outcomes.map(({ group }) => group))];
  return [...groups, "all"].map((group) =>
    rowOf(
      contender,
      group,
      outcomes.filter((one) => group === "all" || one.group === group),
    ),
  );
}

interface CaseOutcome {
  readonly wanted: string | null;
  readonly first: string | null;
  readonly top3: boolean;
  readonly asked: boolean;
  readonly offered: boolean;
}

function rowOf(
  { brain, router, model, ranks }: Contender,
  menus: string,
  outcomes: readonly CaseOutcome[],
): ChoiceRow {
  const fitting = outcomes.filter(({ wanted }) => wanted !== null);
  const nothing = outcomes.filter(({ wanted }) => wanted === null);
  const right = fitting.filter(({ wanted, first }) => wanted === first).length;
  const recognised = nothing.filter(({ first }) => first === null).length;
  const claimed = fitting.filter(({ first }) => first === null).length;
  const said = outcomes.filter(({ first }) => first === null).length;
  return {
    suite: "choice",
    brain,
    router: router.name,
    model,
    menus,
    n: fitting.length,
    top1: share(right, fitting.length),
    top1Interval: wilson(right, fitting.length),
    top3: ranks ? share(fitting.filter(({ top3 }) => top3).length, fitting.length) : null,
    wronglyClaimed: share(claimed, fitting.length),
    wronglyClaimedInterval: wilson(claimed, fitting.length),
    offered: share(fitting.filter(({ offered }) => offered).length, fitting.length),
    noneN: nothing.length,
    none: share(recognised, nothing.length),
    noneInterval: wilson(recognised, nothing.length),
    nonePrecision: share(recognised, said),
    asked: share(outcomes.filter(({ asked }) => asked).length, outcomes.length),
  };
}

/** Wilson's 95 % interval of a share. */
export function wilson(hits: number, n: number): readonly [number, number] {
  if (n === 0) return [0, 1];
  const z = 1.96;
  const middle = (hits + (z * z) / 2) / (n + z * z);
  const half = (z * Math.sqrt((hits * (n - hits)) / n + (z * z) / 4)) / (n + z * z);
  return [round(Math.max(0, middle - half)), round(Math.min(1, middle + half))];
}

function share(hits: number, n: number): number {
  return n === 0 ? 0 : round(hits / n);
}

function round(value: number): number {
  return Math.round(value * 1_000) / 1_000;
}
