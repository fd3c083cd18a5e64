/**
 * The device store: one encrypted SQLite file, opened by one process. It owns the connection and
 * the one transaction interface; what the tables mean is for the repositories beside it.
 *
 * Reads and writes are synchronous, so a transaction is never interleaved with another. `write` is
 * one transaction: what must not happen unless it commits (an event, a wake-up) goes through
 * `afterCommit`. WAL with synchronous=FULL: a commit that returned survives a power cut.
 *
 * Spec: docs/operating.md "The device store".
 */
import { closeSync, openSync, readSync, statfsSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { type BetterSQLite3Database, drizzle } from "drizzle-orm/better-sqlite3";
import { err, ok, type Result } from "../../shared/result.ts";
import { type SqliteConnection, SqliteDatabase } from "./driver.ts";
import { migrateStore } from "./migrations.ts";
import { type StoreError, storeErrorOf } from "./store-error.ts";

/** What a repository may read with. */
export type ReadTx = Pick<BetterSQLite3Database, "select" | "selectDistinct">;

/** What a repository may write with: exists only inside `write`. */
export interface WriteTx
  extends ReadTx, Pick<BetterSQLite3Database, "insert" | "update" | "delete"> {
  /** Runs `work`; undoes its writes, and its `afterCommit`s, alone when it throws. */
  readonly savepoint: <T>(work: () => T) => T;
  /** Runs `effect` once the transaction is durable; never when it was rolled back. */
  readonly afterCommit: (effect: () => void) => void;
}

export interface DeviceStore extends Disposable {
  /** Reads a consistent state: nothing else runs meanwhile. */
  readonly read: <T>(work: (tx: ReadTx) => T) => T;
  /** One durable transaction. Whatever `work` throws undoes it whole and is thrown on. */
  readonly write: <T>(work: (tx: WriteTx) => T) => T;
  readonly close: () => void;
}

export interface StoreOptions {
  /** File of the store, or ":memory:". Its folder must exist. */
  readonly path: string;
  /** 32 bytes. Not used by a store in memory. */
  readonly key: Uint8Array;
}

/** Opens a store, creating and migrating it as needed. Errors: see `StoreErrorType`. */
export function openDeviceStore(options: StoreOptions): Result<DeviceStore, StoreError> {
  const inMemory = options.path === ":memory:";
  const obstacle = inMemory ? undefined : obstacleAt(options.path);
  if (obstacle !== undefined) return err(obstacle);
  let connection: SqliteConnection | undefined;
  try {
    // SQLite gives its journal files the mode of the database file.
    if (!inMemory) closeSync(openSync(options.path, "a", 0o600));
    connection = new SqliteDatabase(options.path);
    prepareConnection(connection, inMemory ? undefined : options.key);
    const db = drizzle(connection);
    const migrated = migrateStore(db);
    if (!migrated.ok) {
      connection.close();
      return migrated;
    }
    return ok(storeOver(connection, db));
  } catch (thrown) {
    connection?.close();
    const error = storeErrorOf(thrown);
    if (error === undefined) throw thrown;
    return err(error);
  }
}

function prepareConnection(connection: SqliteConnection, key: Uint8Array | undefined): void {
  if (key !== undefined) {
    if (key.length !== 32) throw new Error(`a store key has 32 bytes, got ${key.length}`);
    connection.pragma("cipher='chacha20'");
    connection.pragma(`key="raw:${Buffer.from(key).toString("hex")}"`);
    // Fails here with a wrong key, before anything is written.
    connection.prepare("select count(*) from sqlite_master").get();
  }
  connection.pragma("journal_mode=WAL");
  connection.pragma("synchronous=FULL");
  connection.pragma("secure_delete=ON");
  connection.pragma("temp_store=MEMORY");
}

// A network file system breaks SQLite's locks: NFS, SMB, CIFS, SMB2, by the type of statfs(2).
const networkFileSystems: ReadonlySet<number> = new Set([0x6969, 0x517b, 0xff534d42, 0xfe534d42]);

function obstacleAt(path: string): StoreError | undefined {
  const folder = dirname(path);
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory() !== true) {
    return { type: "no-folder", message: `expected an existing folder for the store: ${folder}` };
  }
  if (networkFileSystems.has(statfsSync(folder).type)) {
    return {
      type: "network-file-system",
      message: "the data folder lies on a network file system: choose one on a local disk",
    };
  }
  return isPlainOrForeign(path)
    ? {
        type: "not-a-store",
        message: `${path} is a file of another kind: choose another data folder, or move it away`,
      }
    : undefined;
}

/** Whether a file is there that no encrypted store can be: plain SQLite, or no whole pages. */
function isPlainOrForeign(path: string): boolean {
  const size = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  if (size === 0) return false;
  if (size % 512 !== 0) return true;
  const head = Buffer.alloc(16);
  const file = openSync(path, "r");
  try {
    readSync(file, head, 0, head.length, 0);
  } finally {
    closeSync(file);
  }
  return head.toString("latin1") === "SQLite format 3\0";
}

function storeOver(connection: SqliteConnection, db: BetterSQLite3Database): DeviceStore {
  let effects: (() => void)[] | undefined;
  const tx: WriteTx = Object.assign(drizzle(connection), {
    afterCommit: (effect: () => void) => void queueOf(effects).push(effect),
    savepoint: <T>(work: () => T): T => {
      const before = queueOf(effects).length;
      connection.exec("savepoint item");
      try {
        const result = work();
        connection.exec("release item");
        return result;
      } catch (thrown) {
        queueOf(effects).length = before;
        connection.exec("rollback to item; release item");
        throw thrown;
      }
    },
  });
  const write = <T>(work: (tx: WriteTx) => T): T => {
    if (effects !== undefined) throw new Error("a transaction is open already: pass its tx on");
    effects = [];
    let done: (() => void)[];
    let result: T;
    try {
      connection.exec("begin immediate");
      result = work(tx);
      connection.exec("commit");
      done = effects;
    } catch (thrown) {
      if (connection.inTransaction) connection.exec("rollback");
      throw thrown;
    } finally {
      effects = undefined;
    }
    // The effects see a closed transaction: they may open one of their own.
    for (const effect of done) effect();
    return result;
  };
  const close = (): void => {
    if (connection.open) connection.close();
  };
  return { read: (work) => work(db), write, close, [Symbol.dispose]: close };
}

function queueOf(effects: (() => void)[] | undefined): (() => void)[] {
  if (effects === undefined) throw new Error("used outside of its transaction");
  return effects;
}
