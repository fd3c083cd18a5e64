/**
 * `pixie mcp` and `pixie approvals` at the command line, with a real server, and the question that a
 * terminal asks while a turn waits.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";

import { afterEach, beforeEach, describe, expect, it } from "vitest";

import type { StepReply } from "../../../src/device/model/port.ts";
import { ok } from "../../../src/shared/result.ts";
import { assistantWorld, type AssistantWorld, tinyServer } from "../../support/assistant.ts";
import { cli, cliJson, type CliRun, type CliSetting } from "../../support/cli.ts";
import { fakeDevice } from "../../support/fake-device.ts";
import { scriptedBrain } from "../../support/scripted-brain.ts";

let world: AssistantWorld;
let dataDir: string;
beforeEach(() => {
  world = assistantWorld();
  world.agent.setHarness("resident");
  dataDir = mkdtempSync(path.join(tmpdir(), "pixie-approvals-"));
  writeFileSync(path.join(dataDir, "store-key.json"), "{}", { mode: 0o600 });
});
afterEach(async () => {
  await world.own.close();
  world.library[Symbol.dispose]();
  rmSync(dataDir, { recursive: true, force: true });
});

function setting(more: CliSetting = {}): CliSetting {
  const { device } = fakeDevice({ agent: world.agent, mcp: world.own.mcp });
  return { dataDir, openDevice: () => Promise.resolve(ok(device)), ...more };
}
const run = (args: readonly string[], more: CliSetting = {}): Promise<CliRun> =>
  cli(args, setting(more));
async function addTiny(): Promise<CliRun> {
  const { command, args } = tinyServer("good");
  return await run(["mcp", "add", "tiny", "--env", "KEY=secret", "--", command, ...args]);
}
const steps: readonly StepReply[] = [
  { type: "call", tool: "ToolSearch", args: { query: "tiny-echo" } },
  { type: "call", tool: "tiny-echo", args: { text: "hello\u202E" } },
  { type: "answer", text: "done" },
];

describe("pixie mcp", () => {
  it("adds, lists, tests, rules and removes; what is set in an environment is not shown", async () => {
    const added = await addTiny();
    expect(added.code).toBe(0);
    expect(added.out).toContain("  ask  tiny-echo  Says a text again.\n");
    expect(added.out).toContain("(sets KEY)");
    expect((await addTiny()).code).toBe(7);
    const listed = await run(["mcp", "list"]);
    expect(listed.out).toBe(added.out);
    expect(JSON.stringify(await cliJson(["mcp", "list"], setting()))).not.toContain("secret");
    expect((await run(["mcp", "deny", "tiny-die"])).out).toBe("deny  tiny-die\n");
    expect((await run(["mcp", "allow", "tiny-echo"])).out).toBe("allow  tiny-echo\n");
    const tested = await run(["mcp", "test", "tiny"]);
    expect(tested.out).toContain("  allow  tiny-echo");
    expect(tested.out).toContain("  deny  tiny-die");
    expect((await run(["mcp", "allow", "nothing"])).code).toBe(3);
    expect((await run(["mcp", "remove", "tiny"])).code).toBe(0);
    expect((await run(["mcp", "test", "tiny"])).code).toBe(3);
  });

  it("says which harness offers its tools, and what is wrong with a variable", async () => {
    world.agent.setHarness("planned");
    expect((await addTiny()).err).toContain("pixie align harness resident");
    const wrong = await run(["mcp", "add", "x", "--env", "KEY", "--", "y"]);
    expect(wrong.code).toBe(2);
    expect(wrong.err).toContain("--env: expected NAME=value, got KEY");
  });
});

describe("approvals", () => {
  beforeEach(async () => {
    await addTiny();
    world.brain = scriptedBrain({ steps }).model;
  });

  it("are asked at the terminal while the turn waits, with what would be called drawn", async () => {
    const yes = await run(["ask", "say hello"], { answers: ["y"] });
    expect(yes.questions).toEqual(["Let it run, this once? [y/N] "]);
    expect(yes.err).toContain('{"text":"hello⟨U+202E⟩"}');
    expect(world.agent.approvals().map(({ state }) => state)).toEqual(["allowed"]);
    world.brain = scriptedBrain({ steps }).model;
    await run(["ask", "say hello"], { answers: ["no"] });
    expect(world.agent.approvals().map(({ state }) => state)).toEqual(["allowed", "denied"]);
    const listed = await run(["approvals", "list"]);
    expect(listed.out.split("\n")[1]).toContain("  denied  tiny-echo {");
  });

  it("are refused at once without a terminal and without a daemon", async () => {
    const refused = await cliJson(["ask", "say hello"], setting());
    expect(JSON.stringify(refused)).toContain("not allowed: nobody can be asked here");
    expect(world.agent.approvals()).toEqual([]);
  });

  it("are answered from another terminal, once, by the hash of what was looked at", async () => {
    const question = world.nextQuestion();
    const asked = world.agent.ask("say hello");
    const id = (await question).slice(0, 8);
    expect((await run(["approvals", "allow", id])).err).toContain("missing --hash");
    expect((await run(["approvals", "allow", id, "--hash", "x"])).code).toBe(7);
    const left = await run(["approvals", "allow", id], { answers: ["n"] });
    expect(left.err).toContain("left as it is");
    expect((await run(["approvals", "deny", id])).code).toBe(0);
    expect((await run(["approvals", "deny", id])).code).toBe(7);
    expect((await run(["approvals", "deny", "nothing"])).code).toBe(3);
    await asked;
  });

  it("in a chat the next line is the answer", async () => {
    const chat = await run(["chat"], { answers: ["say hello", "yes", "/exit"] });
    expect(chat.err).toContain("Let it run, this once? [y/N] ");
    expect(world.agent.approvals().map(({ state }) => state)).toEqual(["allowed"]);
    expect(world.agent.chats()[0]?.turns).toBe(1);
  });
});
