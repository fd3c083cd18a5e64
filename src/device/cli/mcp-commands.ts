/**
 * `pixie mcp …`: programs whose tools the agent may be offered, and the owner's rules about them.
 *
 * What a server says of itself is its words: drawn with hidden characters visible, never trusted.
 * Spec: docs/agent.md "MCP servers".
 */
import type { Command } from "commander";

import { ok, type Result } from "../../shared/result.ts";
import type { ResultOf } from "../api/operations.ts";
import type { Session } from "../api/session.ts";
import type { DeviceError } from "../device.ts";
import { addCommand, type CliParts, type Invocation, type Outcome, usage } from "./command.ts";
import { visibleLine } from "./visible.ts";

/** Adds `mcp` and its commands. */
export function registerMcpGroup(program: Command, parts: CliParts): void {
  const mcp = program.command("mcp").description("programs that bring on-demand tools");
  addCommand(mcp, parts, {
    usage: "add <name> <command> [args...]",
    about: "start a server, list its tools and keep both; put -- before arguments with dashes",
    examples: [
      "pixie mcp add notes notes-server",
      "pixie mcp add files --env ROOT=/srv/files -- npx -y some-server --stdio",
    ],
    options: [["--env <pair>...", "NAME=value, set in its environment; repeatable"]],
    run: (invocation) =>
      invocation.withSession({ connect: false }, (session) => add(session, invocation)),
  });
  addCommand(mcp, parts, {
    usage: "list",
    about: "list servers, their tools and your rules",
    examples: ["pixie mcp list"],
    run: ({ withSession }) => withSession({ connect: false }, list),
  });
  addCommand(mcp, parts, {
    usage: "remove <name>",
    about: "end a server and forget it with its tools and rules",
    examples: ["pixie mcp remove notes"],
    run: ({ argument, withSession }) =>
      withSession({ connect: false }, async (session) => {
        const removed = await session.call("mcp-remove", { name: argument(0) ?? "" });
        return removed.ok ? ok({ json: {}, lines: [] }) : removed;
      }),
  });
  addCommand(mcp, parts, {
    usage: "test <name>",
    about: "start a server again, and compare its tools with those that were kept",
    examples: ["pixie mcp test notes", "pixie mcp test notes --accept"],
    options: [["--accept", "keep what it lists now; a changed tool is asked about again"]],
    run: (invocation) =>
      invocation.withSession({ connect: false }, (session) => test(session, invocation)),
  });
  registerRules(mcp, parts);
}

const rules = {
  allow: "let a tool, or all of a server's, run without asking; after words of others it asks",
  deny: "never call a tool, or any of a server's; it is not offered either",
  ask: "be asked about every call, as at the start",
} as const;

function registerRules(mcp: Command, parts: CliParts): void {
  for (const rule of ["allow", "deny", "ask"] as const) {
    addCommand(mcp, parts, {
      usage: `${rule} <target>`,
      about: rules[rule],
      examples: [`pixie mcp ${rule} notes-search`, `pixie mcp ${rule} notes`],
      run: ({ argument, withSession }) =>
        withSession({ connect: false }, async (session) => {
          const changed = await session.call("mcp-rule", { target: argument(0) ?? "", rule });
          if (!changed.ok) return changed;
          const { tools } = changed.value;
          return ok({ json: { rule, tools }, lines: tools.map((name) => `${rule}  ${name}`) });
        }),
    });
  }
}

async function add(session: Session, { args, list: repeated }: Invocation): Promise<Outcome> {
  const [name = "", command = "", ...rest] = args;
  const env = environment(repeated("env"));
  if (!env.ok) return env;
  const added = await session.call("mcp-add", { name, command, args: rest, env: env.value });
  if (!added.ok) return added;
  const alignment = await session.call("alignment", {});
  const planned = alignment.ok && alignment.value.harness === "planned";
  return ok({
    json: added.value,
    lines: serverLines(added.value.server),
    notes: [
      ...added.value.problems.map((problem) => `left out: ${problem}`),
      ...(planned
        ? ["on-demand tools are for the resident harness: pixie align harness resident"]
        : []),
    ],
  });
}

function environment(
  pairs: readonly string[],
): Result<Readonly<Record<string, string>>, DeviceError> {
  const wrong = pairs.find((pair) => !/^[A-Za-z_][A-Za-z0-9_]*=/.test(pair));
  if (wrong !== undefined) {
    return usage(`--env: expected NAME=value, got ${wrong.split("=")[0] ?? ""}`);
  }
  return ok(
    Object.fromEntries(
      pairs.map((pair) => [pair.slice(0, pair.indexOf("=")), pair.slice(pair.indexOf("=") + 1)]),
    ),
  );
}

async function list(session: Session): Promise<Outcome> {
  const servers = await session.call("mcp-servers", {});
  if (!servers.ok) return servers;
  return ok({ json: servers.value, lines: servers.value.flatMap(serverLines) });
}

async function test(session: Session, { argument, flag }: Invocation): Promise<Outcome> {
  const accept = flag("accept");
  const tested = await session.call("mcp-test", { name: argument(0) ?? "", accept });
  if (!tested.ok) return tested;
  const { server, changes, problems } = tested.value;
  return ok({
    json: tested.value,
    lines: serverLines(server),
    notes: [
      ...changes.map((change) => `${accept ? "accepted" : "changed"}: ${change}`),
      ...problems.map((problem) => `left out: ${problem}`),
    ],
  });
}

type Server = ResultOf<"mcp-servers">[number];

function serverLines({ name, command, args, env, tools }: Server): readonly string[] {
  const started = [command, ...args].join(" ");
  const set = env.length === 0 ? "" : `  (sets ${env.join(", ")})`;
  return [
    visibleLine(`${name}: ${started}${set}`),
    ...tools.map((tool) => visibleLine(`  ${tool.rule}  ${tool.name}  ${tool.description}`)),
  ];
}
