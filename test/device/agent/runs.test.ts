/**
 * Stored runs: the newest are kept, and one is found by the beginning of its id when that is enough.
 */
import { afterEach, beforeEach, describe, expect, it } from "vitest";

import { parseTrace } from "../../../src/device/agent/trace.ts";
import {
  addAgentRun,
  agentRunsById,
  listAgentRuns,
  maxRuns,
} from "../../../src/device/store/agent-runs.ts";
import { type DeviceStore, openDeviceStore } from "../../../src/device/store/sqlite.ts";

let store: DeviceStore;
beforeEach(() => {
  const opened = openDeviceStore({ path: ":memory:", key: new Uint8Array(32) });
  if (!opened.ok) throw new Error(opened.error.message);
  store = opened.value;
});
afterEach(() => store.close());

function add(...runIds: readonly string[]): void {
  store.write((tx) => {
    for (const runId of runIds) {
      addAgentRun(tx, {
        runId,
        startedMs: 1,
        question: "q",
        stopReason: "answered",
        trace: "[]",
        chatId: null,
      });
    }
  });
}
const ids = (prefix: string): readonly string[] =>
  store.read((tx) => agentRunsById(tx, prefix)).map(({ runId }) => runId);

describe("runs", () => {
  it("beyond the bound drop the oldest", () => {
    add(...Array.from({ length: maxRuns + 2 }, (_, at) => `run${at}`));
    const listed = store.read((tx) => listAgentRuns(tx, maxRuns * 2)).map(({ runId }) => runId);
    expect(listed).toHaveLength(maxRuns);
    expect(listed[0]).toBe("run2");
    expect(listed.at(-1)).toBe(`run${maxRuns + 1}`);
  });

  it("are found by a beginning; a whole id is never ambiguous", () => {
    add("abc", "abcd", "x%z");
    expect(ids("abc")).toEqual(["abc"]);
    expect(ids("abcd")).toEqual(["abcd"]);
    expect(ids("ab")).toEqual(["abc", "abcd"]);
    expect(ids("%")).toEqual([]);
    expect(ids("")).toEqual([]);
  });

  it("with a damaged trace are a bug, not a guess", () => {
    expect(parseTrace('[{"type":"answer","text":"x"}]')).toHaveLength(1);
    expect(() => parseTrace('[{"type":"nonsense"}]')).toThrow("damaged");
    expect(() => parseTrace("{}")).toThrow("damaged");
  });
});
