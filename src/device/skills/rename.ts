/**
 * Renames that leave nothing dangling: one simultaneous map over ids, every body (the renamed skill's
 * own too), every summary, the base instructions and the provenance. All of it or nothing.
 *
 * It does not choose names; `commit.ts` mints them for a person, and the second half of this file for
 * a release that brings a tool whose slug somebody already uses.
 * Spec: docs/skills.md "Editing".
 */
import { err, ok, type Result } from "../../shared/result.ts";
import { rewriteMentions } from "./mentions.ts";
import { renameInOrigins, type Origins } from "./origins.ts";
import { bodyBytes, codePoints, maxBodyBytes, maxSummaryCodePoints, type Skill } from "./skill.ts";
import { mintSlug } from "./slug.ts";
import type { ToolDeclaration } from "./tools.ts";
import { heldByCode } from "./registry.ts";

/** Everything that mentions names, and that one save writes together. */
export interface Catalogue {
  readonly skills: readonly Skill[];
  readonly origins: Origins;
  /** The agent's base instructions: never a manifest, but they must not dangle. */
  readonly baseInstructions: string;
}

/** Why a rename is refused: it would take a text of this skill over its cap. */
export interface RenameError {
  readonly type: "rename-over-cap";
  readonly id: string;
  readonly field: "shortDescription" | "detailedBody";
  readonly got: number;
  readonly limit: number;
}

/** A skill that had to move, because a release brought a tool of that slug. */
export interface Notice {
  readonly type: "slug-taken-by-tool";
  readonly from: string;
  readonly to: string;
}

/** Applies a simultaneous map of slugs. Errors: a body or summary would cross its cap. */
export function applyRenames(
  catalogue: Catalogue,
  renames: ReadonlyMap<string, string>,
): Result<Catalogue, RenameError> {
  const skills: Skill[] = [];
  for (const skill of catalogue.skills) {
    const renamed = renameWithin(skill, renames);
    const error = crossedCap(skill, renamed);
    if (error !== undefined) return err(error);
    skills.push(renamed);
  }
  return ok({
    skills,
    origins: renameInOrigins(catalogue.origins, renames),
    baseInstructions: rewriteMentions(catalogue.baseInstructions, renames),
  });
}

/** One line for the person whose rename is refused. */
export function renameErrorText(error: RenameError): string {
  const [field, unit] =
    error.field === "detailedBody" ? ["instruction", "bytes"] : ["summary", "code points"];
  return `the ${field} of @${error.id} would grow to ${error.got} ${unit}, at most ${error.limit} fit: shorten it or choose a shorter name`;
}

/**
 * Moves skills away from the slugs of tools that a release brings, with cascade and a notice for
 * each. Errors: as `applyRenames`.
 */
export function yieldToTools(
  catalogue: Catalogue,
  tools: readonly ToolDeclaration[],
  onDemandNames: readonly string[] = [],
): Result<{ readonly catalogue: Catalogue; readonly notices: readonly Notice[] }, RenameError> {
  const ofCode = heldByCode(tools, onDemandNames);
  const toolSlugs = new Set(tools.map((tool) => tool.slug));
  const taken = new Set(catalogue.skills.map((skill) => skill.id));
  const renames = new Map<string, string>();
  for (const { id } of catalogue.skills) {
    if (!toolSlugs.has(id)) continue;
    const slug = mintSlug(id, (candidate) => ofCode(candidate) || taken.has(candidate));
    taken.add(slug);
    renames.set(id, slug);
  }
  const renamed = applyRenames(catalogue, renames);
  if (!renamed.ok) return renamed;
  const notices = [...renames].map(
    ([from, to]) => ({ type: "slug-taken-by-tool", from, to }) as const,
  );
  return ok({ catalogue: renamed.value, notices });
}

function renameWithin(skill: Skill, renames: ReadonlyMap<string, string>): Skill {
  return {
    ...skill,
    id: renames.get(skill.id) ?? skill.id,
    shortDescription: rewriteMentions(skill.shortDescription, renames),
    detailedBody: rewriteMentions(skill.detailedBody, renames),
  };
}

// A text that already is over its cap (an import may leave one) does not block other renames.
function crossedCap(before: Skill, after: Skill): RenameError | undefined {
  const bytes = bodyBytes(after.detailedBody);
  if (bytes > maxBodyBytes && bodyBytes(before.detailedBody) <= maxBodyBytes) {
    return {
      type: "rename-over-cap",
      id: before.id,
      field: "detailedBody",
      got: bytes,
      limit: maxBodyBytes,
    };
  }
  const points = codePoints(after.shortDescription);
  if (
    points > maxSummaryCodePoints &&
    codePoints(before.shortDescription) <= maxSummaryCodePoints
  ) {
    return {
      type: "rename-over-cap",
      id: before.id,
      field: "shortDescription",
      got: points,
      limit: maxSummaryCodePoints,
    };
  }
  return undefined;
}
