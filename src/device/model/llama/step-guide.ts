/**
 * What a step may say: a call of one of some tools with its declared arguments in their order, or the
 * answer; as JSON on one line. What has no alternative is not generated but filled in.
 *
 * Which tools, and whether the answer is among it, is decided in step-offer.ts.
 * Spec: docs/agent.md "CallTool".
 */
import type { BoundTool } from "../port.ts";
import type { Forced, Guide } from "./lane.ts";
import { quoted } from "./plan-grammar.ts";
import type { Offer } from "./step-offer.ts";

/** A reply is literals and values in turn, from a literal to a literal. */
interface Form {
  readonly literals: readonly string[];
  /** Rules of the values between the literals. */
  readonly rules: readonly string[];
}

const answerForm: Form = { literals: ['{"answer":"', '"}'], rules: ["text"] };

/** Forms of one tool: each listed value is a form of its own up to here, and a rule beyond. */
const maxForms = 64;

/** The guide for what is offered. */
export function stepGuide({ tools, answer, days, answerLength = Infinity }: Offer): Guide {
  const forms = [
    ...tools.flatMap((tool) => callForms(tool, days)),
    ...(answer ? [answerForm] : []),
  ];
  return {
    grammar: grammarOf(forms.map((form) => alternative(form, 0, ""))),
    resume: (text) =>
      isOverlong(text, answerLength)
        ? { text: overlongEnd, grammar: undefined }
        : resume(forms, text),
  };
}

const overlongEnd = '…"}';

/** Whether an answer that is being written ends here. Half an escape or a character is waited for. */
function isOverlong(text: string, answerLength: number): boolean {
  return (
    text.length > answerLength &&
    /^\{"answer":"(?:[^"\\]|\\["\\nt])*$/.test(text) &&
    !text.endsWith("\uFFFD")
  );
}

type Parameter = BoundTool["parameters"]["properties"][string];

function callForms({ toolName, parameters }: BoundTool, days: readonly string[]): readonly Form[] {
  let forms: readonly Form[] = [
    { literals: [`{"tool":${JSON.stringify(toolName)},"args":{`], rules: [] },
  ];
  for (const [at, [name, parameter]] of Object.entries(parameters.properties).entries()) {
    const opening = `${at === 0 ? "" : ","}${JSON.stringify(name)}:"`;
    const isRequired = parameters.required.includes(name);
    const values = listedValues(parameter, { isRequired, days });
    // After a free value, every form would begin alike: the listed ones are a rule there.
    const isFree = forms.some(({ rules }) => rules.length > 0);
    forms =
      values === undefined || isFree || forms.length * values.length > maxForms
        ? forms.map((form) => valued(form, opening, ruleOf(parameter, values, isRequired)))
        : forms.flatMap((form) => values.map((value) => said(form, `${opening}${value}"`)));
  }
  return forms.map((form) => said(form, "}}"));
}

/** The form with more of its last literal. */
function said({ literals, rules }: Form, text: string): Form {
  return { literals: [...literals.slice(0, -1), `${literals.at(-1) ?? ""}${text}`], rules };
}

function valued(form: Form, opening: string, rule: string): Form {
  const { literals, rules } = said(form, opening);
  return { literals: [...literals, '"'], rules: [...rules, rule] };
}

/** The values of a parameter as JSON writes them, where they are known. */
function listedValues(
  { enum: listed, pattern }: Parameter,
  { isRequired, days }: { readonly isRequired: boolean; readonly days: readonly string[] },
): readonly string[] | undefined {
  const known = listed ?? (pattern === dayPattern ? days : []);
  if (known.length === 0) return undefined;
  const values = known.map((value) => JSON.stringify(value).slice(1, -1));
  return [...new Set(isRequired ? values : [...values, ""])];
}

/** How a declaration says that an argument is a day. */
const dayPattern = "^\\d{4}-\\d{2}-\\d{2}$";

function ruleOf(
  { pattern, maxLength }: Parameter,
  values: readonly string[] | undefined,
  isRequired: boolean,
): string {
  if (values !== undefined) return `(${values.map(quoted).join(" | ")})`;
  const digits = patternRule(pattern);
  if (digits !== undefined) return isRequired ? digits : `(${digits})?`;
  return `char{${isRequired ? 1 : 0},${maxLength}}`;
}

/** Patterns of digits and hyphens, which is what days are; others are left to the check of the call. */
function patternRule(pattern: string | undefined): string | undefined {
  const parts = /^\^((?:\\d\{\d+\}|-)+)\$$/.exec(pattern ?? "")?.[1]?.match(/\\d\{\d+\}|-/g);
  return parts?.map((part) => (part === "-" ? '"-"' : `[0-9]${part.slice(2)}`)).join(" ");
}

/** The rest of a form from one literal on; of that one, what stands after `told` already is left out. */
function alternative({ literals, rules }: Form, from: number, told: string): string {
  return literals
    .slice(from)
    .flatMap((literal, at) => {
      const left = at === 0 ? literal.slice(told.length) : literal;
      const rule = rules[from + at];
      return [...(left === "" ? [] : [quoted(left)]), ...(rule === undefined ? [] : [rule])];
    })
    .join(" ");
}

function grammarOf(alternatives: readonly string[]): string {
  return [
    `root ::= ${alternatives.join(" | ")}`,
    `text ::= char+`,
    `char ::= [^"\\\\\\x00-\\x1f] | "\\\\" ["\\\\nt]`,
  ].join("\n");
}

/** What has to follow a text, because every form that is left goes on with it. */
function resume(forms: readonly Form[], text: string): Forced | undefined {
  const open = forms.flatMap((form) => {
    const place = placeIn(form, text);
    return place === undefined ? [] : [{ form, ...place }];
  });
  const rests: string[] = [];
  for (const { form, literal, told } of open) {
    if (told === undefined) return undefined;
    rests.push((form.literals[literal] ?? "").slice(told.length));
  }
  const [only, another] = open;
  if (only === undefined) return undefined;
  const isLast = another === undefined && only.literal === only.form.literals.length - 1;
  const common = commonStart(rests);
  if (isLast) return { text: common, grammar: undefined };
  if (common.length < worthFilling) return undefined;
  const left = open.map(({ form, literal, told = "" }) =>
    alternative(form, literal, `${told}${common}`),
  );
  return { text: common, grammar: grammarOf(left) };
}

/** A shorter text is no more than a token, which the model says as fast. Units: characters. */
const worthFilling = 4;

/** How all of the texts begin. Where they part, it ends before a word: half of one is no token. */
function commonStart(texts: readonly string[]): string {
  const [first = "", ...others] = texts;
  if (others.length === 0) return first;
  let length = first.length;
  for (const other of others) {
    while (!other.startsWith(first.slice(0, length))) length -= 1;
  }
  return first.slice(0, length).replace(/[\p{L}\p{N}_]+$/u, "");
}

interface Place {
  /** The literal that a text is in, or that ends the value it is in. */
  readonly literal: number;
  /** What is said of it. `undefined`: the text is still in the value before. */
  readonly told: string | undefined;
}

/** Where in a form a text ends. `undefined`: it is not of that form. */
function placeIn({ literals }: Form, text: string): Place | undefined {
  let left = text;
  for (const [literal, words] of literals.entries()) {
    if (literal > 0) {
      const value = /^(?:[^"\\]|\\.)*/.exec(left)?.[0] ?? "";
      left = left.slice(value.length);
      // A backslash that waits for its character is part of the value, too.
      if (left === "" || left === "\\") return { literal, told: undefined };
    }
    if (words.startsWith(left)) return { literal, told: left };
    if (!left.startsWith(words)) return undefined;
    left = left.slice(words.length);
  }
  return undefined;
}
