/**
 * One person as a line, for every command that shows people.
 */
import { visibleLine } from "./visible.ts";

interface Contact {
  readonly aik: string;
  readonly name: string;
  readonly relation: string;
  readonly reachable: boolean;
  readonly reason: string | null;
}

/** Name, relation and key, and why they cannot be reached. */
export function contactLine({ aik, name, relation, reachable, reason }: Contact): string {
  const reach = reachable
    ? ""
    : `  not reachable: ${visibleLine(reason ?? "no key of theirs yet")}`;
  return `${visibleLine(name)}  ${relation}  ${aik}${reach}`;
}
