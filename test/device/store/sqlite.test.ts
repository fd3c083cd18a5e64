import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { getSetting, putSetting } from "../../../src/device/store/settings.ts";
import { type SqliteConnection, SqliteDatabase } from "../../../src/device/store/driver.ts";
import { type DeviceStore, openDeviceStore } from "../../../src/device/store/sqlite.ts";
import { storeErrorOf } from "../../../src/device/store/store-error.ts";

const key = new Uint8Array(32).fill(7);
let folder: string;
let path: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "pixie-store-"));
  path = join(folder, "device.db");
});
afterEach(() => {
  chmodSync(folder, 0o700);
  rmSync(folder, { recursive: true, force: true });
});

function open(withKey: Uint8Array = key): DeviceStore {
  const opened = openDeviceStore({ path, key: withKey });
  if (!opened.ok) throw new Error(opened.error.message);
  return opened.value;
}

/** What SQLite throws when `work` asks too much of a small database. */
function thrownBy(work: (raw: SqliteConnection) => void): unknown {
  const raw = new SqliteDatabase(":memory:");
  raw.exec("create table t(x)");
  try {
    work(raw);
  } catch (thrown) {
    return thrown;
  } finally {
    raw.close();
  }
  return undefined;
}

describe("opening", () => {
  it("keeps what was committed, and nothing of it is readable in the file", () => {
    {
      using store = open();
      store.write((tx) => putSetting(tx, "canary", "a plain secret text"));
    }
    expect(readFileSync(path).includes("a plain secret text")).toBe(false);
    expect(readFileSync(path).includes("CREATE TABLE")).toBe(false);
    using again = open();
    expect(again.read((tx) => getSetting(tx, "canary"))).toBe("a plain secret text");
  });

  it("refuses a wrong key and changes nothing", () => {
    open().close();
    const before = readFileSync(path);
    const opened = openDeviceStore({ path, key: new Uint8Array(32).fill(8) });
    expect(opened).toMatchObject({ ok: false, error: { type: "wrong-key" } });
    expect(readFileSync(path).equals(before)).toBe(true);
  });

  it("refuses a plain SQLite file and any other file, and changes neither", () => {
    const plain = new SqliteDatabase(path);
    plain.exec("create table t(x)");
    plain.close();
    for (const content of [readFileSync(path), Buffer.from("just a note\n")]) {
      writeFileSync(path, content);
      const opened = openDeviceStore({ path, key });
      expect(opened).toMatchObject({ ok: false, error: { type: "not-a-store" } });
      expect(readFileSync(path).equals(content)).toBe(true);
    }
  });

  it("refuses a store of a newer version before anything changes", () => {
    open().close();
    const raw = new SqliteDatabase(path);
    raw.pragma("cipher='chacha20'");
    raw.pragma(`key="raw:${Buffer.from(key).toString("hex")}"`);
    raw.exec("insert into __drizzle_migrations(hash, created_at) values ('from-the-future', 1)");
    raw.close();
    const before = readFileSync(path);
    const opened = openDeviceStore({ path, key });
    expect(opened).toMatchObject({ ok: false, error: { type: "future-schema" } });
    expect(readFileSync(path).equals(before)).toBe(true);
  });

  it("refuses a folder that is not there", () => {
    const opened = openDeviceStore({ path: join(folder, "none", "device.db"), key });
    expect(opened).toMatchObject({ ok: false, error: { type: "no-folder" } });
  });

  it("names a full disk and a read-only store", () => {
    const full = thrownBy((raw) => {
      raw.pragma("max_page_count=3");
      raw.exec("insert into t values (zeroblob(100000))");
    });
    expect(storeErrorOf(full)?.type).toBe("disk-full");
    const readOnly = thrownBy((raw) => {
      raw.pragma("query_only=on");
      raw.exec("insert into t values (1)");
    });
    expect(storeErrorOf(readOnly)?.type).toBe("read-only");
    expect(storeErrorOf(new Error("disk full"))).toBeUndefined();
  });
});

describe("write", () => {
  it("undoes the whole transaction when it throws, and no effect runs", () => {
    using store = open();
    const effects: string[] = [];
    expect(() =>
      store.write((tx) => {
        putSetting(tx, "a", "1");
        tx.afterCommit(() => effects.push("a"));
        throw new Error("stop");
      }),
    ).toThrow("stop");
    expect(store.read((tx) => getSetting(tx, "a"))).toBeUndefined();
    expect(effects).toEqual([]);
  });

  it("undoes one savepoint alone, with its effects", () => {
    using store = open();
    const effects: string[] = [];
    store.write((tx) => {
      putSetting(tx, "kept", "1");
      tx.afterCommit(() => effects.push("kept"));
      expect(() =>
        tx.savepoint(() => {
          putSetting(tx, "undone", "1");
          tx.afterCommit(() => effects.push("undone"));
          throw new Error("this item only");
        }),
      ).toThrow("this item only");
      tx.savepoint(() => putSetting(tx, "also kept", "1"));
    });
    expect(store.read((tx) => getSetting(tx, "kept"))).toBe("1");
    expect(store.read((tx) => getSetting(tx, "also kept"))).toBe("1");
    expect(store.read((tx) => getSetting(tx, "undone"))).toBeUndefined();
    expect(effects).toEqual(["kept"]);
  });

  it("runs effects after the commit, outside of the transaction", () => {
    using store = open();
    let seen: string | undefined;
    store.write((tx) => {
      putSetting(tx, "a", "1");
      tx.afterCommit(() => {
        store.write((next) => putSetting(next, "b", "2"));
        seen = store.read((read) => getSetting(read, "a"));
      });
    });
    expect(seen).toBe("1");
    expect(store.read((tx) => getSetting(tx, "b"))).toBe("2");
  });

  it("refuses a transaction inside a transaction", () => {
    using store = open();
    expect(() => store.write(() => store.write(() => 1))).toThrow("a transaction is open already");
  });
});
