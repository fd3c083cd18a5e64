/**
 * `pixie contact admit|block|unblock|verify|choose`: who is let in, who is not, and whether somebody is who they
 * say.
 *
 * Spec: docs/operating.md "Command line"; docs/protocol.md "Safety number", "Access keys".
 */
import type { Command } from "commander";

import { ok } from "../../shared/result.ts";
import type { Session } from "../api/session.ts";
import { addCommand, type CliParts, type Outcome, usage } from "./command.ts";
import { contactLine } from "./contact-line.ts";
import { visibleLine } from "./visible.ts";

/** Adds them to `contact`. */
export function addTrustCommands(contact: Command, parts: CliParts): void {
  addCommand(contact, parts, {
    usage: "admit <contact>",
    about: "make a message request a contact",
    examples: ["pixie contact admit stranger"],
    run: ({ argument, withSession }) =>
      withSession({ connect: true }, (session) =>
        change(session, "admit-contact", argument(0) ?? ""),
      ),
  });
  addCommand(contact, parts, {
    usage: "block <contact>",
    about: "hear nothing more of somebody, and change the key to your mailboxes",
    examples: ["pixie contact block Mallory"],
    run: ({ argument, withSession }) =>
      withSession({ connect: true }, (session) =>
        change(session, "block-contact", argument(0) ?? ""),
      ),
  });
  addCommand(contact, parts, {
    usage: "unblock <contact>",
    about: "hear somebody again, on this device",
    examples: ["pixie contact unblock Mallory"],
    run: ({ argument, withSession }) =>
      withSession({ connect: true }, (session) =>
        change(session, "unblock-contact", argument(0) ?? ""),
      ),
  });
  addCommand(contact, parts, {
    usage: "verify <contact>",
    about: "show the safety number to compare in person; --same remembers that it was the same",
    examples: ["pixie contact verify Bob", "pixie contact verify Bob --same"],
    options: [["--same", "both of you see these digits"]],
    run: ({ argument, flag, withSession }) =>
      withSession({ connect: false }, (session) =>
        verify(session, argument(0) ?? "", flag("same")),
      ),
  });
  addCommand(contact, parts, {
    usage: "choose <contact> [number]",
    about: "when two keys claim to have taken over from a contact's: show both, or choose one",
    examples: ["pixie contact choose Bob", "pixie contact choose Bob 2"],
    run: ({ argument, withSession }) =>
      withSession({ connect: argument(1) !== undefined }, (session) =>
        choose(session, argument(0) ?? "", argument(1)),
      ),
  });
}

async function choose(
  session: Session,
  contact: string,
  number: string | undefined,
): Promise<Outcome> {
  const contested = await session.call("contested-keys", { contact });
  if (!contested.ok) return contested;
  const keys = contested.value;
  if (number === undefined) {
    return ok({
      json: keys,
      lines: keys.flatMap(({ aik, digits }, index) => [
        `${index + 1}  ${aik}`,
        ...digitLines(digits).map((line) => `   ${line}`),
      ]),
      notes: ["ask them in person which digits they see, then name its number"],
    });
  }
  const chosen = keys[Number(number) - 1];
  if (chosen === undefined) return usage(`expected a number from 1 to ${keys.length}`);
  const settled = await session.call("contested-keys", { contact, chosen: chosen.aik });
  if (!settled.ok) return settled;
  return ok({
    json: { chosen: chosen.aik },
    lines: [`${visibleLine(contact)} is ${chosen.aik} from now on, and verified`],
  });
}

/** Six groups of digits a line, as people read them to each other. */
function digitLines(digits: string): readonly string[] {
  return (digits.match(/.{1,36}/g) ?? []).map((line) => line.trim());
}

async function change(
  session: Session,
  operation: "admit-contact" | "block-contact" | "unblock-contact",
  contact: string,
): Promise<Outcome> {
  const changed = await session.call(operation, { contact });
  if (!changed.ok) return changed;
  return ok({ json: changed.value, lines: [contactLine(changed.value)] });
}

async function verify(session: Session, contact: string, same: boolean): Promise<Outcome> {
  const number = await session.call("safety-number", { contact });
  if (!number.ok) return number;
  if (same) {
    const marked = await session.call("mark-verified", { contact });
    if (!marked.ok) return marked;
  }
  const { name, digits, verifiedMs } = number.value;
  const verified = same || verifiedMs !== null;
  return ok({
    json: { ...number.value, verified },
    lines: [
      `${visibleLine(name)}: ${verified ? "verified" : "not verified"}`,
      ...digitLines(digits),
    ],
    ...(verified
      ? {}
      : { notes: ["compare these digits in person; when they are the same: --same"] }),
  });
}
