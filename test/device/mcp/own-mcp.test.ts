/**
 * MCP servers of a device, with real processes: names in the one namespace, the owner's rules, approvals,
 * and what an agent makes of all that.
 */
import { afterEach, beforeEach, describe, expect, it } from "vitest";

import { type AgentEvent, stopOf } from "../../../src/device/agent/events.ts";
import { mcpSchemasFit } from "../../../src/device/api/mcp-operations.ts";
import { mcpServer } from "../../../src/device/store/agent-tables.ts";
import type { StepReply } from "../../../src/device/model/port.ts";
import { assistantWorld, type AssistantWorld, tinyServer } from "../../support/assistant.ts";
import { valueOf } from "../../support/people.ts";
import { type ScriptedBrain, scriptedBrain } from "../../support/scripted-brain.ts";

let world: AssistantWorld;
beforeEach(() => {
  world = assistantWorld();
  world.agent.setHarness("resident");
});
afterEach(async () => {
  await world.own.close();
  world.library[Symbol.dispose]();
});

const search = (query: string): StepReply => ({
  type: "call",
  tool: "ToolSearch",
  args: { query },
});
const echo = (text: string): StepReply => ({ type: "call", tool: "tiny-echo", args: { text } });
const add = (args: object): StepReply => ({ type: "call", tool: "tiny-add", args });
const answer: StepReply = { type: "answer", text: "done" };
function brainThat(...steps: readonly StepReply[]): ScriptedBrain {
  const brain = scriptedBrain({ steps });
  world.brain = brain.model;
  return brain;
}
async function ask(question: string, more: object = {}): Promise<readonly AgentEvent[]> {
  return valueOf(await world.agent.ask(question, more));
}
const results = (events: readonly AgentEvent[]): readonly string[] =>
  events.flatMap((event) => (event.type === "tool-result" ? [event.text] : []));

describe("adding a server", () => {
  it("keeps its tools under names that nobody holds, all asked about", async () => {
    valueOf(
      world.library.skills.save({
        handle: "tiny echo",
        shortDescription: "x",
        detailedBody: "Say it.",
      }),
    );
    const added = valueOf(await world.own.mcp.add(tinyServer("good")));
    expect(added.server.tools[0]).toEqual({
      name: "tiny-echo-2",
      tool: "echo",
      description: "Says a text again.",
      rule: "ask",
    });
    expect(added.server.tools.every(({ rule }) => rule === "ask")).toBe(true);
    // The other way round: a skill takes no name that an on-demand tool holds.
    const saved = world.library.skills.save({
      handle: "tiny add",
      shortDescription: "x",
      detailedBody: "Add.",
    });
    expect(valueOf(saved).id).toBe("tiny-add-2");
  });

  it("never resolves from a mention", async () => {
    valueOf(await world.own.mcp.add(tinyServer("good")));
    const refused = world.library.skills.save({
      handle: "sly",
      shortDescription: "x",
      detailedBody: "Use @tiny-echo.",
    });
    expect(refused).toMatchObject({ ok: false });
  });

  it("leaves out what lies about its schema, and says so in plain words", async () => {
    const { server, problems } = valueOf(await world.own.mcp.add(tinyServer("lies")));
    expect(server.tools.map(({ tool }) => tool)).toEqual(["echo"]);
    expect(problems).toHaveLength(6);
    expect(problems.join("\n")).toContain("asks-more: its schema requires arguments");
    expect(problems.join("\n")).toContain("echo: listed twice");
    // One line in the prompt, without anything that cannot be seen.
    expect(world.agent.alignment().document).toContain(
      "- tiny-echo: Hidden words - @search-info: x",
    );
  });

  it("refuses odd names and doubles, and keeps nothing of a server that fails", async () => {
    expect(await world.own.mcp.add(tinyServer("good", { name: "Two Words" }))).toMatchObject({
      error: { type: "malformed-server" },
    });
    expect(await world.own.mcp.add(tinyServer("dies-at-once"))).toMatchObject({
      error: { type: "mcp-ended" },
    });
    expect(world.own.mcp.servers()).toEqual([]);
    valueOf(await world.own.mcp.add(tinyServer("good")));
    expect(await world.own.mcp.add(tinyServer("good"))).toMatchObject({
      error: { type: "already-added" },
    });
    valueOf(world.own.mcp.remove("tiny"));
    expect(world.own.mcp.remove("tiny")).toMatchObject({ error: { type: "no-such-server" } });
    expect(world.own.onDemand()).toEqual([]);
  });
});

describe("a call", () => {
  beforeEach(async () => {
    valueOf(await world.own.mcp.add(tinyServer("good")));
  });

  it("waits for the owner, carries the hash of tool and arguments, and is answered once", async () => {
    brainThat(search("tiny echo"), echo("hello"), answer);
    const question = world.nextQuestion();
    const asked = ask("say hello");
    const approvalId = await question;
    const [waits] = world.agent.approvals();
    expect(waits).toMatchObject({ approvalId, tool: "tiny-echo", args: '{"text":"hello"}' });
    const hash = waits?.hash ?? "";
    const answers = world.agent.answerApproval;
    expect(answers({ approvalId, verdict: "allow", hash: `${hash}x` })).toMatchObject({
      error: { type: "approval-outdated" },
    });
    expect(valueOf(answers({ approvalId, verdict: "allow", hash, by: "phone" }))).toMatchObject({
      state: "allowed",
      answeredBy: "phone",
    });
    expect(answers({ approvalId, verdict: "deny", hash })).toMatchObject({
      error: { type: "already-answered" },
    });
    const events = await asked;
    expect(results(events)).toContain("hello");
    expect(events).toContainEqual(
      expect.objectContaining({ type: "tool-result", tool: "tiny-echo", untrusted: true }),
    );
  });

  it("is denied after 30 minutes, and waiting uses up none of the turn's time", async () => {
    brainThat(search("tiny echo"), echo("hello"), answer);
    const question = world.nextQuestion();
    const asked = ask("say hello");
    const approvalId = await question;
    await world.clock.advance(1_800_000);
    const events = await asked;
    expect(results(events)).toContain("not allowed: nobody answered within 30 minutes");
    expect(stopOf(events)?.reason).toBe("answered");
    expect(world.agent.approvals()[0]).toMatchObject({ approvalId, state: "expired" });
  });

  it("is withdrawn when its turn is stopped, and refused at once where nobody can be asked", async () => {
    brainThat(search("tiny echo"), echo("hello"), answer);
    const stop = new AbortController();
    const question = world.nextQuestion();
    const asked = ask("say hello", { signal: stop.signal });
    await question;
    stop.abort();
    expect(stopOf(await asked)?.reason).toBe("aborted");
    expect(world.agent.approvals()[0]).toMatchObject({ state: "withdrawn" });
    brainThat(search("tiny echo"), echo("hello"), answer);
    expect(results(await ask("say hello", { approvals: "deny" }))).toContain(
      "not allowed: nobody can be asked here",
    );
  });

  it("runs where it is allowed, until words of others were read; denied comes before allowed", async () => {
    valueOf(world.own.mcp.rule("tiny", "allow"));
    brainThat(search("tiny echo"), echo("one"), echo("two"), answer);
    const events = await ask("say it", { approvals: "deny" });
    expect(results(events).slice(1)).toEqual(["one", "not allowed: nobody can be asked here"]);
    // A rule that is made during a turn holds at once.
    const brain = brainThat(search("tiny echo"));
    world.brain = {
      ...brain.model,
      step: async (request, signal) => {
        if (request.calls.length === 0) return await brain.model.step(request, signal);
        world.own.mcp.rule("tiny-echo", "deny");
        return request.calls.length === 1 ? echo("three") : answer;
      },
    };
    expect(results(await ask("say it"))).toContain("tiny-echo is on the owner's deny list");
    // And a denied tool is not even offered.
    brainThat(search("echo"), answer);
    const later = await ask("say it");
    expect(results(later)[0]).toContain("nothing fits");
    expect(world.agent.alignment().document).not.toContain("tiny-echo");
  });

  it("brings values of the kinds that the server declared, and says which one does not fit", async () => {
    valueOf(world.own.mcp.rule("tiny-add", "allow"));
    brainThat(
      search("tiny add"),
      add({ a: "two", b: "1" }),
      add({ a: "2", b: "1.5", deep: "" }),
      answer,
    );
    const events = await ask("add", { approvals: "deny" });
    expect(results(events).slice(1)).toEqual([
      "a: expected integer, got two",
      '["number","number",null]',
    ]);
    brainThat(search("tiny add"), add({ a: "2", b: "1", deep: '{"x":{"y":1}}' }), answer);
    expect(results(await ask("add", { approvals: "deny" }))[1]).toBe(
      '["number","number",{"x":{"y":1}}]',
    );
  });

  it("cuts a long answer visibly, and a failure's words stay words of others", async () => {
    valueOf(world.own.mcp.rule("tiny", "allow"));
    brainThat(search("tiny-big"), { type: "call", tool: "tiny-big", args: {} }, answer);
    const [, big] = results(await ask("much", { approvals: "deny" }));
    expect(big?.endsWith("x\n[6000 of 100000 characters]")).toBe(true);
    const brain = brainThat(
      search("tiny-fail"),
      { type: "call", tool: "tiny-fail", args: {} },
      answer,
    );
    await ask("fail", { approvals: "deny" });
    expect(brain.steps[2]?.calls[1]).toMatchObject({ ok: false, untrusted: true });
    expect(brain.steps[2]?.calls[1]?.promptText.startsWith("<<< words of others")).toBe(true);
  });
});

it("a server that changed a tool since is not called until its owner accepted", async () => {
  valueOf(await world.own.mcp.add(tinyServer("changed", { mark: "one" })));
  valueOf(world.own.mcp.rule("tiny", "allow"));
  // The same configuration, another program behind it: what a package update does.
  world.store.write((tx) =>
    tx
      .update(mcpServer)
      .set({ args: argsOf("two") })
      .run(),
  );
  brainThat(search("tiny echo"), echo("x"), answer);
  expect(results(await ask("q", { approvals: "deny" }))[1]).toContain(
    "its tool echo is not the one that was added",
  );
  const tested = valueOf(await world.own.mcp.test("tiny", { accept: false }));
  expect(tested.changes).toEqual(["echo changed its description or its arguments"]);
  const accepted = valueOf(await world.own.mcp.test("tiny", { accept: true }));
  expect(accepted.server.tools[0]?.rule).toBe("ask");
  valueOf(world.own.mcp.rule("tiny", "allow"));
  brainThat(search("tiny echo"), echo("x"), answer);
  expect(results(await ask("q", { approvals: "deny" }))[1]).toBe("x");
});

it("the local API's schemas say what the views say", () => {
  expect(mcpSchemasFit).toEqual([true, true]);
});

function argsOf(mark: string): string {
  return JSON.stringify(tinyServer("changed", { mark }).args);
}
