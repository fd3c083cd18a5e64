/**
 * Rows of renewals, and the one question that everybody asks them: which key stands now where that one
 * stood. Whether a renewal is followed is decided in identity/renewals.ts.
 */
import { and, asc, count, eq, sql } from "drizzle-orm";
import { preparedOn } from "./prepared.ts";
import { otherCertificate, renewal } from "./renewal-tables.ts";
import type { ReadTx, WriteTx } from "./sqlite.ts";

export type RenewalRow = typeof renewal.$inferSelect;
export type OtherCertificateRow = typeof otherCertificate.$inferSelect;

/** The renewals heard of that key, the first heard first. */
export function renewalsOf(tx: ReadTx, oldAik: string): readonly RenewalRow[] {
  return tx
    .select()
    .from(renewal)
    .where(eq(renewal.oldAik, oldAik))
    .orderBy(asc(renewal.heardMs), asc(renewal.newAik))
    .all();
}

/** Keeps a renewal. One that is there already stays as it is. */
export function addRenewal(tx: WriteTx, row: RenewalRow): void {
  tx.insert(renewal).values(row).onConflictDoNothing().run();
}

/** Forgets a renewal that the relay did not take. */
export function deleteRenewal(tx: WriteTx, { oldAik, newAik }: RenewalRow): void {
  tx.delete(renewal)
    .where(and(eq(renewal.oldAik, oldAik), eq(renewal.newAik, newAik)))
    .run();
}

/** Lets one renewal of a key count, and no other one. */
export function markFollowed(tx: WriteTx, oldAik: string, newAik: string): void {
  tx.update(renewal)
    .set({ followed: sql`${renewal.newAik} = ${newAik}` })
    .where(eq(renewal.oldAik, oldAik))
    .run();
}

/** The key that stands now where that one stood: itself, unless it was renewed. */
export function currentKeyOf(tx: ReadTx, aik: string): string {
  let current = aik;
  // No renewal is followed that leads back (identity/renewals.ts), so this ends.
  for (;;) {
    const next = successor(tx).get({ oldAik: current })?.newAik;
    if (next === undefined) return current;
    current = next;
  }
}
const successor = preparedOn((tx) =>
  tx
    .select({ newAik: renewal.newAik })
    .from(renewal)
    .where(and(eq(renewal.oldAik, sql.placeholder("oldAik")), eq(renewal.followed, true)))
    .prepare(),
);

/** The key that was followed by that one. */
export function replacedBy(tx: ReadTx, newAik: string): string | undefined {
  return tx
    .select({ oldAik: renewal.oldAik })
    .from(renewal)
    .where(and(eq(renewal.newAik, newAik), eq(renewal.followed, true)))
    .get()?.oldAik;
}

/** This device's certificate under a key of its account that is not the present one. */
export function otherCertificateOf(tx: ReadTx, aik: string): OtherCertificateRow | undefined {
  return tx.select().from(otherCertificate).where(eq(otherCertificate.aik, aik)).get();
}

/** Keeps such a certificate, replacing the one before. */
export function putOtherCertificate(tx: WriteTx, row: OtherCertificateRow): void {
  tx.insert(otherCertificate)
    .values(row)
    .onConflictDoUpdate({ target: otherCertificate.aik, set: row })
    .run();
}

/** Forgets such a certificate. */
export function deleteOtherCertificate(tx: WriteTx, aik: string): void {
  tx.delete(otherCertificate).where(eq(otherCertificate.aik, aik)).run();
}

/** How many there are. */
export function countOtherCertificates(tx: ReadTx): number {
  return tx.select({ total: count() }).from(otherCertificate).get()?.total ?? 0;
}
