/** An open connection holds neither request nor response of its upgrade: 4 KB of 14 for each of 10,000. */
import { ServerResponse } from "node:http";

import { expect, it, onTestFinished, vi } from "vitest";

import { collectGarbage } from "../../support/memory.ts";
import { openTestDatabase } from "../../support/postgres.ts";
import { startRelay, TestConnection } from "../../support/relay.ts";

it("lets go of the request and the response of an upgrade", async () => {
  await using db = await openTestDatabase();
  await using relay = await startRelay({ databaseUrl: db.url });
  const assigned = vi.spyOn(ServerResponse.prototype, "assignSocket");
  onTestFinished(() => assigned.mockRestore());
  const connection = new TestConnection(relay);
  await connection.frame("challenge");
  const made = assigned.mock.contexts.flatMap((response) =>
    response instanceof ServerResponse ? [new WeakRef(response), new WeakRef(response.req)] : [],
  );
  expect(made.length).toBe(2);
  assigned.mockClear();
  await collectGarbage();
  expect(made.map((each) => each.deref())).toEqual([undefined, undefined]);
  await connection.cut();
});
