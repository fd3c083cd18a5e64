/** The line before the agent: one at a time, bounded, told, and left without a trace. */
import { EventEmitter, once } from "node:events";

import { describe, expect, it } from "vitest";

import {
  type AskQueue,
  maxWaitingAsks,
  queueAsks,
  type StepAside,
  type TurnOptions,
  type UnqueuedAgent,
} from "../../src/device/ask-queue.ts";
import { ok } from "../../src/shared/result.ts";
import { fakeDevice } from "../support/fake-device.ts";

interface Turn {
  readonly stepAside: StepAside;
  readonly question: string;
  readonly signal: AbortSignal | undefined;
  readonly end: () => void;
}

/** An agent whose turns end when the test says so. */
function heldAgent(): { readonly agent: UnqueuedAgent; readonly turns: Turn[] } {
  const turns: Turn[] = [];
  const agent: UnqueuedAgent = {
    ...fakeDevice().device.agent,
    ask: (question, { signal, stepAside = (wait) => wait() }: TurnOptions = {}) =>
      new Promise((resolve) => {
        const end = (): void => resolve(ok([{ type: "answer", text: question }]));
        signal?.addEventListener("abort", end);
        turns.push({ question, signal, end, stepAside });
      }),
  };
  return { agent, turns };
}

/** Lets everything that is ready run. */
async function turnOver(): Promise<void> {
  for (let i = 0; i < 20; i += 1) await Promise.resolve();
}

describe("questions to the agent", () => {
  it("run one at a time, in order, and hear how many are ahead", async () => {
    const { agent, turns } = heldAgent();
    const queue = queueAsks(agent);
    const heard: string[] = [];
    const answers = ["a", "b", "c"].map((question) =>
      queue.agent.ask(question, { onQueued: (ahead) => heard.push(`${question}${ahead}`) }),
    );
    await turnOver();
    expect(turns.map(({ question }) => question)).toEqual(["a"]);
    turns[0]?.end();
    await turnOver();
    expect(turns.map(({ question }) => question)).toEqual(["a", "b"]);
    turns[1]?.end();
    await turnOver();
    turns[2]?.end();
    expect(await Promise.all(answers)).toMatchObject([{ ok: true }, { ok: true }, { ok: true }]);
    expect(heard).toEqual(["b1", "c2", "c1"]);
  });

  it("are refused by type when the line is full, and welcome again afterwards", async () => {
    const { agent, turns } = heldAgent();
    const queue = queueAsks(agent);
    const running = queue.agent.ask("first");
    await turnOver();
    const waiting = Array.from({ length: maxWaitingAsks }, () => queue.agent.ask("waits"));
    await turnOver();
    expect(await queue.agent.ask("one more")).toMatchObject({
      ok: false,
      error: { type: "asks-full" },
    });
    turns[0]?.end();
    await running;
    await turnOver();
    const welcome = queue.agent.ask("again");
    await queue.close();
    expect(await Promise.all(waiting)).toHaveLength(maxWaitingAsks);
    expect(await welcome).toMatchObject({ ok: false, error: { type: "ask-stopped" } });
  });

  it("leave the line when they are taken back, and those behind hear it", async () => {
    const { agent, turns } = heldAgent();
    const queue = queueAsks(agent);
    const running = queue.agent.ask("first");
    const heard: number[] = [];
    const back = new AbortController();
    const taken = queue.agent.ask("second", { signal: back.signal });
    const third = queue.agent.ask("third", { onQueued: (ahead) => heard.push(ahead) });
    await turnOver();
    back.abort();
    expect(await taken).toMatchObject({ ok: false, error: { type: "ask-stopped" } });
    expect(heard).toEqual([2, 1]);
    turns[0]?.end();
    await running;
    await turnOver();
    turns[1]?.end();
    expect(await third).toMatchObject({ ok: true });
    expect(turns.map(({ question }) => question)).toEqual(["first", "third"]);
  });

  it("reach the running turn with their owner's abort, and with the end of the device", async () => {
    const { agent, turns } = heldAgent();
    const queue = queueAsks(agent);
    const back = new AbortController();
    const first = queue.agent.ask("first", { signal: back.signal });
    await turnOver();
    back.abort();
    expect(turns[0]?.signal?.aborted).toBe(true);
    await first;
    const second = queue.agent.ask("second");
    await turnOver();
    await queue.close();
    expect(turns[1]?.signal?.aborted).toBe(true);
    await second;
    expect(await queue.agent.ask("late")).toMatchObject({ ok: false });
  });
});

/** Two questions, of which the first has stepped aside until `answer` is called. */
async function asideWorld(): Promise<{
  readonly queue: AskQueue;
  readonly turns: readonly Turn[];
  readonly answer: () => void;
  readonly back: () => boolean;
  readonly stop: AbortController;
  readonly answers: readonly Promise<unknown>[];
}> {
  const { agent, turns } = heldAgent();
  const queue = queueAsks(agent);
  const stop = new AbortController();
  const first = queue.agent.ask("first", { signal: stop.signal });
  const second = queue.agent.ask("second");
  await turnOver();
  expect(turns).toHaveLength(1);
  const owner = new EventEmitter();
  let isBack = false;
  void turns[0]?.stepAside(() => once(owner, "answer")).then(() => (isBack = true));
  await turnOver();
  const answer = (): void => void owner.emit("answer");
  return { queue, turns, answer, back: () => isBack, stop, answers: [first, second] };
}

describe("a turn that waits for its owner", () => {
  it("lets others have the brain, and has it again before those who have not begun", async () => {
    const { queue, turns, answer, back, answers } = await asideWorld();
    expect(turns.map(({ question }) => question)).toEqual(["first", "second"]);
    const third = queue.agent.ask("third");
    answer();
    await turnOver();
    expect(back()).toBe(false);
    turns[1]?.end();
    await turnOver();
    expect(back()).toBe(true);
    expect(turns).toHaveLength(2);
    turns[0]?.end();
    await turnOver();
    expect(turns.map(({ question }) => question)).toEqual(["first", "second", "third"]);
    turns[2]?.end();
    expect(await Promise.all([...answers, third])).toMatchObject([{ ok: true }, {}, {}]);
  });

  it("goes on at once when nobody else has it", async () => {
    const { turns, answer, back } = await asideWorld();
    turns[1]?.end();
    await turnOver();
    answer();
    await turnOver();
    expect(back()).toBe(true);
  });

  it("that is stopped meanwhile takes nobody's place", async () => {
    const { queue, turns, answer, stop, answers } = await asideWorld();
    stop.abort();
    await turnOver();
    expect(await answers[0]).toMatchObject({ ok: true });
    const third = queue.agent.ask("third");
    answer();
    await turnOver();
    expect(turns).toHaveLength(2);
    turns[1]?.end();
    await turnOver();
    turns[2]?.end();
    expect(await third).toMatchObject({ ok: true });
  });

  it("that is stopped while it comes back hands its place on", async () => {
    const { queue, turns, answer, stop, answers } = await asideWorld();
    answer();
    await turnOver();
    stop.abort();
    await answers[0];
    const third = queue.agent.ask("third");
    turns[1]?.end();
    await turnOver();
    expect(turns.map(({ question }) => question)).toEqual(["first", "second", "third"]);
    turns[2]?.end();
    await third;
  });

  it("counts among those who wait", async () => {
    const { queue, turns, stop, answers } = await asideWorld();
    const waiting = Array.from({ length: maxWaitingAsks - 1 }, () => queue.agent.ask("waits"));
    const full = { ok: false, error: { type: "asks-full" } };
    expect(await queue.agent.ask("one more")).toMatchObject(full);
    stop.abort();
    await answers[0];
    turns[1]?.end();
    await queue.close();
    await Promise.all(waiting);
  });
});
