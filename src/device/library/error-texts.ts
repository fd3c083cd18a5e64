/**
 * Refusals of the skills engine as a device says them: a stable type and one line that names what
 * to change. Nothing is decided here.
 */
import { assertNever } from "../../shared/result.ts";
import type { DeviceError } from "../device.ts";
import type { DeleteError, SaveError, Saved } from "../skills/commit.ts";
import { renameErrorText } from "../skills/rename.ts";
import { fieldProblemText } from "../skills/skill.ts";

/** A refused save. */
export function saveErrorOf(error: SaveError): DeviceError {
  switch (error.type) {
    case "no-such-skill":
      return noSuchSkill(error.id);
    case "empty-handle":
      return {
        type: "empty-handle",
        message: "the handle is empty: expected at least one letter or digit",
      };
    case "invalid-texts":
      return { type: "invalid-texts", message: error.problems.map(fieldProblemText).join("; ") };
    case "unknown-mentions":
      return {
        type: "unknown-mentions",
        message: error.slugs.map((slug) => `@${slug} — unknown, remove it to save`).join("; "),
      };
    case "rename-over-cap":
      return { type: "rename-over-cap", message: renameErrorText(error) };
    default:
      return assertNever(error);
  }
}

/** What an owner should know about a save that went through. */
export function saveNotes(saved: Saved): readonly string[] {
  const notes: string[] = [];
  if (saved.alsoChanges.length > 0) notes.push(`this also changes ${handles(saved.alsoChanges)}`);
  if (saved.cascaded.length > 0) notes.push(`rewrote the mention in ${handles(saved.cascaded)}`);
  if (saved.stillUnknown.length > 0)
    notes.push(`${handles(saved.stillUnknown)} still names nothing`);
  if (saved.suggestedName !== undefined) {
    notes.push(`the name stayed; “${saved.suggestedName}” would go with the new handle`);
  }
  return notes;
}

/** A refused deletion. */
export function deleteErrorOf(id: string, error: DeleteError): DeviceError {
  if (error.type === "no-such-skill") return noSuchSkill(error.id);
  return { type: "needs-confirmation", message: `deleting @${id} ${consequenceOf(error)}` };
}

/** What a deletion left behind. */
export function deleteNotes(
  consequences: Pick<
    Extract<DeleteError, { type: "needs-confirmation" }>,
    "referrers" | "mentionedInBaseInstructions"
  >,
): readonly string[] {
  return consequences.referrers.length > 0 || consequences.mentionedInBaseInstructions
    ? [consequenceOf(consequences)]
    : [];
}

/** An id that no skill has. */
export function noSuchSkill(id: string): DeviceError {
  return { type: "no-such-skill", message: `there is no skill @${id}: see pixie skill list` };
}

function consequenceOf(consequences: {
  readonly referrers: readonly string[];
  readonly mentionedInBaseInstructions: boolean;
}): string {
  const places = [
    ...consequences.referrers.map((slug) => `@${slug}`),
    ...(consequences.mentionedInBaseInstructions ? ["the base instructions"] : []),
  ];
  return places.length === 0
    ? "cannot be undone: confirm it"
    : `leaves a mention that does nothing in ${places.join(", ")}: confirm it`;
}

function handles(slugs: readonly string[]): string {
  return slugs.map((slug) => `@${slug}`).join(", ");
}
