/**
 * CallTool's judge: whether what a brain asks for is a call of a bound tool with arguments that its
 * declaration admits. A grammar cannot check patterns, lengths or real days, so this does, always.
 *
 * Refusals are sentences for the brain: they say what is bound. Spec: docs/agent.md "CallTool".
 */
import { err, ok, type Result } from "../../shared/result.ts";
import { codePoints } from "../skills/skill.ts";
import type { ToolParameter } from "../skills/tools.ts";
import type { CallDeclaration } from "./callable.ts";

/** A call that may run. */
export interface CheckedCall<Target> {
  readonly target: Target;
  readonly args: Readonly<Record<string, string>>;
}

/** Judges a call. `isSkill` tells whether a name, in whatever spelling, is a skill's. */
export function checkCall<Target extends { readonly declaration: CallDeclaration }>(
  { tool, args }: { readonly tool: string; readonly args: unknown },
  bound: readonly Target[],
  isSkill: (slug: string) => boolean,
): Result<CheckedCall<Target>, string> {
  const target = bound.find(({ declaration }) => declaration.toolName === tool);
  if (target === undefined) {
    const names = bound.map(({ declaration }) => declaration.toolName);
    return err(unboundText(tool, names, isSkill));
  }
  const problem = argumentProblem(target.declaration, args);
  if (problem !== undefined) return err(`${target.declaration.signature}: ${problem}`);
  return isFlatText(args) ? ok({ target, args }) : err("expected text arguments");
}

/** One key for equal calls, whatever the order of their arguments. */
export function callKey(tool: string, args: unknown): string {
  return JSON.stringify([tool, sorted(args)]);
}

/** Arguments as the trace keeps them: text, and whatever else as its JSON. */
export function shownArguments(args: unknown): Readonly<Record<string, string>> {
  if (typeof args !== "object" || args === null) return {};
  return Object.fromEntries(
    Object.entries(args).map(([name, value]) => [
      name,
      typeof value === "string" ? value : (JSON.stringify(value) ?? ""),
    ]),
  );
}

function unboundText(
  tool: string,
  names: readonly string[],
  isSkill: (slug: string) => boolean,
): string {
  const slug = tool
    .trim()
    .replace(/^@/, "")
    .replace(/\(.*$/s, "")
    .replaceAll("_", "-")
    .toLowerCase();
  const list =
    names.length === 0 ? "there are no bound tools" : `bound tools are ${names.join(", ")}`;
  if (!isSkill(slug)) return `there is no tool ${tool.trim()}; ${list}`;
  const load = names.includes("Skill") ? `, and Skill {id} loads a skill` : "";
  return `${slug} is a skill; ${list}${load}`;
}

function argumentProblem({ parameters }: CallDeclaration, args: unknown): string | undefined {
  if (typeof args !== "object" || args === null || Array.isArray(args)) {
    return "expected args to be an object";
  }
  const given = new Map<string, unknown>(Object.entries(args));
  const missing = parameters.required.find((name) => !given.has(name));
  if (missing !== undefined) return `missing argument ${missing}`;
  const declared = new Map(Object.entries(parameters.properties));
  for (const [name, value] of given) {
    const parameter = declared.get(name);
    if (parameter === undefined) return `there is no argument ${name}`;
    // What may be left out may be left empty: a grammar writes every argument.
    if (value === "" && !parameters.required.includes(name)) continue;
    const problem = valueProblem(parameter, value);
    if (problem !== undefined) return `${name}: ${problem}`;
  }
  return undefined;
}

function valueProblem(parameter: ToolParameter, value: unknown): string | undefined {
  if (typeof value !== "string")
    return `expected text, got ${value === null ? "null" : typeof value}`;
  if (value.trim() === "") return `expected ${parameter.description}, got nothing`;
  if (codePoints(value) > parameter.maxLength) {
    return `expected at most ${parameter.maxLength} characters, got ${codePoints(value)}`;
  }
  if (parameter.pattern !== undefined && !new RegExp(parameter.pattern, "u").test(value)) {
    return `expected ${parameter.description}, got ${value}`;
  }
  if (parameter.enum !== undefined && !parameter.enum.includes(value)) {
    return `expected one of ${parameter.enum.join(", ")}, got ${value}`;
  }
  return isImpossibleDay(value) ? `there is no day ${value}` : undefined;
}

function isImpossibleDay(value: string): boolean {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(value)) return false;
  const time = Date.parse(`${value}T00:00:00Z`);
  return Number.isNaN(time) || new Date(time).toISOString().slice(0, 10) !== value;
}

function isFlatText(args: unknown): args is Readonly<Record<string, string>> {
  return (
    typeof args === "object" &&
    args !== null &&
    Object.values(args).every((value) => typeof value === "string")
  );
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== "object" || value === null) return value;
  return Object.entries(value)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, item]) => [name, sorted(item)]);
}
