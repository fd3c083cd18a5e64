/**
 * On-demand tools for tests of the agent: no server behind them, one optional argument `text`, and a
 * result that holds words of others.
 */
import type { Callable, Consent } from "../../src/device/agent/callable.ts";

/** Builds one. `calls` receives its name at every call. */
export function onDemandTool(
  toolName: string,
  description: string,
  {
    consent = "always",
    calls = [],
  }: { readonly consent?: Consent; readonly calls?: string[] } = {},
): Callable {
  return {
    declaration: {
      toolName,
      description,
      signature: `${toolName}(text?: string)`,
      parameters: {
        type: "object",
        properties: { text: { type: "string", description: "any text", maxLength: 100 } },
        required: [],
        additionalProperties: false,
      },
    },
    consent: () => consent,
    run: async () => {
      calls.push(toolName);
      return { ok: true, text: `text of ${toolName}`, shown: 1, total: 1, untrusted: true };
    },
  };
}
