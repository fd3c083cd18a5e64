/** kill -9 of a laptop in the middle of a question from the phone. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";

import { afterAll, beforeAll, expect, it } from "vitest";

import type { Device } from "../../src/device/device.ts";
import type { Relay } from "../../src/relay/index.ts";
import { startChild } from "../support/child.ts";
import { expectOk, linkDevice, newPerson, until } from "../support/pair.ts";
import { openTestDatabase, type TestDatabase } from "../support/postgres.ts";
import { startRelay } from "../support/relay.ts";

let folder: string;
let database: TestDatabase;
let relay: Relay;
let phone: Device;

beforeAll(async () => {
  folder = mkdtempSync(path.join(tmpdir(), "pixie-crash-"));
  database = await openTestDatabase();
  relay = await startRelay({ databaseUrl: database.url });
  const laptop = await newPerson(relay.url, "Alice", {
    dataDir: folder,
    storeKey: { type: "passphrase", passphrase: "crash test" },
  });
  phone = await linkDevice(laptop, "phone");
  await until([laptop, phone], "both know names and keys", () =>
    [laptop, phone].every((device) =>
      device.devices().every(({ name, hasPrekey }) => name !== undefined && hasPrekey),
    ),
  );
  await laptop.close();
}, 60_000);
afterAll(async () => {
  await phone.close();
  await relay.close();
  await database.drop();
  rmSync(folder, { recursive: true, force: true });
});

it("the phone is told that it was interrupted, and the question is not begun again", async () => {
  const first = startChild("test/crash/children/homebase.ts", [folder, "dies"]);
  const asked = phone.homebase.ask("Alice's laptop", "what day is it today");
  expect(await first.ended).toMatchObject({ signal: "SIGKILL" });
  const second = startChild("test/crash/children/homebase.ts", [folder, "lives"]);
  const answer = expectOk(await asked);
  expect(answer).toMatchObject({ state: "interrupted" });
  expect(answer.text).toContain("not begun again");
  // It still works for others.
  const after = expectOk(await phone.homebase.ask("Alice's laptop", "what day is it today"));
  expect(after.state).toBe("done");
  second.process.kill("SIGKILL");
  await second.ended;
}, 120_000);
