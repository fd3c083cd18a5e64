/**
 * Tells the demo's story: one line per step with its time, one line per expectation. An expectation
 * that does not hold ends the story; the demo's exit code depends on nothing else.
 *
 * With `json`, stdout carries one JSON object per line instead, for scripts.
 */

import { assertNever } from "../src/shared/result.ts";

/** One line of the story. */
export type DemoLine =
  | { readonly type: "chapter" | "say"; readonly text: string; readonly ms: number }
  | { readonly type: "expect"; readonly text: string; readonly ms: number; readonly held: true }
  | {
      readonly type: "end";
      readonly held: boolean;
      readonly expectations: number;
      readonly ms: number;
    };

/** Raised when an expectation did not hold. */
export class ExpectationError extends Error {}

export class Narrator {
  readonly #json: boolean;
  readonly #write: (text: string) => void;
  readonly #startedMs = performance.now();
  #expectations = 0;

  constructor(json: boolean, write: (text: string) => void) {
    this.#json = json;
    this.#write = write;
  }

  /** Begins a part of the story. */
  chapter(text: string): void {
    this.#line({ type: "chapter", text, ms: this.#elapsedMs() });
  }

  /** Tells what happened. */
  say(text: string): void {
    this.#line({ type: "say", text, ms: this.#elapsedMs() });
  }

  /** States what must be so. Throws `ExpectationError` when it is not. */
  expect(held: boolean, text: string): void {
    if (!held) throw new ExpectationError(text);
    this.#expectations += 1;
    this.#line({ type: "expect", text, ms: this.#elapsedMs(), held: true });
  }

  /** Ends the story. */
  end(held: boolean): void {
    this.#line({ type: "end", held, expectations: this.#expectations, ms: this.#elapsedMs() });
  }

  #elapsedMs(): number {
    return Math.round(performance.now() - this.#startedMs);
  }

  #line(line: DemoLine): void {
    this.#write(this.#json ? `${JSON.stringify(line)}\n` : asText(line));
  }
}

function asText(line: DemoLine): string {
  const time = `${(line.ms / 1000).toFixed(2).padStart(6)} s`;
  switch (line.type) {
    case "chapter":
      return `\n${time}  ── ${line.text}\n`;
    case "say":
      return line.text
        .split("\n")
        .map((text, index) => `${index === 0 ? time : " ".repeat(8)}     ${text}\n`)
        .join("");
    case "expect":
      return `${time}   ✓ ${line.text}\n`;
    case "end":
      return line.held
        ? `\n${time}  All ${line.expectations} expectations held.\n`
        : `\n${time}  The story broke off after ${line.expectations} expectations.\n`;
    default:
      return assertNever(line);
  }
}
