/** A relay that comes back from yesterday's backup: what it forgot goes again, by itself, once. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";

import postgres from "postgres";
import { expect, it } from "vitest";

import {
  befriend,
  expectOk,
  newPerson,
  openDevice,
  settled,
  texts,
  until,
} from "../support/pair.ts";
import { createTestDatabase } from "../support/postgres.ts";
import { startRelay } from "../support/relay.ts";

it.each([
  { what: "what it forgot", renews: false },
  { what: "what it forgot, a renewal among it,", renews: true },
])(
  "R45: a restored relay is recognised by its epoch; $what goes again and lands once",
  async ({ renews }) => {
    const folder = mkdtempSync(path.join(tmpdir(), "pixie-restore-"));
    const storeKey = { type: "passphrase", passphrase: "correct horse" } as const;
    const bobs = { dataDir: path.join(folder, "bob"), storeKey };
    const database = await createTestDatabase("embedded", "template");
    const first = await startRelay({ databaseUrl: database.url });
    const alice = await newPerson(first.url, "Alice");
    const away = await newPerson(first.url, "Bob", bobs);
    await befriend(alice, away);
    await away.close();
    const { port } = first;
    await first.close();
    const backup = await backUp(database.url);

    // Accepted by the relay, fetched by nobody, and not in the backup.
    const second = await startRelay({ databaseUrl: database.url, config: { port } });
    const { messageId } = expectOk(alice.send("Bob", "written after the backup"));
    await until(alice, "accepted", () => alice.delivery(messageId)?.state === "accepted");
    if (renews) expectOk(await alice.renewAccount({ remove: [] }));
    await second.close();

    const restored = await startRelay({ databaseUrl: backup.url, config: { port } });
    expect(restored.epoch).not.toBe(first.epoch);
    const bob = await openDevice(bobs);
    expectOk(bob.start());
    await until([alice, bob], "confirmed", () => alice.delivery(messageId)?.state === "confirmed");
    await settled(alice, bob);
    expect(texts(bob, "Alice")).toEqual(["written after the backup"]);
    // Both are in one piece: what is new goes both ways.
    const answer = expectOk(bob.send("Alice", "got it"));
    await until(
      [alice, bob],
      "confirmed",
      () => bob.delivery(answer.messageId)?.state === "confirmed",
    );
    expect(texts(alice, "Bob")).toEqual(["written after the backup", "got it"]);

    await alice.close();
    await bob.close();
    await restored.close();
    await backup.drop();
    await database.drop();
    rmSync(folder, { recursive: true, force: true });
  },
  90_000,
);

/** A copy of the database with another epoch, as a restore gives it one. */
async function backUp(
  url: string,
): Promise<{ readonly url: string; readonly drop: () => Promise<void> }> {
  const source = new URL(url);
  const name = `${source.pathname.slice(1)}_backup`;
  const target = new URL(url);
  target.pathname = `/${name}`;
  const maintenance = new URL(url);
  maintenance.pathname = "/postgres";
  const admin = postgres(maintenance.href, { max: 1, onnotice: () => {} });
  await admin`create database ${admin(name)} template ${admin(source.pathname.slice(1))}`;
  const copy = postgres(target.href, { max: 1, onnotice: () => {} });
  await copy`update relay_state set epoch = gen_random_uuid()`;
  await copy.end();
  return {
    url: target.href,
    drop: async () => {
      await admin`drop database if exists ${admin(name)} with (force)`;
      await admin.end();
    },
  };
}
