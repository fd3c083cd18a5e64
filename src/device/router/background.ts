/**
 * The background as it ships: tables as text, decoded once when a router is loaded.
 *
 * Spec: docs/agent.md "Routers".
 */
import type { Background } from "./judge.ts";
import { decodeTable, encodeTable, type TableText } from "./table.ts";

/** A background as text. */
export type BackgroundText = Readonly<Record<keyof Background, TableText>>;

/** Reads one. */
export function decodeBackground(text: BackgroundText): Background {
  return {
    requests: decodeTable(text.requests),
    lines: decodeTable(text.lines),
    smallTalk: decodeTable(text.smallTalk),
  };
}

/** Writes one. */
export function encodeBackground(background: Background): BackgroundText {
  return {
    requests: encodeTable(background.requests),
    lines: encodeTable(background.lines),
    smallTalk: encodeTable(background.smallTalk),
  };
}
