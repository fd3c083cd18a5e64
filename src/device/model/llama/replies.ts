/**
 * What a generated text means: a reply of the port, or a failure when it was stopped, cut or is not
 * what the grammar promises. And the answer inside a JSON reply while it is still being written.
 *
 * Spec: docs/agent.md "Brains".
 */
import type { ModelFailure, OnToken, StepReply } from "../port.ts";
import type { Generated } from "./lane.ts";

/** Why a generation has no whole reply. `undefined`: it has. */
export function brokenOff({ stop, usage }: Generated): ModelFailure | undefined {
  if (stop === "aborted") return { type: "failed", reason: "the model was stopped", usage };
  if (stop === "end") return undefined;
  const reason = `the reply was cut: it did not end within ${usage.completionTokens} tokens`;
  return { type: "failed", reason, cause: "tokens", usage };
}

/** The step that a whole text is. */
export function stepReply({ text, usage }: Generated): StepReply {
  const value = parsed(text);
  if (typeof value === "object" && value !== null) {
    if ("answer" in value && typeof value.answer === "string") {
      return { type: "answer", text: value.answer.trim(), usage };
    }
    if ("tool" in value && typeof value.tool === "string" && "args" in value) {
      return { type: "call", tool: value.tool, args: value.args, usage };
    }
  }
  return { type: "failed", reason: "the reply is neither a call nor an answer", usage };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // The caller says that it is no reply.
    return undefined;
  }
}

/** Passes on what a growing text has more of than before. Half a character waits for its other half. */
export function growing(onToken: OnToken, part: OnText = (text) => text): OnToken {
  let said = "";
  return (text) => {
    const now = part(text).replace(/\uFFFD+$/u, "");
    if (!now.startsWith(said) || now === said) return;
    onToken(now.slice(said.length));
    said = now;
  };
}

type OnText = (text: string) => string;

const answerOpening = '{"answer":"';

/** The answer in a reply that is still being written; empty while it is none. */
export function answerSoFar(text: string): string {
  if (!text.startsWith(answerOpening)) return "";
  const body = text.slice(answerOpening.length);
  // What an escape or the closing quote begins is not known before it is whole.
  const whole = /^(?:[^"\\]|\\["\\nt])*/.exec(body)?.[0] ?? "";
  return whole
    .replaceAll(/\\(["\\nt])/g, (_, char: string) => ({ n: "\n", t: "\t" })[char] ?? char)
    .trimStart();
}
