/**
 * The tables of a relay as a backup sees them: read from the catalogue, so that a table added by a
 * later migration cannot be forgotten, and digested by the server in a way that is the same on every
 * Postgres, whatever order the rows come in.
 */
import type postgres from "postgres";

/** A table and what was found in it. */
export interface FoundTable {
  readonly name: string;
  readonly columns: readonly string[];
  readonly rows: number;
  readonly digest: string;
}

/**
 * Never in a backup. One-time secrets: a box of a linking, or a registration code that was used since,
 * would come back to life with it. The list of migrations is in the manifest.
 */
export const leftOut: ReadonlySet<string> = new Set([
  "rendezvous",
  "registration_code",
  "schema_migration",
]);

/** Tables that belong in a backup, and their columns; partitions count with their parent. */
export async function listTables(
  sql: postgres.Sql,
): Promise<readonly Pick<FoundTable, "name" | "columns">[]> {
  const rows = await sql<{ name: string; column: string }[]>`
    select c.relname::text as name, a.attname::text as column
    from pg_class c join pg_attribute a on a.attrelid = c.oid
    where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
      and a.attnum > 0 and not a.attisdropped
    order by c.relname, a.attnum`;
  const columnsByTable = new Map<string, string[]>();
  for (const { name, column } of rows) {
    if (leftOut.has(name)) continue;
    columnsByTable.set(name, [...(columnsByTable.get(name) ?? []), column]);
  }
  return [...columnsByTable].map(([name, columns]) => ({ name, columns }));
}

/** Names of the catalogue as an SQL list. They are this relay's own, or were checked by the manifest. */
export function quoted(...names: readonly string[]): string {
  return names.map((name) => `"${name}"`).join(", ");
}

/** Days that have partitions. Units: UTC days since 1970-01-01. */
export async function listDays(sql: postgres.Sql): Promise<readonly number[]> {
  const rows = await sql<{ day: number }[]>`
    select distinct split_part(c.relname, '_', 2)::int as day
    from pg_inherits i join pg_class c on c.oid = i.inhrelid
    where i.inhparent in ('body'::regclass, 'item'::regclass) order by 1`;
  return rows.map(({ day }) => day);
}

/** Counts and digests the rows of a table. */
export async function digestTable(
  sql: postgres.Sql,
  table: Pick<FoundTable, "name" | "columns">,
): Promise<FoundTable> {
  const [found] = await sql.unsafe<{ rows: number; digest: string }[]>(`
    select count(*)::int8 as rows, coalesce(sum(('x' || left(md5(r::text), 15))::bit(60)::int8), 0)::text as digest
    from (select ${quoted(...table.columns)} from ${quoted(table.name)}) r`);
  if (found === undefined) throw new Error("a count without a row");
  return { ...table, ...found };
}

/** Settings under which a row reads the same as text on every server. */
export async function pinTextForm(sql: postgres.Sql): Promise<void> {
  await sql`
    select set_config('timezone', 'UTC', false), set_config('bytea_output', 'hex', false),
      set_config('datestyle', 'ISO, YMD', false)`;
}
