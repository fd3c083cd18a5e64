/**
 * The closed set of six tools, as data: the address a person writes (`slug`), the thing at that
 * address (`toolName`), what a model reads and which arguments it may pass. Implementations live in
 * `src/device/tools`; users never add to this list.
 *
 * Every argument is required and flat, because a grammar can force nothing else reliably.
 * Spec: docs/skills.md "Built-ins".
 */

/** One argument of a tool, in JSON Schema's words. */
export interface ToolParameter {
  readonly type: "string";
  readonly description: string;
  readonly maxLength: number;
  readonly pattern?: string;
  /** The values that it may have, when they are few. */
  readonly enum?: readonly string[];
  /** What it is where nothing else is known. */
  readonly default?: string;
  /** The tool whose result lists further values, each at the beginning of a line. */
  readonly listedBy?: string;
}

/** The arguments of a tool as a JSON Schema object. */
export interface ToolParameters {
  readonly type: "object";
  readonly properties: Readonly<Record<string, ToolParameter>>;
  readonly required: readonly string[];
  readonly additionalProperties: false;
}

/** Everything about a tool except what it does. */
export interface ToolDeclaration {
  readonly slug: string;
  readonly toolName: string;
  /** What a picker shows beside the slug. */
  readonly name: string;
  /** One line: the menu entry, and what the executor is told. */
  readonly description: string;
  readonly parameters: ToolParameters;
  /** The call as a model reads it: `find_file(description: string)`. */
  readonly signature: string;
  readonly advertiseInMenu: boolean;
}

const date = {
  type: "string",
  maxLength: 10,
  pattern: "^\\d{4}-\\d{2}-\\d{2}$",
} as const;

/** The tools that ship with pixie, in the order in which lists show them. */
export const toolSet: readonly ToolDeclaration[] = [
  declare({
    slug: "check-notebook",
    toolName: "check_notebook",
    name: "Check Notebook",
    description: "Looks a fact up in the owner's notebook of short, dated notes.",
    properties: {
      query: { type: "string", description: "what to look for, in a few words", maxLength: 400 },
    },
  }),
  declare({
    slug: "find-file",
    toolName: "find_file",
    name: "Find File",
    description: "Finds one of the owner's files from a description, on one device or on all.",
    properties: {
      description: { type: "string", description: "what the file is or holds", maxLength: 400 },
      device: {
        type: "string",
        description: "a device id from list_devices, or all",
        maxLength: 64,
        default: "all",
        listedBy: "list_devices",
      },
    },
  }),
  declare({
    slug: "list-devices",
    toolName: "list_devices",
    name: "List Devices",
    description: "Names the owner's devices and their ids, for find_file.",
    properties: {},
  }),
  declare({
    slug: "grep-memory",
    toolName: "grep_memory",
    name: "Grep Memory",
    description: "Searches the whole memory log word by word, when nothing else had the answer.",
    properties: {
      query: { type: "string", description: "words that the entry contains", maxLength: 400 },
    },
  }),
  declare({
    slug: "current-date",
    toolName: "current_date",
    name: "Current Date",
    description:
      "Says which day it is and what this week or next weekend means in dates; no model knows that by itself, so ask here whenever the answer depends on today.",
    properties: {},
    advertiseInMenu: true,
  }),
  declare({
    slug: "calendar",
    toolName: "queryCalendar",
    name: "Calendar",
    description: "Lists the calendar's events from one day to another, both included.",
    properties: {
      from: { ...date, description: "first day, as YYYY-MM-DD" },
      to: { ...date, description: "last day, as YYYY-MM-DD" },
    },
  }),
];

interface Declaration extends Omit<
  ToolDeclaration,
  "parameters" | "signature" | "advertiseInMenu"
> {
  readonly properties: Readonly<Record<string, ToolParameter>>;
  readonly advertiseInMenu?: boolean;
}

function declare({ properties, advertiseInMenu = false, ...rest }: Declaration): ToolDeclaration {
  const names = Object.keys(properties);
  return {
    ...rest,
    parameters: { type: "object", properties, required: names, additionalProperties: false },
    signature: `${rest.toolName}(${names.map((name) => `${name}: string`).join(", ")})`,
    advertiseInMenu,
  };
}
