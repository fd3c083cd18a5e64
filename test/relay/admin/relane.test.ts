/** Another number of lanes: everything moves with its account, or nothing does. */
import { afterEach, beforeEach, expect, it } from "vitest";

import { relane, runRelane } from "../../../src/relay/admin/relane.ts";
import { defaultConfig } from "../../../src/relay/index.ts";
import { laneOf } from "../../../src/relay/store/lane.ts";
import { systemClock } from "../../../src/shared/clock.ts";
import { deviceState } from "../../../src/shared/crypto/device-list.ts";
import { idText } from "../../../src/shared/ids.ts";
import { toBase64Url } from "../../../src/shared/bytes.ts";
import {
  entryFor,
  newDevice,
  nextList,
  type RelayAccount,
  type RelayDevice,
  uploadTo,
} from "../../support/accounts.ts";
import { BackupWorld } from "../../support/backups.ts";
import type { TestDatabase } from "../../support/postgres.ts";
import {
  connectDevice,
  postUpload,
  registerAccount,
  type RelayAddress,
  startRelay,
} from "../../support/relay.ts";

const publicUrl = "https://relay.example";
const world = new BackupWorld();
let db: TestDatabase;
beforeEach(async () => {
  world.begin();
  db = await world.source();
});
afterEach(() => world.end());

interface Person {
  readonly account: RelayAccount;
  readonly devices: readonly [RelayDevice, RelayDevice];
}

/** An account with a second device, so that bodies beyond the smallest are shared. */
async function joinPerson(relay: RelayAddress): Promise<Person> {
  const nowMs = systemClock.nowMs();
  const account = await registerAccount(relay, nowMs);
  const [phone] = account.devices;
  if (phone === undefined) throw new Error("no device");
  const laptop = newDevice();
  const list = nextList(account, [
    entryFor(phone, deviceState.admin, nowMs),
    entryFor(laptop, deviceState.active, nowMs),
  ]);
  const connection = await connectDevice(relay, phone);
  const reply = await connection.request({
    type: "update-device-list",
    expected_version: 1,
    expected_hash: toBase64Url(account.list.hash),
    device_list: toBase64Url(list.record),
  });
  expect(reply.error).toBeUndefined();
  await connection.cut();
  return { account, devices: [phone, laptop] };
}

async function send(relay: RelayAddress, { account, devices }: Person): Promise<Uint8Array> {
  const mailboxes = devices.map(({ mailbox }) => mailbox);
  const options = { origin: publicUrl, nowMs: systemClock.nowMs(), bucket: 1 };
  const upload = uploadTo(account, mailboxes, options);
  expect((await postUpload(relay, upload)).status).toBe(202);
  return upload;
}

const lanesOf = async (): Promise<Readonly<Record<string, readonly unknown[]>>> =>
  Object.fromEntries(
    await Promise.all(
      ["mailbox", "item", "body"].map(async (table) => [
        table,
        await db.sql`select lane, count(*)::int8 as rows from ${db.sql(table)} group by lane order by lane`,
      ]),
    ),
  );

it("moves mailboxes, items and shared bodies, and a relay goes on with them", async () => {
  const config = { publicUrl };
  const before = await startRelay({ databaseUrl: db.url, config });
  const people: Person[] = [];
  for (let n = 0; n < 8; n++) people.push(await joinPerson(before));
  const uploads: Uint8Array[] = [];
  for (const person of people) uploads.push(await send(before, person));
  await before.close();

  const { sql, close } = await world.open(db.url);
  await db.sql`insert into item (lane, day, mailbox, seq, slot, bucket) select 0, day, gen_random_uuid(), 1, gen_random_uuid(), 0 from item limit 1`;
  const moved = await relane(sql, 4);
  const [first] = people;
  if (first === undefined) throw new Error("nobody");
  const elsewhere = people.filter(({ account }) => laneOf(idText(account.accountMailbox), 4) > 0);
  expect(moved).toEqual({
    from: 1,
    to: 4,
    mailboxes: 2 * elsewhere.length,
    items: 2 * elsewhere.length,
    bodies: elsewhere.length,
  });
  await close();

  const after = await startRelay({ databaseUrl: db.url, config });
  world.closing.push(() => after.close());
  for (const [index, person] of people.entries()) {
    // A retry of what was accepted before finds its slot in the new lane.
    const again = await postUpload(after, uploads[index] ?? new Uint8Array());
    expect(again.body.results?.map(({ state }) => state)).toEqual(["duplicate", "duplicate"]);
    for (const device of person.devices) {
      const connection = await connectDevice(after, device);
      expect(connection.ready.queued).toBe(1);
      const { item, seq } = await connection.delivery();
      expect(Buffer.from(uploads[index] ?? []).includes(Buffer.from(item.subarray(-1000)))).toBe(
        true,
      );
      connection.ack(seq);
      await connection.frame("drained");
      await connection.cut();
    }
    await send(after, person);
  }
});

it("that fails on the way leaves everything where it was, and can be done again", async () => {
  const relay = await startRelay({ databaseUrl: db.url, config: { publicUrl } });
  for (let n = 0; n < 4; n++) await send(relay, await joinPerson(relay));
  await relay.close();
  const before = await lanesOf();
  const { sql } = await world.open(db.url);
  // The last statement of the move fails: everything else was done by then.
  await db.sql`alter table relay_state add constraint planted check (lanes <> 3)`;
  await expect(relane(sql, 3)).rejects.toThrow(/planted/);
  expect(await lanesOf()).toEqual(before);
  await db.sql`alter table relay_state drop constraint planted`;
  // The session is killed while it waits for the last table.
  const held = await db.sql.reserve();
  await held`begin`;
  await held`select 1 from body limit 1`;
  const moving = relane(sql, 3).then(
    () => "moved",
    () => "rolled back",
  );
  let ended = 0;
  while (ended === 0) {
    ended = (await held`select pg_terminate_backend(pid) from pg_locks where not granted`).length;
  }
  expect(await moving).toBe("rolled back");
  await held`rollback`;
  held.release();
  expect(await lanesOf()).toEqual(before);
  expect(await relane(sql, 3)).toMatchObject({ from: 1, to: 3 });
  expect(await relane(sql, 1)).toMatchObject({ from: 3, to: 1 });
  expect(await lanesOf()).toEqual(before);
});

it("is refused beside a relay, and for a number that makes no sense", async () => {
  const config = { ...defaultConfig, databaseUrl: db.url, logLevel: "silent" } as const;
  await db.sql`select 1`;
  expect(await runRelane(config, "2")).toMatchObject({ ok: false, error: { type: "input" } });
  await db.database.close();
  for (const wrong of ["0", "257", "two", "1.5"]) {
    expect(await runRelane(config, wrong)).toMatchObject({ ok: false, error: { type: "input" } });
  }
  expect(await runRelane(config, "2")).toEqual({
    ok: true,
    value: { from: 1, to: 2, mailboxes: 0, items: 0, bodies: 0 },
  });
});
