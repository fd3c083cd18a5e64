/**
 * One person's phone asks their laptop, over a relay: answered, while the laptop was away, too late,
 * taken back; and what other people write acts as nothing.
 */
import { afterEach, beforeEach, describe, expect, it } from "vitest";

import type { Device } from "../../src/device/device.ts";
import type { HomebaseOpView } from "../../src/device/homebase/port.ts";
import type { Relay } from "../../src/relay/index.ts";
import { expectOk, linkDevice, newPerson, settled, texts, until } from "../support/pair.ts";
import { openTestDatabase, type TestDatabase } from "../support/postgres.ts";
import { startRelay } from "../support/relay.ts";

let database: TestDatabase;
let relay: Relay;
let laptop: Device;
let phone: Device;

beforeEach(async () => {
  database = await openTestDatabase();
  relay = await startRelay({ databaseUrl: database.url });
  laptop = await newPerson(relay.url, "Alice");
  phone = await linkDevice(laptop, "phone");
  await until([laptop, phone], "both know each other's names", () =>
    [laptop, phone].every((device) => device.devices().every(({ name }) => name !== undefined)),
  );
});
afterEach(async () => {
  await Promise.all([phone.close(), laptop.close()]);
  await relay.close();
  await database.drop();
});

const laptopName = "Alice's laptop";

describe("a question from the phone", () => {
  it("is planned, run and answered by the laptop, and shows in no conversation", async () => {
    laptop.homebase.serve();
    const states: string[] = [];
    const answer = expectOk(
      await phone.homebase.ask(laptopName, "what day is it today", {
        onStatus: ({ state }) => states.push(state),
      }),
    );
    expect(answer).toMatchObject({ state: "done", op: "ask", deviceName: laptopName });
    expect(answer.text).toContain("Basic brain");
    expect(states.at(-1)).toBe("done");
    expect(laptop.agent.runs()).toHaveLength(1);
    await settled(laptop, phone);
    for (const device of [laptop, phone]) {
      expect(texts(device)).toEqual([]);
      expect(device.homebase.list().operations).toMatchObject([{ op: "ask", state: "done" }]);
    }
  });

  it("waits for a laptop that is away, and is answered when it is back", async () => {
    const asked = phone.homebase.ask("alice's LAPTOP", "what day is it today");
    // Journalled there, and nobody works on it: a command that only reads serves nobody.
    await until(laptop, "the laptop has it", () => laptop.homebase.list().operations.length === 1);
    expect(laptop.homebase.list().operations).toMatchObject([
      { direction: "in", state: "waiting" },
    ]);
    laptop.homebase.serve();
    expect(await asked).toMatchObject({ ok: true, value: { state: "done" } });
  });

  it("is taken back: nothing runs there, and the phone says so", async () => {
    const back = new AbortController();
    const asked = phone.homebase.ask(laptopName, "what day is it today", { signal: back.signal });
    await until(laptop, "the laptop has it", () => laptop.homebase.list().operations.length === 1);
    back.abort();
    expect(await asked).toMatchObject({ ok: false, error: { type: "ask-stopped" } });
    await until(
      laptop,
      "the laptop heard it",
      () => laptop.homebase.list().operations.length === 2,
    );
    laptop.homebase.serve();
    await until(laptop, "it is over", () => stateOf(laptop, "ask") === "cancelled");
    expect(laptop.agent.runs()).toEqual([]);
  });

  it("names the devices there are when it is meant for none", async () => {
    const answer = await phone.homebase.ask("tablet", "hello");
    expect(answer).toMatchObject({ ok: false, error: { type: "no-such-device" } });
    expect(!answer.ok && answer.error.message).toContain(laptopName);
  });
});

function stateOf(device: Device, op: string): HomebaseOpView["state"] | undefined {
  return device.homebase.list().operations.find((each) => each.op === op)?.state;
}
