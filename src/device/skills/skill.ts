/**
 * What a skill is, and what its texts may hold. The same rules judge the editor's input, what is
 * shared and what arrives, so nothing can be stored that could not be read back.
 *
 * It does not know names of others: slugs are minted in `slug.ts`, mentions are read in `mentions.ts`.
 * Spec: docs/skills.md "Sharing".
 */
import { utf8 } from "../../shared/bytes.ts";
import { assertNever } from "../../shared/result.ts";

/** The authored part of a skill: all that travels. `id` is the slug. */
export interface SkillItem {
  readonly id: string;
  readonly name: string;
  readonly shortDescription: string;
  readonly detailedBody: string;
}

/** A skill as its owner keeps it. */
export interface Skill extends SkillItem {
  /** Whether it exists for the agent: a disabled skill resolves, and expands to nothing. */
  readonly enabled: boolean;
  /** Whether the planner's menu offers it. */
  readonly advertised: boolean;
  /** Whether an author chose the name; otherwise a rename derives it anew from the handle. */
  readonly nameIsSet: boolean;
}

/** Longest name. Unit: code points. */
const maxNameCodePoints = 80;

/** Longest summary. Unit: code points. */
export const maxSummaryCodePoints = 600;

/** Longest body. Unit: UTF-8 bytes. */
export const maxBodyBytes = 8_192;

/** The three authored texts of a skill. */
export type TextField = "name" | "shortDescription" | "detailedBody";

/** One reason why a text of a skill cannot stay as it is. */
export type FieldProblem =
  | { readonly type: "blank"; readonly field: TextField }
  | {
      readonly type: "too-long";
      readonly field: TextField;
      readonly got: number;
      readonly limit: number;
      readonly unit: "code points" | "bytes";
    }
  | { readonly type: "line-break"; readonly field: TextField }
  | { readonly type: "control-character"; readonly field: TextField }
  | { readonly type: "lone-surrogate"; readonly field: TextField };

/** The texts that a field rule looks at. */
export type SkillTexts = Pick<SkillItem, TextField>;

const lineBreak = /[\n\r\v\f\u0085\u2028\u2029]/;
// \p{Cc} is C0, DEL and C1, so that nothing drives a terminal or forges a menu line.
const control = /\p{Cc}/u;
const controlInBody = /(?![\t\n\r])\p{Cc}/u;
const loneSurrogate = /\p{Surrogate}/u;

/** Everything that is wrong with the texts of a skill; empty when they may be stored and shared. */
export function fieldProblems(texts: SkillTexts): readonly FieldProblem[] {
  return [
    ...lineProblems("name", texts.name, maxNameCodePoints),
    ...lineProblems("shortDescription", texts.shortDescription, maxSummaryCodePoints),
    ...bodyProblems(texts.detailedBody),
  ];
}

/** One line that tells an author what to change. */
export function fieldProblemText(problem: FieldProblem): string {
  const field = fieldLabels[problem.field];
  switch (problem.type) {
    case "blank":
      return `${field} is blank: expected at least one visible character`;
    case "too-long":
      return `${field} is too long: expected at most ${problem.limit} ${problem.unit}, got ${problem.got}`;
    case "line-break":
      return `${field} holds a line break: expected one line`;
    case "control-character":
      return `${field} holds a control character: remove it`;
    case "lone-surrogate":
      return `${field} holds half of a surrogate pair: type that character again`;
    default:
      return assertNever(problem);
  }
}

/**
 * An author's texts with what no wire item may hold turned into one space: line breaks and controls
 * in name and summary, controls other than tab and line end in the body.
 */
export function cleanTexts(texts: SkillTexts): SkillTexts {
  return {
    name: cleanLine(texts.name),
    shortDescription: cleanLine(texts.shortDescription),
    detailedBody: texts.detailedBody.replace(/(?:(?![\t\n\r])\p{Cc})+/gu, " "),
  };
}

/** Length of a text as a person counts it. Unit: code points. */
export function codePoints(text: string): number {
  return Array.from(text).length;
}

/** Length of a body as its cap counts it. Unit: UTF-8 bytes. */
export function bodyBytes(body: string): number {
  return utf8(body).length;
}

const fieldLabels: Readonly<Record<TextField, string>> = {
  name: "name",
  shortDescription: "summary",
  detailedBody: "instruction",
};

function lineProblems(field: TextField, text: string, limit: number): readonly FieldProblem[] {
  const problems: FieldProblem[] = [...commonProblems(field, text)];
  const got = codePoints(text);
  if (got > limit) problems.push({ type: "too-long", field, got, limit, unit: "code points" });
  if (lineBreak.test(text)) problems.push({ type: "line-break", field });
  else if (control.test(text)) problems.push({ type: "control-character", field });
  return problems;
}

function bodyProblems(text: string): readonly FieldProblem[] {
  const field = "detailedBody";
  const problems: FieldProblem[] = [...commonProblems(field, text)];
  const got = bodyBytes(text);
  if (got > maxBodyBytes) {
    problems.push({ type: "too-long", field, got, limit: maxBodyBytes, unit: "bytes" });
  }
  if (controlInBody.test(text)) problems.push({ type: "control-character", field });
  return problems;
}

function commonProblems(field: TextField, text: string): readonly FieldProblem[] {
  const problems: FieldProblem[] = [];
  if (!/\S/.test(text)) problems.push({ type: "blank", field });
  if (loneSurrogate.test(text)) problems.push({ type: "lone-surrogate", field });
  return problems;
}

function cleanLine(text: string): string {
  return text.replace(/[\p{Cc}\u2028\u2029]+/gu, " ");
}
