/**
 * Provenance of skills as the store's JSON. The store is ours and encrypted, so anything else than
 * what was written means damage, and guessing would let an import overwrite or repeat itself.
 *
 * The meaning of the fields is in skills/origins.ts. Spec: docs/skills.md "Origins".
 */
import { type Static, Type } from "typebox";
import { Value } from "typebox/value";

import type { Origins } from "../skills/origins.ts";

const item = Type.Object({
  id: Type.String(),
  name: Type.String(),
  shortDescription: Type.String(),
  detailedBody: Type.String(),
});

const arrival = Type.Object({
  /** Absent for a file. */
  aik: Type.Optional(Type.String()),
  atMs: Type.Number(),
  bundleHash: Type.String(),
});

const copy = Type.Object({
  localId: Type.String(),
  imported: Type.Boolean(),
  wire: item,
  intra: Type.Array(Type.String()),
  pins: Type.Array(Type.Object({ mention: Type.String(), slug: Type.String() })),
  unresolved: Type.Array(Type.String()),
  bundleHash: Type.String(),
  senders: Type.Array(arrival),
});

const kept = Type.Object({
  wireId: Type.String(),
  wireHash: Type.String(),
  localId: Type.String(),
});

const storedOrigins = Type.Object({ copies: Type.Array(copy), kept: Type.Array(kept) });

/** Writes provenance. */
export function encodeOrigins(origins: Origins): string {
  return JSON.stringify(origins);
}

/** Reads what `encodeOrigins` wrote. Throws on anything else. */
export function parseOrigins(json: string): Origins {
  const value: unknown = JSON.parse(json);
  if (!Value.Check(storedOrigins, value)) {
    throw new Error("the provenance of skills in this store is damaged: restore a backup");
  }
  return { copies: value.copies.map(originOf), kept: value.kept };
}

function originOf(stored: Static<typeof copy>): Origins["copies"][number] {
  // JSON drops an undefined sender; the type wants it said.
  return { ...stored, senders: stored.senders.map((sender) => ({ aik: undefined, ...sender })) };
}
