/**
 * One person as a line, for every command that shows people.
 */
import { visibleLine } from "./visible.ts";

interface Contact {
  readonly aik: string;
  readonly name: string;
  readonly relation: string;
  readonly renewedMs: number | null;
  readonly reachable: boolean;
  readonly reason: string | null;
}

/** Name, relation and key, whether the key is a new one, and why they cannot be reached. */
export function contactLine(contact: Contact): string {
  const { aik, name, relation, renewedMs, reachable, reason } = contact;
  const renewed = renewedMs === null ? "" : "  new key: compare the safety number";
  const reach = reachable
    ? ""
    : `  not reachable: ${visibleLine(reason ?? "no key of theirs yet")}`;
  return `${visibleLine(name)}  ${relation}  ${aik}${renewed}${reach}`;
}
