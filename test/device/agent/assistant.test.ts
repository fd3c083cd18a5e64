/**
 * The agent of a real device over its store and the router that ships, and its commands: what is
 * asked is stored, shown again, and told to the brain exactly as Alignment shows it.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";

import { afterEach, beforeEach, describe, expect, it } from "vitest";

import { answerOf, stopOf } from "../../../src/device/agent/events.ts";
import { agentEventSchemaFits } from "../../../src/device/api/agent-events.ts";
import { agentSchemasFit } from "../../../src/device/api/agent-operations.ts";
import type { Device } from "../../../src/device/device.ts";
import { createDevice } from "../../../src/device/index.ts";
import { ok } from "../../../src/shared/result.ts";
import { cli, cliJson, type CliRun, type CliSetting } from "../../support/cli.ts";
import { fakeIdentity } from "../../support/fake-device.ts";
import { createManualClock } from "../../support/manual-clock.ts";
import { valueOf } from "../../support/people.ts";
import { seededRng } from "../../support/seeded-rng.ts";
import { turnNowMs } from "../../support/turns.ts";

let dataDir: string;
let device: Device;
beforeEach(async () => {
  dataDir = mkdtempSync(path.join(tmpdir(), "pixie-agent-"));
  writeFileSync(path.join(dataDir, "store-key.json"), "{}", { mode: 0o600 });
  device = valueOf(
    await createDevice({
      inMemory: true,
      clock: createManualClock(turnNowMs),
      rng: seededRng("assistant"),
      zone: "Europe/Berlin",
    }),
  );
});
afterEach(async () => {
  await device.close();
  rmSync(dataDir, { recursive: true, force: true });
});

function setting(more: CliSetting = {}): CliSetting {
  const open: Device = {
    ...device,
    identity: () => fakeIdentity,
    close: () => Promise.resolve(),
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
  return { dataDir, openDevice: () => Promise.resolve(ok(open)), ...more };
}
const run = (args: readonly string[], more: CliSetting = {}): Promise<CliRun> =>
  cli(args, setting(more));

describe("asking", () => {
  it("answers which day it is, stores the trace, and shows it again", async () => {
    const asked = await run(["ask", "what day is it today"]);
    expect(asked.code).toBe(0);
    expect(asked.err).toBe("plan: I'll use @current-date for this.\n");
    expect(asked.out).toContain("today: 2026-12-02 (Wednesday), 13:00 in Europe/Berlin");
    expect(asked.out).toContain("Basic brain: picks a skill and runs it; it does not converse.");
    const [stored] = device.agent.runs();
    expect(stored).toMatchObject({ question: "what day is it today", stopReason: "answered" });
    const list = await run(["runs", "list"]);
    expect(list.out).toBe(
      `${stored?.runId.slice(0, 8)}  2026-12-02 12:00Z  answered  what day is it today\n`,
    );
    const shown = await run(["runs", "show", stored?.runId.slice(0, 8) ?? ""]);
    expect(shown.out).toContain(
      "may call: current_date\n1. current_date {}\n   result:\n   today: ",
    );
    expect(shown.out.endsWith("stopped: answered. Called: current_date.\n")).toBe(true);
    const trace = await cliJson(["runs", "show", stored?.runId ?? ""], setting());
    expect(trace).toEqual(valueOf(device.agent.run(stored?.runId ?? "")));
  });

  it("keeps what was typed when a skill is named, and reads the question from the input", async () => {
    const json = await cliJson(["ask", "-"], setting({ input: "/check-schedule tomorrow\n" }));
    expect(json).toMatchObject({ stopReason: "answered" });
    expect(device.agent.runs()[0]?.question).toBe("/check-schedule tomorrow");
    const events = valueOf(device.agent.run(device.agent.runs()[0]?.runId ?? ""));
    expect(events).toContainEqual(
      expect.objectContaining({
        tool: "queryCalendar",
        args: { from: "2026-12-03", to: "2026-12-03" },
      }),
    );
  });

  it("refuses unknown modes, empty questions, and unknown runs and chats", async () => {
    const refused = await run(["ask", "x", "--mode", "dream"]);
    expect(refused.code).toBe(2);
    expect(refused.err).toContain("expected agent, plan or goal, got dream");
    expect((await run(["ask", "  "])).code).toBe(4);
    expect((await run(["runs", "show", "nothing"])).code).toBe(3);
    expect((await run(["runs", "approve", "nothing"])).code).toBe(3);
    expect((await run(["chat", "--resume", "nothing"])).code).toBe(3);
    expect(device.agent.runs()).toEqual([]);
  });

  it("proposes a plan, and carries it out once its owner approves, once", async () => {
    const planned = await run(["ask", "what day is it today", "--mode", "plan"]);
    expect(planned.code).toBe(0);
    expect(planned.out).toContain("It could call: current_date.");
    const [proposal] = device.agent.runs();
    const id = proposal?.runId.slice(0, 8) ?? "";
    expect(planned.err).toContain(`carry it out with: pixie runs approve ${id}`);
    expect(proposal?.stopReason).toBe("proposed");
    const done = await run(["runs", "approve", id]);
    expect(done.out).toContain("today: 2026-12-02 (Wednesday)");
    expect(device.agent.runs().map(({ stopReason }) => stopReason)).toEqual([
      "approved",
      "answered",
    ]);
    expect((await run(["runs", "approve", id])).code).toBe(7);
    const acted = device.agent.runs()[1]?.runId ?? "";
    expect((await run(["runs", "approve", acted])).err).toContain("ended as answered");
  });

  it("offers the next step to a person, and takes no for an answer", async () => {
    const ask = ["ask", "what day is it today", "--mode", "plan"];
    const no = await run(ask, { answers: ["n"] });
    expect(no.questions).toEqual(["Carry it out? [y/N] "]);
    expect(no.out).not.toContain("today: ");
    const yes = await run(ask, { answers: ["y"] });
    expect(yes.out).toContain("today: 2026-12-02");
  });

  it("remarks on a slash that names no skill, when it is typed", async () => {
    expect((await run(["ask", "/nothing what day is it"])).err).toContain(
      "/nothing names no skill: it is taken as text",
    );
    expect((await run(["ask", "/check-schedule"])).err).not.toContain("taken as text");
  });

  it("a chat is stored, listed and gone on with, and its turns are told of each other", async () => {
    await run(["chat"], { input: "what day is it today\ntell me a joke\n" });
    const [chat] = device.agent.chats();
    expect(chat).toMatchObject({ question: "what day is it today", turns: 2 });
    const id = chat?.chatId.slice(0, 8) ?? "";
    expect((await run(["runs", "chats"])).out).toBe(
      `${id}  2026-12-02 12:00Z  2 turns  what day is it today\n`,
    );
    await run(["chat", "--resume", id], { input: "what day is it today\n" });
    const last = device.agent.runs().at(-1);
    expect(last?.chatId).toBe(chat?.chatId);
    expect(valueOf(device.agent.run(last?.runId ?? ""))[0]).toMatchObject({ earlier: 2 });
    expect(device.agent.chats()).toHaveLength(1);
  });

  it("in the resident harness the basic brain loads the skill that fits, and follows it", async () => {
    expect((await run(["align", "harness", "resident"])).out).toBe("resident\n");
    expect((await run(["align", "harness", "both"])).code).toBe(2);
    expect((await run(["align", "show"])).out).toContain("# Skills\nWhen one of these matches");
    const asked = await run(["ask", "/check-schedule tomorrow", "--json"]);
    const { events } = JSON.parse(asked.out);
    expect(events).toContainEqual(
      expect.objectContaining({ type: "tool-call", tool: "Skill", args: { id: "check-schedule" } }),
    );
    expect(events).toContainEqual(
      expect.objectContaining({
        tool: "queryCalendar",
        args: { from: "2026-12-03", to: "2026-12-03" },
      }),
    );
    expect((await run(["ask", "what day is it today"])).out).toContain("today: 2026-12-02");
    expect((await run(["ask", "tell me a joke"])).out).toContain("Nothing on the menu fits");
  });

  it("chats a line at a time until the end of the input or /exit", async () => {
    const chat = await run(["chat"], {
      input: "what day is it today\n\ntell me a joke\n/exit\nnever\n",
    });
    expect(chat.code).toBe(0);
    expect(chat.out).toContain("today: 2026-12-02");
    expect(chat.out).toContain("Nothing on the menu fits this question.");
    expect(device.agent.runs().map(({ question }) => question)).toEqual([
      "what day is it today",
      "tell me a joke",
    ]);
  });

  it("hears every event while it happens, and stops when its owner aborts", async () => {
    const heard: string[] = [];
    const events = valueOf(
      await device.agent.ask("what day is it today", { onEvent: ({ type }) => heard.push(type) }),
    );
    expect(heard).toEqual(events.map(({ type }) => type));
    const aborted = valueOf(await device.agent.ask("x", { signal: AbortSignal.abort() }));
    expect(stopOf(aborted)?.reason).toBe("aborted");
    expect(answerOf(aborted)).toBeUndefined();
  });
});

describe("aligning", () => {
  it("shows exactly the document, and its price", async () => {
    const { document, tokens } = device.agent.alignment();
    const shown = await run(["align", "show"]);
    expect(shown.out).toBe(`${document}\n`);
    expect(shown.err).toBe(`~${tokens} tokens\n`);
    expect(document.endsWith("ask here whenever the answer depends on today.")).toBe(true);
  });

  it("A30: prices part by part, and says when that is an estimate", async () => {
    const { tokens } = device.agent.alignment();
    const priced = await run(["align", "tokens"]);
    expect(priced.out).toMatch(/^~\d+  instructions\n~\d+  @search-info\n~\d+  @check-schedule\n/);
    expect(priced.out.endsWith(`~${tokens}  all of it\n`)).toBe(true);
    expect(priced.err).toContain("basic has no tokenizer: characters divided by four");
  });

  it("O30: refuses a menu above half of the context and names what to drop", async () => {
    expect((await run(["align", "show", "--context", "100"])).err).toContain(
      "more than half: take some off, e.g. @check-schedule, @search-info",
    );
    expect((await run(["align", "show", "--context", "100"])).code).toBe(4);
    expect((await run(["align", "show", "--context", "400"])).err).toContain("more than a quarter");
    expect((await run(["align", "show", "--context", "many"])).code).toBe(2);
  });

  it("selecting is the advertised flag, exactly: none switches planning off", async () => {
    expect((await run(["align", "select", "@fetch-file"])).out).toBe("@fetch-file\n");
    expect(device.skills.list().filter(({ advertised }) => advertised)).toHaveLength(1);
    expect((await run(["align", "select", "nobody"])).code).toBe(3);
    expect(device.agent.alignment().selected).toEqual(["fetch-file"]);
    expect((await run(["align", "select", "--none"])).err).toContain("no planning");
    const direct = await run(["ask", "what day is it today"]);
    expect(direct.out).toContain("No skill is on the menu");
    valueOf(device.skills.setFlags("search-info", { enabled: false }));
    expect((await run(["align", "select", "search-info"])).err).toContain(
      "@search-info is disabled",
    );
  });

  it("rewrites and resets the instructions", async () => {
    const files = { "rules.txt": "Answer in rhymes.\n" };
    await run(["align", "instructions", "--file", "rules.txt"], { files });
    expect(device.agent.alignment().document.startsWith("Answer in rhymes.\n\nYour skills:")).toBe(
      true,
    );
    expect((await run(["align", "instructions"])).out).toBe("Answer in rhymes.\n");
    expect((await run(["align", "instructions", "--file", "-"], { input: " \n" })).code).toBe(4);
    expect((await run(["align", "instructions", "--reset"])).err).toContain("default");
    expect(device.agent.alignment().instructionsAreDefault).toBe(true);
  });

  it("a rename follows into the instructions", () => {
    valueOf(device.agent.setInstructions("Prefer @check-schedule."));
    valueOf(device.skills.rename("check-schedule", "my-week"));
    expect(device.agent.alignment().instructions).toBe("Prefer @my-week.");
  });

  it("blurbs are text and nothing else: off by default, and no tool is bound by one", async () => {
    expect(device.agent.alignment().blurbs.every(({ on }) => !on)).toBe(true);
    await run(["align", "select", "--none"]);
    expect((await run(["align", "blurbs", "calendar", "date"])).code).toBe(0);
    expect(device.agent.alignment().document).toContain("The owner's calendar can be read");
    const events = valueOf(await device.agent.ask("what is on today"));
    expect(events.some(({ type }) => type === "bound")).toBe(false);
    expect((await run(["align", "blurbs", "everything"])).code).toBe(3);
    await run(["align", "blurbs", "--none"]);
    expect(device.agent.alignment().blurbs.every(({ on }) => !on)).toBe(true);
  });

  it("rehearses: plan, handles and tools, nothing run and nothing stored", async () => {
    const rehearsed = await run(["align", "rehearse", "what day is it today"]);
    expect(rehearsed.out).toContain(
      "plan: I'll use @current-date for this.\nmay call: current_date\n",
    );
    expect(rehearsed.out).toContain("stopped: rehearsed.");
    expect(device.agent.runs()).toEqual([]);
  });
});

it("the local API's schemas say what the views say", () => {
  expect(agentSchemasFit).toEqual([true, true, true, true, true, true]);
  expect(agentEventSchemaFits).toBe(true);
});
