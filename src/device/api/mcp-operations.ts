/**
 * Operations on MCP servers: part of the table in operations.ts.
 *
 * Spec: docs/operating.md "Local API"; docs/agent.md "MCP servers".
 */
import { Type } from "typebox";

import type { McpServerView, McpTestView } from "../mcp/port.ts";
import type { Wire } from "./views.ts";

const text = Type.String();
const texts = Type.Array(text);
const closed = { additionalProperties: false } as const;
const name = Type.String({ maxLength: 128 });
const rule = Type.Union([Type.Literal("ask"), Type.Literal("allow"), Type.Literal("deny")]);

const serverView = Type.Object({
  name: text,
  command: text,
  args: texts,
  env: texts,
  tools: Type.Array(Type.Object({ name: text, tool: text, description: text, rule })),
});
const testView = Type.Object({ server: serverView, changes: texts, problems: texts });

/** Operations on MCP servers by name. */
export const mcpOperations = {
  "mcp-servers": { params: Type.Object({}, closed), result: Type.Array(serverView) },
  "mcp-add": {
    params: Type.Object(
      {
        name,
        command: Type.String({ minLength: 1, maxLength: 4_096 }),
        args: Type.Array(Type.String({ maxLength: 4_096 }), { maxItems: 64 }),
        env: Type.Record(Type.String({ maxLength: 128 }), Type.String({ maxLength: 8_192 })),
      },
      closed,
    ),
    result: testView,
  },
  "mcp-remove": { params: Type.Object({ name }, closed), result: Type.Object({}) },
  "mcp-test": {
    params: Type.Object({ name, accept: Type.Boolean() }, closed),
    result: testView,
  },
  "mcp-rule": {
    params: Type.Object({ target: name, rule }, closed),
    result: Type.Object({ tools: texts }),
  },
};

/** Name of an operation on MCP servers. */
export type McpOperation = keyof typeof mcpOperations;

type Same<A, B> = [A] extends [B] ? ([B] extends [A] ? true : false) : false;

/** Holds exactly as long as the schemas say what the views say. */
export const mcpSchemasFit: [
  Same<Wire<Type.Static<typeof serverView>>, Wire<McpServerView>>,
  Same<Wire<Type.Static<typeof testView>>, Wire<McpTestView>>,
] = [true, true];
