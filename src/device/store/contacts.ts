/**
 * Rows about people: how far we know them, and what it takes to reach them.
 */
import { asc, count, eq, sql } from "drizzle-orm";
import { preparedOn } from "./prepared.ts";
import { contact } from "./schema.ts";
import type { ReadTx, WriteTx } from "./sqlite.ts";

export type ContactRow = typeof contact.$inferSelect;
export type Relation = ContactRow["relation"];
/** A contact as it is added: what is not known yet may be left out. */
export type NewContact = typeof contact.$inferInsert;

/** The person with that identity key. */
export function getContact(tx: ReadTx, aik: string): ContactRow | undefined {
  return contactByAik(tx).get({ aik });
}
const contactByAik = preparedOn((tx) =>
  tx
    .select()
    .from(contact)
    .where(eq(contact.aik, sql.placeholder("aik")))
    .prepare(),
);

/** Everyone, in the order in which we met them. */
export function allContacts(tx: ReadTx): readonly ContactRow[] {
  return tx.select().from(contact).orderBy(asc(contact.addedMs), asc(contact.aik)).all();
}

/** Adds a person, or replaces what is given of one who is there. */
export function putContact(tx: WriteTx, row: NewContact): void {
  tx.insert(contact).values(row).onConflictDoUpdate({ target: contact.aik, set: row }).run();
}

/** Changes some of what is known about a person. Nobody there: nothing happens. */
export function updateContact(
  tx: WriteTx,
  aik: string,
  change: Partial<Omit<NewContact, "aik">>,
): void {
  tx.update(contact).set(change).where(eq(contact.aik, aik)).run();
}

/** People of one relation, counted. */
export function countContacts(tx: ReadTx, relation: Relation): number {
  const row = tx
    .select({ total: count() })
    .from(contact)
    .where(eq(contact.relation, relation))
    .get();
  return row?.total ?? 0;
}

/** Forgets a person who never became one: their invite did not open the door. */
export function deleteContact(tx: WriteTx, aik: string): void {
  tx.delete(contact).where(eq(contact.aik, aik)).run();
}
