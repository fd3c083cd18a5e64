/**
 * What the owner chose for the Alignment document, in the store: base instructions, blurbs, and which
 * skills are on the menu. One transaction for each change.
 *
 * The document itself is made in agent/. Spec: docs/agent.md "The system prompt".
 */
import { err, ok, type Result } from "../../shared/result.ts";
import type { DeviceError } from "../device.ts";
import { deleteSetting, getSetting, putSetting } from "../store/settings.ts";
import type { DeviceStore, ReadTx } from "../store/sqlite.ts";
import { readCatalogue, writeCatalogue } from "./catalogue.ts";
import { noSuchSkill } from "./error-texts.ts";

/** The stored choices. */
export interface StoredAlignment {
  /** `undefined`: never rewritten, or reset. */
  readonly instructions: string | undefined;
  /** Names of blurbs, as they were stored. */
  readonly blurbs: readonly string[];
}

const blurbsKey = "prompt-blurbs";

/** Reads the choices. */
export function readAlignment(tx: ReadTx): StoredAlignment {
  const { baseInstructions } = readCatalogue(tx);
  return {
    instructions: baseInstructions === "" ? undefined : baseInstructions,
    blurbs: (getSetting(tx, blurbsKey) ?? "").split(" ").filter((id) => id !== ""),
  };
}

/** Replaces the base instructions; `undefined` resets them. */
export function storeInstructions(store: DeviceStore, text: string | undefined): void {
  store.write((tx) => writeCatalogue(tx, { ...readCatalogue(tx), baseInstructions: text ?? "" }));
}

/** Replaces the blurbs that are on. */
export function storeBlurbs(store: DeviceStore, ids: readonly string[]): void {
  store.write((tx) => {
    if (ids.length === 0) deleteSetting(tx, blurbsKey);
    else putSetting(tx, blurbsKey, ids.join(" "));
  });
}

/** Puts exactly these skills on the menu. Errors: one of them does not exist; nothing changes then. */
export function selectSkills(
  store: DeviceStore,
  ids: readonly string[],
): Result<undefined, DeviceError> {
  return store.write((tx) => {
    const catalogue = readCatalogue(tx);
    const unknown = ids.find((id) => !catalogue.skills.some((skill) => skill.id === id));
    if (unknown !== undefined) return err(noSuchSkill(unknown));
    const skills = catalogue.skills.map((skill) => ({
      ...skill,
      advertised: ids.includes(skill.id),
    }));
    writeCatalogue(tx, { ...catalogue, skills });
    return ok(undefined);
  });
}
