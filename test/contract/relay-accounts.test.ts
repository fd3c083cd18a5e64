import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { findRecipients, readBundle, registerAccount } from "../../src/relay/store/accounts.ts";
import { readItems } from "../../src/relay/store/deliveries.ts";
import { replaceDeviceList } from "../../src/relay/store/device-lists.ts";
import { findDevice, newestListRecord } from "../../src/relay/store/devices.ts";
import { ensureDays, purgeExpired } from "../../src/relay/store/expiry.ts";
import { closeInvite, openInvite } from "../../src/relay/store/invites.ts";
import { insertItems } from "../../src/relay/store/items.ts";
import { claimSession } from "../../src/relay/store/mailboxes.ts";
import { publishPrekey } from "../../src/relay/store/prekeys.ts";
import { uuidOf } from "../../src/relay/store/sql-values.ts";
import { dayMs } from "../../src/shared/clock.ts";
import { deviceState } from "../../src/shared/crypto/device-list.ts";
import { idText } from "../../src/shared/ids.ts";
import { maxOpenInvites } from "../../src/shared/limits.ts";
import { systemRng } from "../../src/shared/rng.ts";
import {
  entryFor,
  newAccount,
  newDevice,
  nextList,
  prekeyFor,
  type RelayAccount,
} from "../support/accounts.ts";
import { storeDay, storeNowMs, storeUpload } from "../support/mailboxes.ts";
import { type TestDatabase, testStores } from "../support/postgres.ts";

const days = { from: 0, to: storeDay + 2 };

describe.each(testStores())("accounts on $name", ({ open }) => {
  let db: TestDatabase;
  beforeAll(async () => {
    db = await open();
    await ensureDays(db.sql, storeDay - 1, storeDay + 2);
  });
  afterAll(() => db.drop());

  const waiting = async (mailbox: string): Promise<number[]> => {
    const request = { mailbox, afterSeq: 0, maxItems: 1_000, maxBytes: 2 ** 30 };
    const [items = []] = await readItems(db.sql, 0, [request], days);
    return items.map((item) => item.seq);
  };
  const register = async (account: RelayAccount) => {
    const [device] = account.devices;
    return registerAccount(
      db.sql,
      {
        account: idText(account.accountMailbox),
        lane: 0,
        list: account.list,
        prekey: prekeyFor(account, device!, storeNowMs),
        accessKey: account.accessKey,
      },
      storeNowMs,
    );
  };
  const holderOf = async (account: RelayAccount) => {
    const [device] = account.devices;
    const session = await claimSession(db.sql, { lane: 0, mailbox: device!.box });
    return {
      lane: 0,
      mailbox: device!.box,
      session: session?.session ?? 0,
      account: idText(account.accountMailbox),
    };
  };

  it("registers once; the same registration again is success, a used id is a conflict", async () => {
    const account = newAccount(storeNowMs);
    const [device] = account.devices;
    const prekey = prekeyFor(account, device!, storeNowMs);
    const request = {
      account: idText(account.accountMailbox),
      lane: 0,
      list: account.list,
      prekey,
      accessKey: account.accessKey,
    };
    expect(await registerAccount(db.sql, request, storeNowMs)).toMatchObject({ ok: true });
    expect(await registerAccount(db.sql, request, storeNowMs)).toMatchObject({ ok: true });
    const other = { ...request, accessKey: systemRng(32) };
    expect(await registerAccount(db.sql, other, storeNowMs)).toMatchObject({ ok: false });
    for (const stolen of ["accountMailbox", "deviceId", "mailbox"] as const) {
      const thief = newAccount(storeNowMs);
      const devices =
        stolen === "accountMailbox"
          ? thief.devices
          : [{ ...thief.devices[0]!, [stolen]: device![stolen] }];
      const list = nextList(
        { ...thief, list: { ...thief.list, version: 0 } },
        [entryFor(devices[0]!, deviceState.admin, storeNowMs)],
        { version: 1, prevHash: new Uint8Array(32) },
      );
      const forged = {
        ...thief,
        devices,
        list,
        accountMailbox: stolen === "accountMailbox" ? account.accountMailbox : thief.accountMailbox,
      };
      expect(await register(forged)).toMatchObject({
        ok: false,
        error: { type: "conflict" },
      });
      // All or nothing: the thief's own ids are still free.
      const [used] =
        await db.sql`select 1 from used_id where id in (${uuidOf(idText(thief.accountMailbox))}, ${uuidOf(idText(thief.devices[0]!.deviceId))})
        and id not in (${uuidOf(idText(account.accountMailbox))}, ${uuidOf(idText(device!.deviceId))})`;
      expect(used).toBeUndefined();
    }
  });

  it("a prekey never goes back, and one date has one key", async () => {
    const account = newAccount(storeNowMs);
    await register(account);
    const [device] = account.devices;
    const holder = await holderOf(account);
    const at = (ms: number) => prekeyFor(account, device!, ms);
    const newer = at(storeNowMs + 5);
    expect(await publishPrekey(db.sql, holder, newer, storeNowMs)).toMatchObject({ ok: true });
    expect(await publishPrekey(db.sql, holder, newer, storeNowMs)).toMatchObject({ ok: true });
    expect(await publishPrekey(db.sql, holder, at(storeNowMs + 5), storeNowMs)).toMatchObject({
      error: { type: "conflict" },
    });
    expect(await publishPrekey(db.sql, holder, at(storeNowMs + 4), storeNowMs)).toMatchObject({
      error: { type: "older" },
    });
    await holderOf(account);
    expect(await publishPrekey(db.sql, holder, at(storeNowMs + 9), storeNowMs)).toMatchObject({
      error: { type: "displaced" },
    });
    const bundle = await readBundle(db.sql, holder.account, 0);
    expect(bundle.prekeys.map((record) => Buffer.from(record))).toEqual([
      Buffer.from(newer.record),
    ]);
  });

  it("R34: a list that revokes a device drops its mailbox and what waited in it", async () => {
    const account = newAccount(storeNowMs);
    await register(account);
    const [phone] = account.devices;
    const laptop = newDevice();
    const admin = entryFor(phone!, deviceState.admin, storeNowMs);
    const second = nextList(account, [admin, entryFor(laptop, deviceState.active, storeNowMs)]);
    const holder = await holderOf(account);
    const replaced = await replaceDeviceList(db.sql, holder, account.list, second);
    expect(replaced).toMatchObject({ ok: true, value: { dropped: [] } });
    expect(await findDevice(db.sql, idText(laptop.deviceId))).toBeDefined();
    const bob = { account: holder.account, mailboxes: [phone!.box, laptop.box] };
    await insertItems(db.sql, 0, { uploads: [storeUpload(bob, { bucket: 1 })], nowMs: storeNowMs });

    const third = nextList({ ...account, list: second }, [
      admin,
      entryFor(laptop, deviceState.revoked, storeNowMs),
    ]);
    const removed = await replaceDeviceList(db.sql, holder, second, third);
    expect(removed).toMatchObject({
      ok: true,
      value: { dropped: [laptop.box], released: [{ day: storeDay, items: 1 }] },
    });
    expect(await findDevice(db.sql, idText(laptop.deviceId))).toBeUndefined();
    expect(await waiting(laptop.box)).toEqual([]);
    expect(await waiting(phone!.box)).toEqual([1]);
    const outcomes = await insertItems(db.sql, 0, {
      uploads: [storeUpload(bob)],
      nowMs: storeNowMs,
    });
    expect(outcomes.flat().map((copy) => copy.state)).toEqual(["gone", "gone"]);
    const recipients = await findRecipients(db.sql, [holder.account], storeNowMs);
    expect(recipients.get(holder.account)?.mailboxes).toEqual([
      { mailbox: phone!.box, hasPrekey: true },
    ]);
  });

  it("finds those that are there, and no other in the place of one that is not", async () => {
    const nobody = ["0", "8", "f"].map((digit) =>
      idText(new Uint8Array(16).fill(parseInt(digit.repeat(2), 16))),
    );
    const account = newAccount(storeNowMs);
    await register(account);
    const { account: name } = await holderOf(account);
    expect(await findRecipients(db.sql, nobody, storeNowMs)).toEqual(new Map());
    const found = await findRecipients(db.sql, [...nobody, name], storeNowMs);
    expect([...found].map(([asked, recipient]) => [asked, recipient.account])).toEqual([
      [name, name],
    ]);
  });

  it("replaces a list only by compare-and-set, and one of two racing successors wins", async () => {
    const account = newAccount(storeNowMs);
    await register(account);
    const admin = entryFor(account.devices[0]!, deviceState.admin, storeNowMs);
    const holder = await holderOf(account);
    const candidates = [newDevice(), newDevice()].map((device) =>
      nextList(account, [admin, entryFor(device, deviceState.active, storeNowMs)]),
    );
    const outcomes = await Promise.all(
      candidates.map((next) => replaceDeviceList(db.sql, holder, account.list, next)),
    );
    expect(outcomes.filter((outcome) => outcome.ok)).toHaveLength(1);
    const winner = candidates[outcomes.findIndex((outcome) => outcome.ok)];
    const record = await newestListRecord(db.sql, holder.account);
    expect(Buffer.from(record ?? []).equals(winner!.record)).toBe(true);
    const [devices] =
      await db.sql`select count(*)::int as count from device where account = ${uuidOf(holder.account)}`;
    expect(devices?.["count"]).toBe(2);

    const stale = { ...holder, session: holder.session - 1 };
    const next = nextList({ ...account, list: winner! }, winner!.entries);
    expect(await replaceDeviceList(db.sql, stale, winner!, next)).toMatchObject({
      error: { type: "displaced" },
    });
  });

  it("a new device may not take an id that anybody ever used", async () => {
    const [account, other] = [newAccount(storeNowMs), newAccount(storeNowMs)];
    await register(account);
    await register(other);
    const holder = await holderOf(account);
    const thief = { ...newDevice(), mailbox: other.devices[0]!.mailbox };
    const next = nextList(account, [
      entryFor(account.devices[0]!, deviceState.admin, storeNowMs),
      entryFor(thief, deviceState.active, storeNowMs),
    ]);
    expect(await replaceDeviceList(db.sql, holder, account.list, next)).toMatchObject({
      error: { type: "conflict" },
    });
    const record = await newestListRecord(db.sql, holder.account);
    expect(Buffer.from(record ?? []).equals(account.list.record)).toBe(true);
  });

  it("serves the chain above a version, oldest first, and the newest when there is none", async () => {
    const account = newAccount(storeNowMs);
    await register(account);
    const holder = await holderOf(account);
    const lists = [account.list];
    for (let version = 2; version <= 4; version++) {
      const next = nextList({ ...account, list: lists.at(-1)! }, account.list.entries);
      await replaceDeviceList(db.sql, holder, lists.at(-1)!, next);
      lists.push(next);
    }
    const since = async (version: number) =>
      (await readBundle(db.sql, holder.account, version)).lists.map((record) =>
        Buffer.from(record),
      );
    const records = lists.map((list) => Buffer.from(list.record));
    expect(await since(0)).toEqual(records);
    expect(await since(2)).toEqual(records.slice(2));
    expect(await since(4)).toEqual(records.slice(3));
    expect(await since(9)).toEqual(records.slice(3));
  });

  it("opens at most 32 invites, closes one for good, and forgets expired ones", async () => {
    const account = newAccount(storeNowMs);
    await register(account);
    const holder = await holderOf(account);
    const keys = Array.from({ length: maxOpenInvites + 1 }, () => systemRng(32));
    const expiresMs = storeNowMs + dayMs;
    const put = (key: Uint8Array) => openInvite(db.sql, holder, { key, expiresMs }, storeNowMs);
    for (const key of keys.slice(0, maxOpenInvites))
      expect(await put(key)).toMatchObject({ ok: true });
    expect(await put(keys[0]!)).toMatchObject({ ok: true });
    expect(await put(keys[maxOpenInvites]!)).toMatchObject({ error: { type: "too-many" } });
    expect(await closeInvite(db.sql, holder, keys[0]!, storeNowMs)).toMatchObject({ ok: true });
    expect(await put(keys[0]!)).toMatchObject({ error: { type: "closed" } });
    expect(await put(keys[maxOpenInvites]!)).toMatchObject({ ok: true });
    const openAt = async (nowMs: number) =>
      (await findRecipients(db.sql, [holder.account], nowMs)).get(holder.account)?.invites.length;
    expect(await openAt(storeNowMs)).toBe(maxOpenInvites);
    expect(await openAt(expiresMs)).toBe(0);
    expect(
      await closeInvite(db.sql, { ...holder, session: 0 }, keys[1]!, storeNowMs),
    ).toMatchObject({
      error: { type: "displaced" },
    });
    await purgeExpired(db.sql, expiresMs + dayMs);
    const [left] =
      await db.sql`select count(*)::int as count from invite_key where account = ${uuidOf(holder.account)}`;
    expect(left?.["count"]).toBe(0);
  });
});
