/**
 * How a command ends, for scripts. The table is printed by `pixie --help`; a code never changes its
 * meaning.
 *
 * Errors carry a type of their own; this file sorts the types into codes. Spec: docs/operating.md
 * "Exit codes".
 */

/** Exit codes by meaning. */
export const exitCodes = {
  ok: 0,
  unexpected: 1,
  usage: 2,
  notFound: 3,
  refused: 4,
  unreachable: 5,
  unavailable: 6,
  conflict: 7,
} as const;

/** One of `exitCodes`. */
export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

/** The table for `--help`. */
export const exitCodeHelp = `Exit codes of all commands but pixie relay:
  0  done
  1  unexpected failure: a bug, please report it
  2  usage: a flag or argument is missing or malformed
  3  not found, or the name fits several
  4  refused: the input breaks a rule, or a confirmation is missing
  5  the relay cannot be reached; what was written is kept and goes out later
  6  the device cannot be opened: in use, wrong key, folder or daemon trouble
  7  conflict: something changed since it was looked at, or exists already`;

/** The code for a device's error, by its type. A type that nobody sorted is a refusal. */
export function exitCodeOf(type: string): ExitCode {
  if (codeByType.has(type)) return codeByType.get(type) ?? exitCodes.refused;
  return prefixes.find(([prefix]) => type.startsWith(prefix))?.[1] ?? exitCodes.refused;
}

const prefixes: readonly (readonly [prefix: string, code: ExitCode])[] = [
  ["no-", exitCodes.notFound],
  ["ambiguous", exitCodes.notFound],
  ["unreachable", exitCodes.unreachable],
  ["relay-", exitCodes.unreachable],
  ["daemon-", exitCodes.unavailable],
  ["folder-", exitCodes.unavailable],
  ["key-", exitCodes.unavailable],
  ["keyring-", exitCodes.unavailable],
  ["passphrase-", exitCodes.unavailable],
  ["already-", exitCodes.conflict],
];

const codeByType: ReadonlyMap<string, ExitCode> = new Map([
  ["usage", exitCodes.usage],
  ["setting", exitCodes.usage],
  ["relay-url", exitCodes.usage],
  ["malformed-parameters", exitCodes.usage],
  ["unreachable-contact", exitCodes.refused],
  ["not-accepted-yet", exitCodes.unreachable],
  ["not-answered-yet", exitCodes.unreachable],
  ["locked", exitCodes.unavailable],
  ["wrong-key", exitCodes.unavailable],
  ["not-a-store", exitCodes.unavailable],
  ["future-schema", exitCodes.unavailable],
  ["read-only", exitCodes.unavailable],
  ["disk-full", exitCodes.unavailable],
  ["network-file-system", exitCodes.unavailable],
  ["busy", exitCodes.unavailable],
  ["damaged", exitCodes.unavailable],
  ["no-folder", exitCodes.unavailable],
  ["skills-in-conflict", exitCodes.unavailable],
  ["review-outdated", exitCodes.conflict],
  ["approval-outdated", exitCodes.conflict],
]);
