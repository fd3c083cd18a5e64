/**
 * Registration codes: what an operator hands to somebody who may open an account. A code is 16 random
 * bytes, so its plain hash is enough to keep; the code itself is shown once and stored nowhere.
 *
 * Using one up is part of the registration's own statement (accounts.ts).
 * Spec: docs/operating.md "Registration codes".
 */
import { toBase64Url, utf8 } from "../../shared/bytes.ts";
import { blake2b } from "../../shared/crypto/sodium.ts";
import type { Rng } from "../../shared/rng.ts";
import { asBuffer, type Sql } from "./sql-values.ts";

/** A code as an operator sees it in a list. */
export interface RegistrationCode {
  readonly id: string;
  readonly uses: number;
  readonly used: number;
  readonly createdMs: number;
  readonly expiresMs: number;
  readonly revokedMs: number | null;
}

/** What is kept of a code. White space around it is dropped, since people paste it. */
export function codeHashOf(code: string): Uint8Array {
  return blake2b(32, utf8(`pixie registration code ${code.trim()}`));
}

/** Makes a code. */
export async function createCode(
  sql: Sql,
  rng: Rng,
  { uses, expiresMs }: { readonly uses: number; readonly expiresMs: number },
  nowMs: number,
): Promise<{ readonly id: string; readonly code: string }> {
  const code = toBase64Url(rng(16));
  const id = Buffer.from(rng(6)).toString("hex");
  await sql`
    insert into registration_code (id, hash, created_at_ms, expires_at_ms, uses)
    values (${id}, ${asBuffer(codeHashOf(code))}, ${nowMs}, ${expiresMs}, ${uses})`;
  return { id, code };
}

/** All codes, newest first. */
export async function listCodes(sql: Sql): Promise<readonly RegistrationCode[]> {
  return sql<RegistrationCode[]>`
    select id, uses, used, created_at_ms as "createdMs", expires_at_ms as "expiresMs", revoked_at_ms as "revokedMs"
    from registration_code order by created_at_ms desc, id`;
}

/** Ends a code; accounts that it opened stay. False: there is none of that id. */
export async function revokeCode(sql: Sql, id: string, nowMs: number): Promise<boolean> {
  const rows = await sql`
    update registration_code set revoked_at_ms = coalesce(revoked_at_ms, ${nowMs}) where id = ${id} returning id`;
  return rows.length > 0;
}
