/**
 * From a listed tool to one that the agent can be offered: flat text arguments as a grammar can write
 * them, and back from those texts to the values that the server's schema wants.
 *
 * A tool whose schema cannot be read is left out and named; nothing of a schema is believed beyond the
 * kinds of its arguments. Spec: docs/agent.md "MCP servers".
 */
import { assertNever, err, ok, type Result } from "../../shared/result.ts";
import type { ListedTool } from "./session.ts";

/** One argument. */
export interface McpArgument {
  readonly name: string;
  readonly kind: "text" | "number" | "integer" | "boolean" | "json";
  readonly description: string;
  readonly required: boolean;
  readonly choices: readonly string[] | undefined;
}

/** A tool that can be offered. */
export interface DeclaredTool {
  readonly tool: string;
  /** One line. */
  readonly description: string;
  readonly arguments: readonly McpArgument[];
}

/** Bounds of a tool: its arguments, its texts in characters, its schema in characters of JSON. */
const maxArguments = 32;
const maxDescription = 600;
const maxSchema = 32_768;

const toolName = /^[A-Za-z0-9][A-Za-z0-9_./-]{0,127}$/;
const argumentName = /^[A-Za-z_][A-Za-z0-9_.-]{0,63}$/;

/** Reads a tool. Errors: why it cannot be used. */
export function declareTool({
  name,
  description,
  schema,
}: ListedTool): Result<DeclaredTool, string> {
  const shown = oneLine(name).slice(0, 64);
  if (!toolName.test(name)) return err(`${shown}: its name has characters that no call can carry`);
  if (JSON.stringify(schema).length > maxSchema) {
    return err(`${shown}: its schema is longer than ${maxSchema} characters`);
  }
  const read = argumentsOf(schema);
  return read.ok
    ? ok({
        tool: name,
        description: oneLine(description).slice(0, maxDescription),
        arguments: read.value,
      })
    : err(`${shown}: ${read.error}`);
}

function argumentsOf(schema: unknown): Result<readonly McpArgument[], string> {
  if (!isObject(schema) || schema["type"] !== "object") return err("its schema is no object's");
  const { properties = {}, required = [] } = schema;
  if (!isObject(properties)) return err("its schema is no object's");
  const names = Object.keys(properties);
  if (!isTexts(required) || required.some((one) => !names.includes(one))) {
    return err("its schema requires arguments that it does not declare");
  }
  return names.length > maxArguments || names.some((one) => !argumentName.test(one))
    ? err(`expected at most ${maxArguments} arguments with plain names`)
    : ok(names.map((one) => argumentOf(one, properties[one], required.includes(one))));
}

/** The values that a server wants, from texts. Errors: which argument is of another kind. */
export function valuesOf(
  declared: readonly McpArgument[],
  args: Readonly<Record<string, string>>,
): Result<Readonly<Record<string, unknown>>, string> {
  const values: [string, unknown][] = [];
  for (const { name, kind, required } of declared) {
    const text = args[name];
    // A grammar writes every argument: an empty one that is not required was left out.
    if (text === undefined || (text === "" && !required)) continue;
    const value = valueOf(kind, text);
    if (value === undefined) return err(`${name}: expected ${kind}, got ${text.slice(0, 64)}`);
    values.push([name, value]);
  }
  return ok(Object.fromEntries(values));
}

function valueOf(kind: McpArgument["kind"], text: string): unknown {
  const trimmed = text.trim();
  switch (kind) {
    case "text":
      return text;
    case "boolean":
      return trimmed === "true" ? true : trimmed === "false" ? false : undefined;
    case "json":
      return parseJson(trimmed);
    case "integer":
    case "number": {
      const number = /^-?\d+(\.\d+)?([eE][+-]?\d+)?$/.test(trimmed) ? Number(trimmed) : Number.NaN;
      const fits = kind === "integer" ? Number.isSafeInteger(number) : Number.isFinite(number);
      return fits ? number : undefined;
    }
    default:
      return assertNever(kind);
  }
}

function argumentOf(name: string, property: unknown, required: boolean): McpArgument {
  const { type, description, enum: choices } = isObject(property) ? property : {};
  const kind = kindOf(type, choices);
  return {
    name,
    kind,
    description: oneLine(typeof description === "string" ? description : name).slice(0, 200),
    required,
    choices: kind === "text" && isTexts(choices) && choices.length > 0 ? choices : undefined,
  };
}

function kindOf(type: unknown, choices: unknown): McpArgument["kind"] {
  if (type === "string" || (type === undefined && isTexts(choices))) return "text";
  if (type === "number" || type === "integer" || type === "boolean") return type;
  return "json";
}

/** A server's words in one line, without anything that draws nothing. */
function oneLine(text: string): string {
  return text.replace(/[\s\p{Cc}\p{Cf}\p{Co}\p{Cs}\p{Zl}\p{Zp}]+/gu, " ").trim();
}

function parseJson(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    return value ?? undefined;
  } catch (cause) {
    if (cause instanceof SyntaxError) return undefined;
    throw cause;
  }
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((one) => typeof one === "string");
}
