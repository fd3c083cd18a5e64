/**
 * The owner's catalogue in the store: skills in stored order, where imported ones came from, and the
 * base instructions that must not dangle. Read whole and written whole, inside the caller's
 * transaction, so that a rename with its cascade is one atomic save.
 *
 * Two skills under one slug cannot be stored: the slug is the table's key. Which edits are right is
 * decided in skills/.
 * Spec: docs/skills.md "Names", "Built-ins".
 */
import { err, ok, type Result } from "../../shared/result.ts";
import { builtinSkills } from "../skills/builtin.ts";
import type { FixedNames } from "../skills/commit.ts";
import { noOrigins } from "../skills/origins.ts";
import { type Catalogue, renameErrorText, yieldToTools } from "../skills/rename.ts";
import { getSetting, putSetting } from "../store/settings.ts";
import { listSkills, replaceSkillOrigins, replaceSkills, skillOrigins } from "../store/skills.ts";
import type { DeviceStore, ReadTx, WriteTx } from "../store/sqlite.ts";
import { encodeOrigins, parseOrigins } from "./origins-json.ts";

/** Why the catalogue cannot be used. */
export interface CatalogueError {
  readonly type: "skills-in-conflict";
  readonly message: string;
}

const seededKey = "skills-seeded";
// Absent or empty: the default of agent/alignment.ts.
const baseInstructionsKey = "base-instructions";
// Provenance is read and written whole, so it is one row.
const originsKey = "all";

/** The catalogue as stored. Throws when its provenance is no provenance: a damaged store. */
export function readCatalogue(tx: ReadTx): Catalogue {
  const json = skillOrigins(tx).get(originsKey);
  return {
    skills: listSkills(tx),
    origins: json === undefined ? noOrigins : parseOrigins(json),
    baseInstructions: getSetting(tx, baseInstructionsKey) ?? "",
  };
}

/** Replaces the catalogue. */
export function writeCatalogue(tx: WriteTx, catalogue: Catalogue): void {
  replaceSkills(tx, catalogue.skills);
  replaceSkillOrigins(tx, new Map([[originsKey, encodeOrigins(catalogue.origins)]]));
  if (catalogue.baseInstructions !== (getSetting(tx, baseInstructionsKey) ?? "")) {
    putSetting(tx, baseInstructionsKey, catalogue.baseInstructions);
  }
}

/**
 * Makes the catalogue ready for use: seeds the built-ins on a fresh device, once, and moves skills
 * out of the way of tools that this release brings. Returns notices for the owner. Errors: a move
 * that does not fit; nothing is changed then.
 */
export function prepareCatalogue(
  store: DeviceStore,
  fixed: FixedNames,
): Result<readonly string[], CatalogueError> {
  return store.write((tx) => {
    if (getSetting(tx, seededKey) === undefined) {
      // Once for all: a device whose owner deleted a built-in does not get it back.
      putSetting(tx, seededKey, "1");
      writeCatalogue(tx, { ...readCatalogue(tx), skills: builtinSkills });
    }
    const catalogue = readCatalogue(tx);
    const moved = yieldToTools(catalogue, fixed.tools, fixed.onDemandNames);
    if (!moved.ok) {
      return err({ type: "skills-in-conflict", message: renameErrorText(moved.error) });
    }
    if (moved.value.notices.length > 0) writeCatalogue(tx, moved.value.catalogue);
    return ok(
      moved.value.notices.map(
        ({ from, to }) => `@${from} is a tool now: your skill of that name is @${to} from here on`,
      ),
    );
  });
}
