/**
 * What a backup is on disk: a private folder with one file per table in Postgres' own binary COPY
 * format, and `manifest.json`, which names them with their hashes and is written last. Nothing in it
 * is ours alone: `\copy … with (format binary)` reads a table back by hand.
 *
 * Ciphertext does not compress, so nothing is compressed. Spec: docs/operating.md "Backup and restore".
 */
import { createHash } from "node:crypto";
import { createReadStream, readFileSync } from "node:fs";
import path from "node:path";
import { pipeline } from "node:stream/promises";

import { type Static, Type } from "typebox";
import { Value } from "typebox/value";

import { err, ok, type Result } from "../../../shared/result.ts";
import { causeText } from "../../db/database-error.ts";

/** Why a backup was not taken, read or restored. `message` is for the operator and holds no secret. */
export interface BackupError {
  readonly type: "folder" | "damaged" | "schema" | "target" | "database";
  readonly message: string;
}

const name = Type.String({ pattern: "^[a-z][a-z0-9_]{0,62}$" });
const tableContent = Type.Object({
  name,
  columns: Type.Array(name, { minItems: 1 }),
  rows: Type.Integer({ minimum: 0 }),
  /** Of the rows as text, in any order: what is loaded elsewhere is compared by it. */
  digest: Type.String({ pattern: "^[0-9]+$" }),
  bytes: Type.Integer({ minimum: 0 }),
  /** Of the file, hex. */
  sha256: Type.String({ pattern: "^[0-9a-f]{64}$" }),
});
const manifest = Type.Object({
  format: Type.Literal("pixie-relay-backup"),
  version: Type.Literal(1),
  takenMs: Type.Integer({ minimum: 0 }),
  software: Type.String(),
  server: Type.String(),
  epoch: Type.String(),
  lanes: Type.Integer({ minimum: 1 }),
  /** Hashes of the migrations that the database had. */
  schema: Type.Array(Type.String(), { minItems: 1 }),
  /** UTC days since 1970 that have a partition. */
  days: Type.Array(Type.Integer()),
  tables: Type.Array(tableContent, { minItems: 1 }),
});

/** One table of a backup. */
export type TableContent = Static<typeof tableContent>;
/** The manifest. */
export type BackupManifest = Static<typeof manifest>;

/** The manifest's file name. */
export const manifestName = "manifest.json";

/** The file of a table. */
export function tableFile(folder: string, table: string): string {
  return path.join(folder, `${table}.copy`);
}

/** Reads the manifest. Errors: `folder`, `damaged`. */
export function readManifest(folder: string): Result<BackupManifest, BackupError> {
  let text: string;
  try {
    text = readFileSync(path.join(folder, manifestName), "utf8");
  } catch (cause) {
    const message = `${folder} holds no backup: cannot read ${manifestName} (${causeText(cause)})`;
    return err({ type: "folder", message });
  }
  try {
    const value: unknown = JSON.parse(text);
    if (Value.Check(manifest, value)) return ok(value);
    const version =
      typeof value === "object" && value !== null && "version" in value ? value.version : "none";
    return damaged(`${manifestName} is not of version 1 (got ${JSON.stringify(version)})`);
  } catch {
    // The parser's text quotes the file.
    return damaged(`${manifestName} is no JSON`);
  }
}

/** Compares every file with its length and hash. Errors: `damaged`. */
export async function checkFiles(
  folder: string,
  { tables }: BackupManifest,
): Promise<Result<undefined, BackupError>> {
  for (const table of tables) {
    const file = tableFile(folder, table.name);
    try {
      const { bytes, sha256 } = await hashFile(file);
      if (bytes !== table.bytes || sha256 !== table.sha256) {
        return damaged(
          `${path.basename(file)} has ${bytes} bytes and hash ${sha256.slice(0, 12)}…, expected ${table.bytes} and ${table.sha256.slice(0, 12)}…`,
        );
      }
    } catch (cause) {
      return damaged(`cannot read ${path.basename(file)} (${causeText(cause)})`);
    }
  }
  return ok(undefined);
}

async function hashFile(
  file: string,
): Promise<{ readonly bytes: number; readonly sha256: string }> {
  const hash = createHash("sha256");
  let bytes = 0;
  await pipeline(createReadStream(file), async (chunks: AsyncIterable<Buffer>) => {
    for await (const chunk of chunks) {
      bytes += chunk.length;
      hash.update(chunk);
    }
  });
  return { bytes, sha256: hash.digest("hex") };
}

function damaged(what: string): Result<never, BackupError> {
  return err({ type: "damaged", message: `the backup is damaged: ${what}; use another one` });
}
