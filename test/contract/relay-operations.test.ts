import { readdirSync, readFileSync } from "node:fs";

import { afterAll, beforeAll, describe, expect, it } from "vitest";

import {
  purgeRetiredKeys,
  rotateAccessKey,
  takeReserveBundle,
} from "../../src/relay/store/access-keys.ts";
import { registerAccount } from "../../src/relay/store/accounts.ts";
import { readDatabaseHealth } from "../../src/relay/store/database-health.ts";
import { accountOfKey, listChain } from "../../src/relay/store/devices.ts";
import { claimSession, readPositions } from "../../src/relay/store/mailboxes.ts";
import { createCode, listCodes, revokeCode } from "../../src/relay/store/registration-codes.ts";
import { probeDatabase } from "../../src/relay/store/relay-state.ts";
import { uuidOf } from "../../src/relay/store/sql-values.ts";
import { idText } from "../../src/shared/ids.ts";
import { maxReserveBundles, retiredKeyMs } from "../../src/shared/limits.ts";
import { systemRng } from "../../src/shared/rng.ts";
import { newAccount, prekeyFor } from "../support/accounts.ts";
import {
  createMailboxes,
  insertBatch,
  newId,
  storeDay,
  storeNowMs,
  storeUpload,
} from "../support/mailboxes.ts";
import { type TestDatabase, testStores } from "../support/postgres.ts";

describe.each(testStores())("what else the store does, on $name", ({ open }) => {
  let db: TestDatabase;
  beforeAll(async () => {
    db = await open();
  });
  afterAll(() => db.drop());

  async function registered() {
    const person = newAccount(storeNowMs);
    const [device] = person.devices;
    const account = idText(person.accountMailbox);
    const prekey = prekeyFor(person, device!, storeNowMs);
    const { list, accessKey } = person;
    await registerAccount(db.sql, { account, lane: 0, list, prekey, accessKey }, storeNowMs);
    const claimed = await claimSession(db.sql, { lane: 0, mailbox: device!.box });
    const hold = { lane: 0, mailbox: device!.box, session: claimed?.session ?? 0, account };
    return { person, account, hold };
  }

  it("rotates an access key once, never back, and only for whoever holds the mailbox", async () => {
    const { person, hold } = await registered();
    const key = systemRng(32);
    const rotate = (to: Uint8Array, session = hold.session) =>
      rotateAccessKey(db.sql, { ...hold, session }, to, storeNowMs);
    expect(await rotate(key, hold.session - 1)).toMatchObject({ error: { type: "displaced" } });
    expect(await rotate(key)).toMatchObject({ ok: true });
    expect(await rotate(key)).toMatchObject({ ok: true });
    expect(await rotate(person.accessKey)).toMatchObject({ error: { type: "conflict" } });
  });

  it("forgets a retired key after its time, and the current one never", async () => {
    const { account, hold } = await registered();
    await rotateAccessKey(db.sql, hold, systemRng(32), storeNowMs);
    const keys = async (): Promise<unknown> =>
      (
        await db.sql`select count(*)::int as keys from access_key where account = ${uuidOf(account)}`
      )[0]?.["keys"];
    await purgeRetiredKeys(db.sql, storeNowMs + retiredKeyMs - 1);
    expect(await keys()).toBe(2);
    await purgeRetiredKeys(db.sql, storeNowMs + retiredKeyMs);
    expect(await keys()).toBe(1);
  });

  it("serves so many bundles of the reserve a day, and as many the next", async () => {
    const { account } = await registered();
    const take = (day: number): Promise<boolean> => takeReserveBundle(db.sql, account, day);
    for (let taken = 0; taken < maxReserveBundles; taken++) expect(await take(storeDay)).toBe(true);
    expect(await take(storeDay)).toBe(false);
    expect(await take(storeDay + 1)).toBe(true);
  });

  it("finds an account by its key, and its chain of lists", async () => {
    const { person, account } = await registered();
    expect(await accountOfKey(db.sql, person.aik.publicKey)).toBe(account);
    expect(await accountOfKey(db.sql, systemRng(32))).toBeUndefined();
    expect(await listChain(db.sql, account)).toEqual([Buffer.from(person.list.record)]);
    expect(await listChain(db.sql, newId())).toEqual([]);
  });

  it("says where mailboxes of a lane stand, and nothing of those that are gone", async () => {
    const bob = await createMailboxes(db.sql, 2);
    const [a = "", b = ""] = bob.mailboxes;
    await insertBatch(db.sql, [storeUpload(bob, { to: [a] })]);
    await claimSession(db.sql, { lane: 0, mailbox: b });
    const found = await readPositions(db.sql, 0, [a, b, newId()]);
    expect(Object.fromEntries(found)).toEqual({
      [a]: { session: 0, through: 1 },
      [b]: { session: 1, through: 0 },
    });
    expect(await readPositions(db.sql, 1, [a])).toEqual(new Map());
  });

  it("makes codes, lists the newest first, and revokes for good", async () => {
    const code = { uses: 2, expiresMs: storeNowMs + 1_000 };
    const first = await createCode(db.sql, systemRng, code, storeNowMs);
    const second = await createCode(db.sql, systemRng, code, storeNowMs + 1);
    expect(await revokeCode(db.sql, first.id, storeNowMs + 5)).toBe(true);
    expect(await revokeCode(db.sql, first.id, storeNowMs + 9)).toBe(true);
    expect(await revokeCode(db.sql, "nobody's", storeNowMs)).toBe(false);
    expect(await listCodes(db.sql)).toEqual([
      { id: second.id, ...code, used: 0, createdMs: storeNowMs + 1, revokedMs: null },
      { id: first.id, ...code, used: 0, createdMs: storeNowMs, revokedMs: storeNowMs + 5 },
    ]);
  });

  it("answers a probe, and tells how its tables are", async () => {
    await probeDatabase(db.sql);
    const { tables, oldestTransactionSeconds } = await readDatabaseHealth(db.sql);
    expect(tables.map(({ table }) => table)).toEqual(["body", "item", "mailbox"]);
    expect(oldestTransactionSeconds).toBeGreaterThanOrEqual(0);
  });
});

const read = (path: string): string => readFileSync(new URL(path, import.meta.url), "utf8");
const namesIn = (folder: string): string[] =>
  readdirSync(new URL(folder, import.meta.url)).map((name) => folder + name);

describe("contracts of the store", () => {
  /** Operations whose contract is told through a relay, in a suite that runs on every store too. */
  const throughRelay: Readonly<Record<string, string>> = {
    recoverAccount: "../relay/http/recovery.test.ts",
    renewAccount: "../relay/http/recovery.test.ts",
  };
  it("there is one for every operation", () => {
    const store = namesIn("../../src/relay/store/").map(read).join("\n");
    const operations = [
      ...store.matchAll(/^export (?:async )?function (\w+)\(\s*sql: Sql\b/gm),
    ].map(([, name]) => name ?? "");
    expect(operations.length).toBeGreaterThan(25);
    const contracts = namesIn("./")
      .filter((path) => path.endsWith(".test.ts"))
      .map(read)
      .join("\n");
    const untold = operations.filter((name) => !new RegExp(`\\b${name}\\(`).test(contracts));
    expect(untold.toSorted()).toEqual(Object.keys(throughRelay));
    for (const path of Object.values(throughRelay)) expect(read(path)).toContain("testStores()");
  });
});
