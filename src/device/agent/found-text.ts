/**
 * What an answer rests on: the entries that its turn's calls found, as its owner reads them under the
 * answer. A small model reads the right days and then says "listed above" or leaves one out; with the
 * entries beside it an answer can be checked, whoever made it.
 *
 * Made from results, never by a model, so it is the same for every skill and tool. Preparing calls,
 * which take no argument, are no evidence. Pure. Spec: docs/agent.md "What an answer rests on".
 */
import type { CompletedCall } from "../model/port.ts";

/** Entries of one call, together. Units: characters. */
const maxCallLength = 1_000;
/** One entry; what is longer ends with an ellipsis. Units: characters. */
const maxEntryLength = 240;

/** The answer with the entries of every call that it does not quote as a whole. */
export function withFound(answer: string, calls: readonly CompletedCall[]): string {
  const found = calls.filter(
    ({ ok, args, entries }) => ok && Object.keys(args).length > 0 && entries.length > 0,
  );
  // What only comes near is no evidence where there is better.
  const exact = found.filter(({ near }) => !near);
  const told = (exact.length > 0 ? exact : found).filter(
    ({ entries }) => !entries.every((entry) => answer.includes(entry)),
  );
  return [answer, ...told.map(foundText)].join("\n\n");
}

/** A call as a heading over its result. */
export function callHeading({
  tool,
  args,
  untrusted,
}: Pick<CompletedCall, "tool" | "args" | "untrusted">): string {
  const given = Object.entries(args).map(([name, value]) => `${name}: ${value}`);
  const called = given.length === 0 ? tool : `${tool} (${given.join(", ")})`;
  return `${called}${untrusted ? " — holds words of others" : ""}`;
}

function foundText(call: CompletedCall): string {
  const { entries, found, near } = call;
  let length = 0;
  const shown = entries
    .map(oneLine)
    .filter((entry) => (length += entry.length + 1) <= maxCallLength);
  return [
    `${near ? "Nearest" : "Found"} by ${callHeading(call)}:`,
    ...shown.map((entry) => `- ${entry}`),
    ...(shown.length < found ? [`[${shown.length} of ${found}]`] : []),
  ].join("\n");
}

/** A note or a message may have line breaks: it must not look like a line of ours. */
function oneLine(entry: string): string {
  const line = entry.replaceAll(/\s+/gu, " ").trim();
  return line.length > maxEntryLength ? `${line.slice(0, maxEntryLength)}…` : line;
}
