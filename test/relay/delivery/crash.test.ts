import { once } from "node:events";

import { expect, it } from "vitest";

import { toBase64Url } from "../../../src/shared/bytes.ts";
import { systemClock } from "../../../src/shared/clock.ts";
import { bodyBytes } from "../../../src/shared/wire/envelope.ts";
import { type RelayDevice, uploadTo } from "../../support/accounts.ts";
import { openTestDatabase } from "../../support/postgres.ts";
import {
  connectDevice,
  postUpload,
  type RelayAddress,
  registerAccount,
  startRelay,
} from "../../support/relay.ts";

it("backends killed under load: senders hear success or overloaded, and nothing accepted is lost", async () => {
  await using db = await openTestDatabase();
  await using relay = await startRelay({ databaseUrl: db.url });
  const nowMs = systemClock.nowMs();
  const people = await Promise.all([1, 2, 3, 4].map(() => registerAccount(relay, nowMs)));
  const accepted = people.map(() => new Set<string>());
  const refusals: unknown[] = [];
  const killing = new AbortController();

  const sendTo = async (index: number): Promise<void> => {
    const person = people[index]!;
    const options = { origin: relay.origin, nowMs };
    for (let sent = 0; !killing.signal.aborted && sent < 100; sent++) {
      const upload = uploadTo(person, [person.devices[0]!.mailbox], options);
      const name = toBase64Url(upload.subarray(upload.length - bodyBytes(0)).subarray(0, 32));
      for (let attempt = 0; attempt < 50; attempt++) {
        const answer = await postUpload(relay, upload);
        if (answer.status === 202) {
          accepted[index]?.add(name);
          break;
        }
        refusals.push([answer.status, answer.body.error]);
      }
    }
  };
  const kill = async (): Promise<void> => {
    for (let round = 0; round < 12; round++) {
      // The killer's own connections bear the name, too: it is answered, or dies with them.
      await Promise.allSettled([
        db.sql`select pg_terminate_backend(pid) from pg_stat_activity
          where datname = current_database() and pid <> pg_backend_pid() and application_name = 'pixie-relay'`,
      ]);
      // The next kill comes while something is going on: a few statements later.
      for (let i = 0; i < 5; i++) await fetch(`${relay.url}/health/ready`);
    }
    killing.abort();
  };
  await Promise.all([...people.map((_, index) => sendTo(index)), kill()]);

  expect(accepted.every((names) => names.size > 0)).toBe(true);
  for (const [index, person] of people.entries()) {
    const got = await emptied(relay, person.devices[0]!);
    for (const name of accepted[index] ?? []) expect(got.has(name)).toBe(true);
  }
  expect(new Set(refusals.map(String))).toEqual(new Set(["503,overloaded"]));
});

/**
 * Everything that waits for a device. A pooled connection whose backend was killed may be noticed only
 * now: that ends the device's connection as overloaded, and it comes again as a device does.
 */
async function emptied(relay: RelayAddress, device: RelayDevice): Promise<ReadonlySet<string>> {
  const got = new Set<string>();
  for (let attempt = 1; ; attempt += 1) {
    try {
      const connection = await connectDevice(relay, device);
      const here = new Set<string>();
      for (let i = 0; i < connection.ready.queued; i++) {
        const { seq, item } = await connection.delivery();
        const name = toBase64Url(item.subarray(item.length - bodyBytes(0)).subarray(0, 32));
        here.add(name);
        got.add(name);
        connection.ack(seq);
      }
      await connection.frame("drained");
      expect(here.size).toBe(connection.ready.queued);
      const closed = once(connection.socket, "close");
      connection.socket.close();
      await closed;
      return got;
    } catch (cause) {
      if (attempt === 10 || !String(cause).includes("overloaded")) throw cause;
    }
  }
}
