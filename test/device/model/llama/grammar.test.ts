/**
 * What a model can say at all: over random weights, menus and tools, a plan names only what was
 * admitted, and a step is a call of a bound tool with its declared arguments, or the answer.
 */
import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { checkCall } from "../../../../src/device/agent/call-tool.ts";
import { directPlan } from "../../../../src/device/model/llama/plan-grammar.ts";
import { answerSoFar, growing } from "../../../../src/device/model/llama/replies.ts";
import { stepGuide } from "../../../../src/device/model/llama/step-guide.ts";
import { usableThreads } from "../../../../src/device/model/llama/threads.ts";
import type { Offer } from "../../../../src/device/model/llama/step-offer.ts";
import type { BoundTool } from "../../../../src/device/model/port.ts";
import { parseMentions } from "../../../../src/device/skills/mentions.ts";
import { toolSet } from "../../../../src/device/skills/tools.ts";
import { generatedModels } from "../../../support/gguf/generated.ts";
import { randomLlama } from "../../../support/gguf/random-llama.ts";
import { planRequest, stepRequest } from "../../../support/model-requests.ts";

function offering(tools: readonly BoundTool[], given: Partial<Offer> = {}): Offer {
  return { tools, answer: true, days: [], ...given };
}

function toolWith(
  toolName: string,
  properties: BoundTool["parameters"]["properties"],
  required = Object.keys(properties),
): BoundTool {
  return { toolName, description: "", signature: "", parameters: { properties, required } };
}

const models = generatedModels();
const opened = await Promise.all(
  [1, 2, 3].map((seed) =>
    models.open(models.write(`random-${seed}.gguf`, randomLlama(seed)), { replyTokens: 160 }),
  ),
);
const never = new AbortController().signal;

function raise(): never {
  throw new Error("there is no such model");
}

/** Random weights may talk until their limit; they say nothing else then. */
function expectCut(reply: unknown): undefined {
  expect(reply).toMatchObject({ type: "failed", cause: "tokens" });
}
const anyModel = fc.nat({ max: opened.length - 1 });

describe("plans", () => {
  it("name only handles of the menu, and end", async () => {
    const handle = fc.stringMatching(/^[a-z][a-z0-9]{0,6}(-[a-z0-9]{1,4}){0,2}$/);
    const handles = fc.uniqueArray(handle, { minLength: 1, maxLength: 6 });
    await fc.assert(
      fc.asyncProperty(
        anyModel,
        handles,
        fc.string({ maxLength: 60 }),
        async (at, menu, question) => {
          const model = opened[at] ?? raise();
          const lines = menu.map((one) => ({ handle: one, line: "l" }));
          const reply = await model.plan(planRequest({ question, menu: lines }), never);
          if (reply.type !== "plan") return expectCut(reply);
          const named = parseMentions(reply.sentence);
          expect(menu).toEqual(expect.arrayContaining([...named]));
          const form = named.length === 0 ? directPlan : reply.sentence;
          expect(reply.sentence).toBe(form);
          expect(reply.sentence).toMatch(/^I(?:'ll use @.* to .*| can answer that directly)\.$/su);
          return undefined;
        },
      ),
      { numRuns: 12 },
    );
  });

  it("name only what the router admits, and something, when it says so", async () => {
    const menu = ["one", "two", "three"].map((handle) => ({ handle, line: "l" }));
    const narrowed = await models.open(models.write("narrow.gguf", randomLlama(4)), {
      narrow: async () => ({
        type: "narrowed",
        handles: [{ handle: "two", score: 0 }],
        none: false,
      }),
    });
    let said = "";
    const onToken = (text: string): void => void (said += text);
    await narrowed.plan(planRequest({ menu, onToken }), never);
    expect(said).toMatch(/^I'll use @two(?: and @two)* to /);
  });

  it("may be the router's own reply: an open question costs no token", async () => {
    const asking = await models.open(models.write("asking.gguf", randomLlama(5)), {
      narrow: async () => ({ type: "unsure", handles: ["a", "b"] }),
    });
    expect(await asking.plan(planRequest(), never)).toEqual({
      type: "unsure",
      handles: ["a", "b"],
    });
  });
});

describe("steps", () => {
  it("are calls that the declarations admit but for days, or an answer, or cut", async () => {
    const tools = fc.subarray([...toolSet]);
    await fc.assert(
      fc.asyncProperty(
        anyModel,
        tools,
        fc.string({ maxLength: 40 }),
        async (at, bound, question) => {
          const model = opened[at] ?? raise();
          const reply = await model.step(stepRequest({ question, tools: bound }), never);
          if (reply.type !== "call") return reply.type === "answer" ? undefined : expectCut(reply);
          const checked = checkCall(
            reply,
            bound.map((declaration) => ({ declaration })),
            () => false,
          );
          const problem = checked.ok ? "there is no day" : checked.error;
          expect(problem).toMatch(/there is no day|got nothing/);
          return undefined;
        },
      ),
      { numRuns: 12 },
    );
  });

  const calendar = toolSet.filter(({ toolName }) => toolName === "queryCalendar");

  it("fill in what has no alternative", () => {
    const { resume } = stepGuide(offering(toolSet));
    expect(resume?.('{"')).toBeUndefined();
    expect(resume?.('{"tool":"c')).toBeUndefined();
    expect(resume?.('{"tool":"cu')).toEqual({ text: 'rrent_date","args":{}}', grammar: undefined });
    expect(resume?.('{"tool":"q')).toMatchObject({ text: 'ueryCalendar","args":{"from":"' });
    expect(resume?.('{"tool":"queryCalendar","args":{"from":"2026')).toBeUndefined();
    expect(resume?.('{"tool":"queryCalendar","args":{"from":"2026-12-05"')).toMatchObject({
      text: ',"to":"',
    });
    expect(
      resume?.('{"tool":"queryCalendar","args":{"from":"2026-12-05","to":"2026-12-06"'),
    ).toEqual({
      text: "}}",
      grammar: undefined,
    });
    expect(resume?.('{"answer":"a')).toBeUndefined();
    expect(stepGuide(offering(calendar)).resume?.('{"tool')).toMatchObject({
      text: '":"queryCalendar","args":{"from":"',
    });
  });

  it("take one of the listed values, where there is a list", () => {
    const id = { maxLength: 40, enum: ["check-schedule", 'a "b"'] };
    const skill = toolWith("Skill", { id });
    const { grammar } = stepGuide(offering([skill]));
    expect(grammar).toContain(String.raw`\"id\":\"check-schedule\"}}"`);
    expect(grammar).toContain(String.raw`\"id\":\"a \\\"b\\\"\"}}"`);
    const after = toolWith("search", { query: { maxLength: 40 }, id });
    expect(stepGuide(offering([after])).grammar).toContain(
      String.raw`("check-schedule" | "a \\\"b\\\"")`,
    );
  });

  it("fill in what all forms have in common, up to the word in which they part", () => {
    const days = ["2026-12-02", "2026-12-05"];
    const { resume } = stepGuide(offering(calendar, { answer: false, days }));
    const from = '{"tool":"queryCalendar","args":{"from":"';
    expect(resume?.("")).toMatchObject({ text: `${from}2026-12-` });
    expect(resume?.(`${from}2026-12-0`)).toBeUndefined();
    expect(resume?.(`${from}2026-12-05`)).toMatchObject({ text: '","to":"2026-12-' });
    const whole = `${from}2026-12-05","to":"2026-12-05"}}`;
    expect(resume?.(whole.slice(0, -3))).toEqual({ text: `"}}`, grammar: undefined });
    const one = stepGuide(offering(calendar, { answer: false, days: ["2026-12-05"] }));
    expect(one.resume?.("")).toEqual({ text: whole, grammar: undefined });
  });

  it("may leave empty what is not required", () => {
    const limit = { maxLength: 3 };
    const kind = { maxLength: 9, enum: ["note"] };
    const { grammar } = stepGuide(offering([toolWith("find", { limit, kind }, [])]));
    expect(grammar).toContain("char{0,3}");
    expect(grammar).toContain('("note" | "")');
  });

  it("a value may hold what looks like its end", () => {
    const { resume } = stepGuide(offering(toolSet));
    const said = '{"tool":"grep_memory","args":{"query":"a \\" b\\';
    expect(resume?.(said)).toBeUndefined();
    expect(resume?.(`${said}\\"`)).toEqual({ text: "}}", grammar: undefined });
  });
});

it("an answer that goes round in circles is ended between two characters, and is whole then", () => {
  const { resume } = stepGuide(offering(toolSet, { answerLength: 40 }));
  const said = `{"answer":"${"It opens so. ".repeat(3)}`;
  expect(resume?.(said.slice(0, 40))).toBeUndefined();
  const end = resume?.(said);
  expect(end).toEqual({ text: '…"}', grammar: undefined });
  expect(() => JSON.parse(`${said}${end?.text ?? ""}`)).not.toThrow();
  for (const waiting of [`${said}\\`, `${said}\uFFFD`]) expect(resume?.(waiting)).toBeUndefined();
  expect(resume?.(`${said}"`)).toEqual({ text: "}", grammar: undefined });
  expect(stepGuide(offering(toolSet)).resume?.(said)).toBeUndefined();
});

it("an answer is told as it grows, unescaped, and nothing of a call is", () => {
  const answer = 'She said "grün"\nand \\ left.';
  const whole = JSON.stringify({ answer });
  const heard: string[] = [];
  const hear = growing((text) => heard.push(text), answerSoFar);
  for (let length = 1; length <= whole.length; length += 1) hear(whole.slice(0, length));
  expect(heard.join("")).toBe(answer);
  expect(heard.length).toBeGreaterThan(20);
  expect(answerSoFar('{"tool":"current_date"')).toBe("");
});

it("half a character waits for its other half", () => {
  const heard: string[] = [];
  const hear = growing((text) => heard.push(text));
  for (const text of ["gr\uFFFD", "grü", "grün"]) hear(text);
  expect(heard).toEqual(["gr", "ü", "n"]);
});

type ReadFile = (file: string) => string | undefined;

function files(contents: Readonly<Record<string, string>>): ReadFile {
  return (file) => contents[file];
}

it("uses the cores of the machine, or of the quota where that is smaller", () => {
  expect(usableThreads(8, files({}))).toBe(8);
  expect(usableThreads(8, files({ "/sys/fs/cgroup/cpu.max": "max 100000\n" }))).toBe(8);
  expect(usableThreads(8, files({ "/sys/fs/cgroup/cpu.max": "250000 100000\n" }))).toBe(2);
  expect(usableThreads(8, files({ "/sys/fs/cgroup/cpu.max": "50000 100000\n" }))).toBe(1);
  const older = {
    "/sys/fs/cgroup/cpu/cpu.cfs_quota_us": "400000\n",
    "/sys/fs/cgroup/cpu/cpu.cfs_period_us": "100000\n",
  };
  expect(usableThreads(8, files(older))).toBe(4);
  expect(usableThreads(8, files({ ...older, "/sys/fs/cgroup/cpu/cpu.cfs_quota_us": "-1\n" }))).toBe(
    8,
  );
  expect(usableThreads()).toBeGreaterThan(0);
});
