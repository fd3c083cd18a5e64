/**
 * The review of a shared skill as a schema: the largest answer of the local API, so it has a file.
 * Spec: docs/skills.md "Review"; docs/operating.md "Local API".
 */
import { Type } from "typebox";

import type { Review } from "../skills/review.ts";
import { orNull, skillView, type Wire } from "./views.ts";

const text = Type.String();
const texts = Type.Array(text);

const wireItem = Type.Object({
  id: text,
  name: text,
  shortDescription: text,
  detailedBody: text,
});

const toolParameter = Type.Object({
  type: Type.Literal("string"),
  description: text,
  maxLength: Type.Integer(),
  pattern: Type.Optional(orNull(text)),
});

const tool = Type.Object({
  slug: text,
  toolName: text,
  name: text,
  description: text,
  parameters: Type.Object({
    type: Type.Literal("object"),
    properties: Type.Record(text, toolParameter),
    required: texts,
    additionalProperties: Type.Literal(false),
  }),
  signature: text,
  advertiseInMenu: Type.Boolean(),
});

const nearMiss = Type.Object({
  slug: text,
  start: Type.Integer(),
  end: Type.Integer(),
  refusal: Type.Union([Type.Literal("escaped"), Type.Literal("before"), Type.Literal("after")]),
  character: text,
});

const landingKind = Type.Union([
  Type.Literal("own"),
  Type.Literal("renamed"),
  Type.Literal("filled"),
  Type.Literal("identical"),
  Type.Literal("kept"),
]);

const reviewedItem = Type.Object({
  wire: wireItem,
  kind: landingKind,
  resulting: skillView,
  unresolved: texts,
  nearMisses: Type.Array(nearMiss),
  tooLongToShare: Type.Boolean(),
  changedBySender: texts,
  editedCopies: texts,
  keepable: texts,
  fills: texts,
});

const outcome = Type.Object({
  imported: texts,
  renamed: Type.Array(
    Type.Object({
      from: text,
      to: text,
      reason: Type.Union([Type.Literal("taken"), Type.Literal("unusable")]),
    }),
  ),
  skippedIdentical: texts,
  summaryDiffers: texts,
  kept: Type.Array(Type.Object({ wireId: text, slug: text })),
  filled: Type.Array(Type.Object({ slug: text, changes: texts })),
  landed: Type.Array(Type.Object({ wireId: text, slug: text })),
});

/** Everything that a reader is shown before an import. */
export const reviewView = Type.Object({
  unresolved: texts,
  unresolvedLine: orNull(text),
  items: Type.Array(reviewedItem),
  tools: Type.Array(tool),
  newTools: Type.Array(tool),
  ownSkillsCalled: texts,
  broughtAlong: texts,
  outcome,
  outcomeLines: texts,
  ignoredChoices: texts,
  acceptHash: text,
});

type Static = Type.Static<typeof reviewView>;

/** Holds exactly as long as a review of the skills engine fits the schema. */
export const reviewFits: Wire<Review> extends Wire<Static> ? true : false = true;
