/**
 * The review of a shared skill as a person reads it: what names nothing first, then every item whole
 * with the handle at which it would land, then what it reaches, and the exact consequence.
 *
 * Foreign lines carry a bar in front, so that no body can pose as one of ours.
 * Spec: docs/skills.md "Review".
 */
import { assertNever } from "../../shared/result.ts";
import type { ResultOf } from "../api/operations.ts";
import { nearMissText } from "../skills/mentions.ts";
import { visibleLine, visibleText } from "./visible.ts";

/** A review as the local API has it. */
export type ReviewView = ResultOf<"review-share">;

type Item = ReviewView["items"][number];

/** All lines of a review, without the command to accept. */
export function reviewLines(review: ReviewView, sender: string): readonly string[] {
  return [
    ...(review.unresolvedLine === null ? [] : [review.unresolvedLine, ""]),
    `Shared by ${visibleLine(sender)}. Nothing is stored until you accept.`,
    ...review.items.flatMap((item) => ["", ...itemLines(item)]),
    "",
    ...reachLines(review),
    "",
    "Accepting would do this:",
    ...review.outcomeLines.map((line) => `  ${line}`),
    ...broughtAlongLines(review),
    ...(review.ignoredChoices.length === 0
      ? []
      : [`  These choices do not apply here: ${handles(review.ignoredChoices)}.`]),
    ...(review.outcome.imported.length === 0
      ? []
      : ["It lands enabled and off the planner's menu; pixie skill advertise puts it there."]),
  ];
}

function itemLines(item: Item): readonly string[] {
  const { wire, resulting } = item;
  return [
    `@${wire.id} — ${visibleLine(wire.name)}   ${landingText(item)}`,
    `  ${visibleLine(resulting.shortDescription)}`,
    ...visibleText(resulting.detailedBody)
      .split("\n")
      .map((line) => `  │ ${line}`),
    ...remarks(item).map((remark) => `  ! ${remark}`),
  ];
}

function landingText({ kind, wire, resulting }: Item): string {
  switch (kind) {
    case "own":
      return "[new]";
    case "renamed":
      return `[new, as @${resulting.id}: @${wire.id} is taken]`;
    case "filled":
      return "[new, fills a mention of yours]";
    case "identical":
      return resulting.id === wire.id
        ? "[you have it already]"
        : `[you have it already, as @${resulting.id}]`;
    case "kept":
      return `[yours is kept: @${resulting.id}]`;
    default:
      return assertNever(kind);
  }
}

function remarks(item: Item): readonly string[] {
  const { wire, fills, keepable } = item;
  return [
    ...item.nearMisses.map((miss) => visibleLine(nearMissText(miss))),
    ...(item.changedBySender.length === 0
      ? []
      : [`the sender changed it since you imported ${handles(item.changedBySender)}`]),
    ...(item.editedCopies.length === 0
      ? []
      : [`you edited your copy ${handles(item.editedCopies)}; it stays as it is`]),
    ...(item.kind !== "renamed" || keepable.length === 0
      ? []
      : [`to use yours instead: --keep ${wire.id}=${keepable[0] ?? ""}`]),
    ...(item.kind !== "renamed" || fills.length === 0
      ? []
      : [`your ${handles(fills)} mentions @${wire.id}; to let this fill it: --fill ${wire.id}`]),
    ...(item.tooLongToShare ? ["too long to share on"] : []),
  ];
}

function reachLines({ tools, newTools, ownSkillsCalled }: ReviewView): readonly string[] {
  const fresh = new Set(newTools.map((tool) => tool.slug));
  const named = tools.map(({ slug }) => `@${slug}${fresh.has(slug) ? " (new to you)" : ""}`);
  return [
    `Tools it can reach: ${named.length === 0 ? "none" : named.join(", ")}`,
    `Your own skills it would call: ${ownSkillsCalled.length === 0 ? "none" : handles(ownSkillsCalled)}`,
  ];
}

function broughtAlongLines({ broughtAlong }: ReviewView): readonly string[] {
  if (broughtAlong.length === 0) return [];
  const count =
    broughtAlong.length === 1
      ? "1 unchanged skill comes"
      : `${broughtAlong.length} unchanged skills come`;
  return [
    `  ${count} along as a copy, because what it mentions changed: ${handles(broughtAlong)}.`,
  ];
}

function handles(slugs: readonly string[]): string {
  return slugs.map((slug) => `@${slug}`).join(", ");
}
