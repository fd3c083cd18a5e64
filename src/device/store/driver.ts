/**
 * Which build of the SQLite driver this Node gets. One driver, two releases: 13 is built on Node-API
 * and comes compiled, but crashes on Node 20; 12 is compiled at installation and, from Node 24.19 on,
 * aborts the process whenever an idle collection finds one of its objects. Both write the same files.
 *
 * The import of either is plain JavaScript; the native part is loaded by the first `new`.
 * Spec: docs/decisions/0011-one-sqlite-driver-two-releases.md.
 */
import type Database from "better-sqlite3";

const nodeMajor = Number(process.versions.node.split(".")[0]);

/** The driver's constructor, with its error class as `SqliteError`. */
export const SqliteDatabase: typeof Database =
  nodeMajor >= 22 ? (await import("better-sqlite3")).default : await compiledDriver();

/** An open connection. */
export type SqliteConnection = Database.Database;

async function compiledDriver(): Promise<typeof Database> {
  try {
    return (await import("better-sqlite3-12")).default;
  } catch (cause) {
    throw new Error(
      "the SQLite driver for Node 20 was not built: install a C++ compiler, make and Python 3 and run npm ci again, or use Node 22 or newer",
      { cause },
    );
  }
}
