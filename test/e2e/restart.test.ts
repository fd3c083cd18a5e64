import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Device } from "../../src/device/device.ts";
import type { Relay } from "../../src/relay/index.ts";
import { befriend, expectOk, newPerson, settled, texts, until } from "../support/pair.ts";
import { openTestDatabase, type TestDatabase } from "../support/postgres.ts";
import { startRelay } from "../support/relay.ts";

describe("a relay that restarts", () => {
  let database: TestDatabase;
  let relay: Relay;
  let alice: Device;
  let bob: Device;

  beforeAll(async () => {
    database = await openTestDatabase();
    relay = await startRelay({ databaseUrl: database.url });
    alice = await newPerson(relay.url, "Alice");
    bob = await newPerson(relay.url, "Bob");
    await befriend(alice, bob);
  });
  afterAll(async () => {
    await Promise.all([alice.close(), bob.close()]);
    await relay.close();
    await database.drop();
  });

  it("loses nothing that was sent before, while it was down, and after", async () => {
    const { port } = relay;
    expectOk(alice.send("Bob", "before"));
    await settled(alice, bob);
    await relay.close();
    await until([alice, bob], "both noticed", () =>
      [alice, bob].every((device) => !device.status().connection.startsWith("ready")),
    );
    const { messageId } = expectOk(alice.send("Bob", "while it is down"));
    expect(await alice.settle(500)).toBe("bound");
    expect(alice.delivery(messageId)).toMatchObject({ state: "queued" });
    // The person is told why.
    expect(alice.status().connection).toMatch(/offline: \S|connecting/);

    relay = await startRelay({ databaseUrl: database.url, config: { port } });
    expectOk(alice.send("Bob", "after"));
    await until([alice, bob], "all of it is confirmed", () =>
      expectOk(alice.messages("Bob")).every((message) => message.delivery?.state === "confirmed"),
    );
    await settled(alice, bob);
    expect(texts(bob, "Alice")).toEqual(["before", "while it is down", "after"]);
    expect(bob.status()).toMatchObject({ outboxOpen: 0, setAside: 0 });
  }, 60_000);
});
