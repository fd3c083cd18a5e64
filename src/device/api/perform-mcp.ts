/**
 * What the operations on MCP servers do to a device. Part of perform.ts.
 *
 * Spec: docs/operating.md "Local API".
 */
import { ok, type Result } from "../../shared/result.ts";
import type { Device, DeviceError } from "../device.ts";
import type { McpOperation } from "./mcp-operations.ts";
import type { ParamsOf, ResultOf } from "./operations.ts";
import { toWire, type Wire } from "./views.ts";

export type { McpOperation } from "./mcp-operations.ts";

type McpHandlers = {
  readonly [Name in McpOperation]: (
    params: ParamsOf<Name>,
  ) => Promise<Result<ResultOf<Name>, DeviceError>>;
};

/** The operations on a device's MCP servers. */
export function mcpHandlers({ mcp }: Device): McpHandlers {
  return {
    "mcp-servers": async () => ok(toWire(mcp.servers())),
    "mcp-add": async (config) => wired(await mcp.add(config)),
    "mcp-remove": async ({ name }) => {
      const removed = mcp.remove(name);
      return removed.ok ? ok({}) : removed;
    },
    "mcp-test": async ({ name, accept }) => wired(await mcp.test(name, { accept })),
    "mcp-rule": async ({ target, rule }) => {
      const changed = mcp.rule(target, rule);
      return changed.ok ? ok({ tools: [...changed.value] }) : changed;
    },
  };
}

function wired<T>(result: Result<T, DeviceError>): Result<Wire<T>, DeviceError> {
  return result.ok ? ok(toWire(result.value)) : result;
}
