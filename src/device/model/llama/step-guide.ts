/**
 * What a step may say: a call of one bound tool with its declared arguments in their order, or the
 * answer; as JSON on one line. What has no alternative is not generated but filled in.
 *
 * Spec: docs/agent.md "CallTool".
 */
import type { BoundTool } from "../port.ts";
import type { Forced, Guide } from "./lane.ts";
import { quoted } from "./plan-grammar.ts";

/** A reply is literals and values in turn, from a literal to a literal. */
interface Form {
  readonly literals: readonly string[];
  /** Rules of the values between the literals. */
  readonly rules: readonly string[];
}

const answerForm: Form = { literals: ['{"answer":"', '"}'], rules: ["text"] };

/** The guide for a step with these tools. */
export function stepGuide(tools: readonly BoundTool[]): Guide {
  const forms = [...tools.map(callForm), answerForm];
  return {
    grammar: grammarOf(forms.map((form) => alternative(form, 0, ""))),
    resume: (text) => resume(forms, text),
  };
}

function callForm({ toolName, parameters }: BoundTool): Form {
  const entries = Object.entries(parameters.properties);
  const opening = `{"tool":${JSON.stringify(toolName)},"args":{`;
  const literals = entries.map(([name], at) => {
    const before = at === 0 ? opening : '",';
    return `${before}${JSON.stringify(name)}:"`;
  });
  return entries.length === 0
    ? { literals: [`${opening}}}`], rules: [] }
    : {
        literals: [...literals, '"}}'],
        rules: entries.map(([, parameter]) => valueRule(parameter)),
      };
}

function valueRule(parameter: BoundTool["parameters"]["properties"][string]): string {
  const listed = parameter.enum?.map((value) => quoted(JSON.stringify(value).slice(1, -1)));
  if (listed !== undefined && listed.length > 0) return `(${listed.join(" | ")})`;
  return patternRule(parameter.pattern) ?? `char{1,${parameter.maxLength}}`;
}

/** Patterns of digits and hyphens, which is what days are; others are left to the check of the call. */
function patternRule(pattern: string | undefined): string | undefined {
  const parts = /^\^((?:\\d\{\d+\}|-)+)\$$/.exec(pattern ?? "")?.[1]?.match(/\\d\{\d+\}|-/g);
  return parts?.map((part) => (part === "-" ? '"-"' : `[0-9]${part.slice(2)}`)).join(" ");
}

/** The rest of a form from one literal on; of that one, what stands after `said` already is left out. */
function alternative({ literals, rules }: Form, from: number, said: string): string {
  return literals
    .slice(from)
    .flatMap((literal, at) => {
      const left = at === 0 ? literal.slice(said.length) : literal;
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

/** What has to follow a text, when only one form and in it a literal is left. */
function resume(forms: readonly Form[], text: string): Forced | undefined {
  const open = forms.flatMap((form) => {
    const place = placeIn(form, text);
    return place === undefined ? [] : [{ form, ...place }];
  });
  const [only, another] = open;
  if (only === undefined || another !== undefined || only.said === undefined) return undefined;
  const { form, literal, said } = only;
  const left = (form.literals[literal] ?? "").slice(said.length);
  const last = literal === form.literals.length - 1;
  if (left === "" && !last) return undefined;
  return { text: left, grammar: last ? undefined : grammarOf([rest(form, literal)]) };
}

function rest(form: Form, literal: number): string {
  const rule = form.rules[literal] ?? "";
  return `${rule} ${alternative(form, literal + 1, "")}`;
}

interface Place {
  /** The literal that a text is in, or that ends the value it is in. */
  readonly literal: number;
  /** What is said of it. `undefined`: the text is still in the value before. */
  readonly said: string | undefined;
}

/** Where in a form a text ends. `undefined`: it is not of that form. */
function placeIn({ literals }: Form, text: string): Place | undefined {
  let left = text;
  for (const [literal, words] of literals.entries()) {
    if (literal > 0) {
      const value = /^(?:[^"\\]|\\.)*/.exec(left)?.[0] ?? "";
      left = left.slice(value.length);
      // A backslash that waits for its character is part of the value, too.
      if (left === "" || left === "\\") return { literal, said: undefined };
    }
    if (words.startsWith(left)) return { literal, said: left };
    if (!left.startsWith(words)) return undefined;
    left = left.slice(words.length);
  }
  return undefined;
}
