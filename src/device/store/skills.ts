/**
 * Rows of skills in stored order, where imported ones came from, and the imports themselves.
 * Plain data: what is a valid skill is decided in skills/ and library/.
 */
import { asc } from "drizzle-orm";
import { skill, skillImport, skillOrigin } from "./skill-tables.ts";
import type { ReadTx, WriteTx } from "./sqlite.ts";

/** A skill as it is stored; its position is its place in the list. */
export type SkillRow = Omit<typeof skill.$inferSelect, "position">;
export type SkillImportRow = typeof skillImport.$inferSelect;

/** All skills in stored order. */
export function listSkills(tx: ReadTx): readonly SkillRow[] {
  return tx
    .select()
    .from(skill)
    .orderBy(asc(skill.position))
    .all()
    .map(({ position: _position, ...row }) => row);
}

/** Replaces the whole list: a rename may touch many bodies and is one save. */
export function replaceSkills(tx: WriteTx, skills: readonly SkillRow[]): void {
  tx.delete(skill).run();
  skills.forEach((row, position) => {
    tx.insert(skill)
      .values({ ...row, position })
      .run();
  });
}

/** Origins of imported skills: JSON of skills/, by its own key. */
export function skillOrigins(tx: ReadTx): ReadonlyMap<string, string> {
  return new Map(
    tx
      .select()
      .from(skillOrigin)
      .orderBy(asc(skillOrigin.key))
      .all()
      .map((row) => [row.key, row.json]),
  );
}

/** Replaces all origins. */
export function replaceSkillOrigins(tx: WriteTx, origins: ReadonlyMap<string, string>): void {
  tx.delete(skillOrigin).run();
  for (const [key, json] of origins) tx.insert(skillOrigin).values({ key, json }).run();
}

/** Keeps an accepted import. Returns its row number. */
export function addSkillImport(tx: WriteTx, row: Omit<SkillImportRow, "row">): number {
  return Number(tx.insert(skillImport).values(row).run().lastInsertRowid);
}

/** Accepted imports, oldest first. */
export function skillImports(tx: ReadTx): readonly SkillImportRow[] {
  return tx.select().from(skillImport).orderBy(asc(skillImport.row)).all();
}
