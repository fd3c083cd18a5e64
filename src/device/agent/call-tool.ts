/**
 * CallTool's judge: whether what a brain asks for is a call of a bound tool with arguments that its
 * declaration admits. A grammar cannot check patterns, lengths or real days, so this does, always.
 *
 * Refusals are sentences for the brain: they say what is bound. Spec: docs/agent.md "CallTool".
 */
import { err, ok, type Result } from "../../shared/result.ts";
import { codePoints } from "../skills/skill.ts";
import type { ToolDeclaration, ToolParameter } from "../skills/tools.ts";

/** A call that may run. */
export interface CheckedCall {
  readonly declaration: ToolDeclaration;
  readonly args: Readonly<Record<string, string>>;
}

/** Judges a call. `isSkill` tells whether a name, in whatever spelling, is a skill's. */
export function checkCall(
  { tool, args }: { readonly tool: string; readonly args: unknown },
  bound: readonly ToolDeclaration[],
  isSkill: (slug: string) => boolean,
): Result<CheckedCall, string> {
  const declaration = bound.find(({ toolName }) => toolName === tool);
  if (declaration === undefined) return err(unboundText(tool, bound, isSkill));
  const problem = argumentProblem(declaration, args);
  if (problem !== undefined) return err(`${declaration.signature}: ${problem}`);
  return isFlatText(args) ? ok({ declaration, args }) : err("expected text arguments");
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
  bound: readonly ToolDeclaration[],
  isSkill: (slug: string) => boolean,
): string {
  const slug = tool
    .trim()
    .replace(/^@/, "")
    .replace(/\(.*$/s, "")
    .replaceAll("_", "-")
    .toLowerCase();
  const names = bound.map(({ toolName }) => toolName);
  const list =
    names.length === 0 ? "there are no bound tools" : `bound tools are ${names.join(", ")}`;
  return isSkill(slug) ? `${slug} is a skill; ${list}` : `there is no tool ${tool.trim()}; ${list}`;
}

function argumentProblem({ parameters }: ToolDeclaration, args: unknown): string | undefined {
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
