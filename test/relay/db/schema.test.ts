/** The tables as the code knows them and as the migrations make them are the same, on every store. */
import { getTableConfig, PgTable } from "drizzle-orm/pg-core";
import { describe, expect, it } from "vitest";

import * as hot from "../../../src/relay/db/schema-hot.ts";
import * as cold from "../../../src/relay/db/schema.ts";
import { testStores } from "../../support/postgres.ts";

const tables = Object.values({ ...cold, ...hot }).filter((each) => each instanceof PgTable);
const hotTables = [cold.mailbox, hot.body, hot.item].map((table) => getTableConfig(table));

const typeNames: Readonly<Record<string, string>> = {
  bool: "boolean",
  timestamptz: "timestamp with time zone",
};

describe.each(testStores())("the schema on $name", ({ open }) => {
  it("has every column of every table, and no other", async () => {
    await using db = await open();
    const rows = await db.sql<{ line: string }[]>`
      select concat_ws(' ', table_name, column_name, data_type, is_nullable) as line
      from information_schema.columns
      where table_schema = 'public' and table_name <> 'schema_migration'`;
    const expected = tables.flatMap((table) => {
      const { name, columns } = getTableConfig(table);
      return columns.map((column) => {
        const type = column.getSQLType();
        return `${name} ${column.name} ${typeNames[type] ?? type} ${column.notNull ? "NO" : "YES"}`;
      });
    });
    expect(rows.map(({ line }) => line).toSorted()).toEqual(expected.toSorted());
  });

  it("begins every key of a hot table with the lane, and gives it no trigger and no foreign key", async () => {
    await using db = await open();
    const names = hotTables.map(({ name }) => name);
    const keys = await db.sql<{ first: string }[]>`
      select pg_get_indexdef(indexrelid, 1, false) as first from pg_index
      where indrelid in (select oid from pg_class where relname in ${db.sql(names)})`;
    expect(keys.length).toBeGreaterThanOrEqual(5);
    expect(new Set(keys.map(({ first }) => first))).toEqual(new Set(["lane"]));
    const [extras] = await db.sql<{ triggers: number; foreign: number }[]>`
      select (select count(*)::int from pg_trigger) as triggers,
        (select count(*)::int from pg_constraint where contype = 'f') as foreign`;
    expect(extras).toEqual({ triggers: 0, foreign: 0 });
  });

  it("knows who it is: one row, an epoch, one lane", async () => {
    await using db = await open();
    const rows = await db.sql<
      { epoch: string; lanes: number }[]
    >`select epoch, lanes from relay_state`;
    expect(rows).toHaveLength(1);
    expect(rows[0]?.lanes).toBe(1);
    await expect(db.sql`insert into relay_state (singleton) values (true)`).rejects.toMatchObject({
      code: "23505",
    });
    await expect(db.sql`insert into relay_state (singleton) values (false)`).rejects.toMatchObject({
      code: "23514",
    });
  });
});
