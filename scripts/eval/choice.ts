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
  readonly model: null;
  readonly menus: string;
  /** Requests that a handle of the menu fits. */
  readonly n: number;
  readonly top1: number;
  readonly top1Interval: readonly [number, number];
  readonly top3: number;
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

/** Runs the suite for one router: one row for each group of menus (the name up to its first hyphen), and one for all. */
export async function runChoice(
  router: Router,
  brain: string,
  { menus, cases }: ChoiceCases,
  onCase: (line: string) => void = () => undefined,
): Promise<readonly ChoiceRow[]> {
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
    const top3 = first !== null && scored.slice(0, 3).some(({ handle }) => handle === wanted);
    outcomes.push({
      group: menu.split("-")[0] ?? menu,
      wanted,
      first,
      top3,
      asked: verdict.type === "unsure",
    });
  }
  const groups = [...new Set(outcomes.map(({ group }) => group))];
  return [...groups, "all"].map((group) =>
    rowOf(
      { brain, router: router.name, menus: group },
      outcomes.filter((one) => group === "all" || one.group === group),
    ),
  );
}

interface CaseOutcome {
  readonly wanted: string | null;
  readonly first: string | null;
  readonly top3: boolean;
  readonly asked: boolean;
}

function rowOf(
  names: Pick<ChoiceRow, "brain" | "router" | "menus">,
  outcomes: readonly CaseOutcome[],
): ChoiceRow {
  const fitting = outcomes.filter(({ wanted }) => wanted !== null);
  const nothing = outcomes.filter(({ wanted }) => wanted === null);
  const right = fitting.filter(({ wanted, first }) => wanted === first).length;
  const recognised = nothing.filter(({ first }) => first === null).length;
  const said = outcomes.filter(({ first }) => first === null).length;
  return {
    suite: "choice",
    ...names,
    model: null,
    n: fitting.length,
    top1: share(right, fitting.length),
    top1Interval: wilson(right, fitting.length),
    top3: share(fitting.filter(({ top3 }) => top3).length, fitting.length),
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
