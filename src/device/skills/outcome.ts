/**
 * What an import did, as data and in plain words. The same lines serve the review's preview and the
 * summary afterwards, so a person reads beforehand exactly what will be said.
 *
 * Spec: docs/skills.md "What an import does".
 */

/** A name that an item could not have. */
export interface Renaming {
  readonly from: string;
  readonly to: string;
  /** A name that ends in a hyphen is free and yet of no use: no mention can reach it. */
  readonly reason: "taken" | "unusable";
}

/** Everything that an import did. All lists are in bundle order. */
export interface ImportOutcome {
  /** Slugs at which new skills landed, the renamed ones included. */
  readonly imported: readonly string[];
  readonly renamed: readonly Renaming[];
  /** Wire ids of items that the receiver already had. */
  readonly skippedIdentical: readonly string[];
  /** Wire ids of skipped items whose summary differs from the local one. */
  readonly summaryDiffers: readonly string[];
  /** Local skills that were kept instead of an item. */
  readonly kept: readonly { readonly wireId: string; readonly slug: string }[];
  /** Accepted fillings: the new skill, and the local skills that it changes. */
  readonly filled: readonly { readonly slug: string; readonly changes: readonly string[] }[];
  /** Where each item landed. */
  readonly landed: readonly { readonly wireId: string; readonly slug: string }[];
}

/** The outcome in plain words, one sentence or two per line; a line is there only when it applies. */
export function outcomeLines(outcome: ImportOutcome): readonly string[] {
  const renamedTo = new Set(outcome.renamed.map((renaming) => renaming.to));
  const plain = outcome.imported.filter((slug) => !renamedTo.has(slug));
  return [
    ...(plain.length > 0 ? [`Imported ${handles(plain)}.`] : []),
    ...outcome.renamed.map(renamingLine),
    ...skippedLines(outcome),
    ...outcome.summaryDiffers.map((wireId) => `The summary of @${wireId} differs; yours was kept.`),
    ...outcome.kept.map(({ slug }) => `Kept your @${slug}.`),
    ...outcome.filled.map(({ slug, changes }) => `@${slug} now also changes ${handles(changes)}.`),
  ];
}

/** What a review says first about mentions that name nothing here; undefined when there are none. */
export function unresolvedLine(slugs: readonly string[]): string | undefined {
  return slugs.length === 0
    ? undefined
    : `References not available here: ${handles(slugs)}. Those steps will be skipped.`;
}

function renamingLine({ from, to, reason }: Renaming): string {
  return reason === "taken"
    ? `@${from} was taken — imported as @${to}.`
    : `@${from} is not a usable name — imported as @${to}.`;
}

function skippedLines(outcome: ImportOutcome): readonly string[] {
  if (outcome.skippedIdentical.length === outcome.landed.length) {
    return ["Nothing new — you already had all of this."];
  }
  const slugByWireId = new Map(outcome.landed.map(({ wireId, slug }) => [wireId, slug]));
  return outcome.skippedIdentical.map((wireId) => {
    const slug = slugByWireId.get(wireId) ?? wireId;
    return slug === wireId
      ? `You already had @${wireId}.`
      : `You already had @${wireId} as @${slug}.`;
  });
}

function handles(slugs: readonly string[]): string {
  return slugs.map((slug) => `@${slug}`).join(", ");
}
