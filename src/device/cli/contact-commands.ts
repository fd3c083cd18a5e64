/**
 * `pixie contact …`: invite somebody, accept an invite, list everyone. What is done about people who are
 * known already is trust-commands.ts.
 *
 * Spec: docs/operating.md "Command line"; docs/protocol.md "First contact".
 */
import type { Command } from "commander";
import { renderUnicodeCompact } from "uqr";

import { ok } from "../../shared/result.ts";
import { type Session, settleMs } from "../api/session.ts";
import { addCommand, type CliParts, type Invocation, type Outcome, usage } from "./command.ts";
import { exitCodes } from "./exit-codes.ts";
import { contactLine } from "./contact-line.ts";
import { addTrustCommands } from "./trust-commands.ts";

/** Adds `contact` and its commands. */
export function registerContactGroup(program: Command, parts: CliParts): void {
  const contact = program.command("contact").description("people you write to");
  addCommand(contact, parts, {
    usage: "invite",
    about: "make an invite: a link that lets one person become a contact",
    examples: ["pixie contact invite", "pixie contact invite --multiple-use --days 30"],
    options: [
      ["--multiple-use", "let several people use the same invite"],
      ["--days <days>", "how long it is good for (default: 7)"],
    ],
    run: invite,
  });
  addCommand(contact, parts, {
    usage: "accept <link>",
    about: "accept an invite",
    examples: ["pixie contact accept pixie-invite:…"],
    run: ({ argument, withSession }) =>
      withSession({ connect: true }, (session) => accept(session, argument(0) ?? "")),
  });
  addCommand(contact, parts, {
    usage: "list",
    about: "list contacts and message requests",
    examples: ["pixie contact list", "pixie contact list --offline --json"],
    options: [["--offline", "do not catch up with the relay first"]],
    run: ({ flag, withSession }) => withSession({ connect: !flag("offline") }, list),
  });
  addTrustCommands(contact, parts);
}

const dayMs = 86_400_000;

async function invite({ io, flag, text, withSession }: Invocation): Promise<Outcome> {
  const days = text("days");
  if (days !== undefined && !/^[1-9][0-9]{0,2}$/.test(days)) {
    return usage(`--days: expected a whole number from 1 to 999, got ${days}`);
  }
  return await withSession({ connect: true }, async (session) => {
    const made = await session.call("invite", {
      ...(flag("multipleUse") ? { multipleUse: true } : {}),
      ...(days === undefined ? {} : { lifetimeMs: Number(days) * dayMs }),
    });
    if (!made.ok) return made;
    const { link, expiresMs } = made.value;
    return ok({
      json: made.value,
      lines: [...(io.outputIsTerminal ? renderUnicodeCompact(link).split("\n") : []), link],
      notes: [
        `good ${flag("multipleUse") ? "" : "once, "}until ${new Date(expiresMs).toISOString()}; whoever has it can become your contact`,
      ],
    });
  });
}

async function accept(session: Session, link: string): Promise<Outcome> {
  const accepted = await session.call("accept-invite", { link: link.trim() });
  if (!accepted.ok) return accepted;
  // The acceptance is a message: it counts once the relay has it.
  const settled = await session.call("settle", { boundMs: settleMs });
  if (!settled.ok) return settled;
  const after = await session.call("contacts", {});
  if (!after.ok) return after;
  const contact = after.value.find(({ aik }) => aik === accepted.value.aik) ?? accepted.value;
  const kept = settled.value.state === "bound";
  return ok({
    json: contact,
    lines: [contactLine(contact)],
    ...(kept
      ? {
          notes: ["the relay has not taken the acceptance yet: it is kept and goes out later"],
          exitCode: exitCodes.unreachable,
        }
      : {}),
  });
}

async function list(session: Session): Promise<Outcome> {
  const listed = await session.call("contacts", {});
  if (!listed.ok) return listed;
  const notes = listed.value.length === 0 ? ["no contacts yet: pixie contact invite"] : [];
  return ok({ json: listed.value, lines: listed.value.map(contactLine), notes });
}
