/**
 * `pixie send` and `pixie read`.
 *
 * Spec: docs/operating.md "Command line".
 */
import type { Command } from "commander";

import { ok, type Result } from "../../shared/result.ts";
import type { Session } from "../api/session.ts";
import type { DeviceError } from "../device.ts";
import { addCommand, type CliParts, type Invocation, type Outcome, usage } from "./command.ts";
import { deliveryOutput } from "./delivery-output.ts";
import { type Message, shortReferences } from "./references.ts";
import { visibleLine, visibleText } from "./visible.ts";

/** Adds `send` and `read`. */
export function registerMessageCommands(program: Command, parts: CliParts): void {
  addCommand(program, parts, {
    usage: "send <contact> [text]",
    about: "send a message",
    examples: ['pixie send Bob "see you at six"', "date | pixie send Bob -"],
    run: send,
  });
  addCommand(program, parts, {
    usage: "read [contact]",
    about: "show messages, of everyone or of one contact, oldest first",
    examples: ["pixie read", "pixie read Bob --last 20", "pixie read --json"],
    options: [
      ["--last <count>", "only the newest ones"],
      ["--offline", "do not catch up with the relay first"],
    ],
    run: read,
  });
}

async function send({ argument, io, withSession }: Invocation): Promise<Outcome> {
  const contact = argument(0) ?? "";
  const typed = argument(1);
  if (typed === undefined && io.interactive)
    return usage("missing the text: - reads it from the standard input");
  const text =
    typed === undefined || typed === "-" ? (await io.readInput()).replace(/\r?\n$/, "") : typed;
  return await withSession({ connect: true }, async (session) => {
    const sent = await session.call("send", { contact, text });
    return sent.ok ? await deliveryOutput(session, sent.value.messageId) : sent;
  });
}

async function read({ argument, text, flag, withSession }: Invocation): Promise<Outcome> {
  const last = text("last");
  if (last !== undefined && !/^[1-9][0-9]{0,8}$/.test(last)) {
    return usage(`--last: expected a whole number above 0, got ${last}`);
  }
  return await withSession({ connect: !flag("offline") }, async (session) => {
    const contact = argument(0);
    const listed = await session.call("messages", contact === undefined ? {} : { contact });
    if (!listed.ok) return listed;
    const shown = last === undefined ? listed.value : listed.value.slice(-Number(last));
    const lines = await messageLines(session, shown);
    if (!lines.ok) return lines;
    return ok({
      json: shown,
      lines: lines.value,
      notes: await offlineNote(session, flag("offline")),
    });
  });
}

async function offlineNote(session: Session, wanted: boolean): Promise<readonly string[]> {
  const status = await session.call("status", {});
  if (wanted || !status.ok || status.value.connection === "ready") return [];
  return [`not connected to the relay (${status.value.connection}): newer messages may be waiting`];
}

async function messageLines(
  session: Session,
  messages: readonly Message[],
): Promise<Result<readonly string[], DeviceError>> {
  const contacts = await session.call("contacts", {});
  // References are prefixes over everything, so that each can be typed as it is shown.
  const all = await session.call("messages", {});
  if (!contacts.ok) return contacts;
  if (!all.ok) return all;
  const names = new Map(contacts.value.map(({ aik, name }) => [aik, name]));
  const references = shortReferences(all.value);
  return ok(
    messages.flatMap((message) => {
      const reference = references.get(message.messageId) ?? message.messageId;
      const other = names.get(message.conversation) ?? message.conversation;
      const who = message.fromMe ? `me → ${other}` : (names.get(message.senderAik) ?? other);
      const head = `${reference}  ${timeText(message)}  ${visibleLine(who)}:`;
      return [head, ...contentLines(message, reference), ...deliveryLines(message)];
    }),
  );
}

function timeText({ sentMs, clockOff }: Message): string {
  const time = new Date(sentMs).toISOString().slice(0, 16).replace("T", " ");
  return `${time}Z${clockOff ? " (their clock was off)" : ""}`;
}

function contentLines({ kind, text, card }: Message, reference: string): readonly string[] {
  if (kind === "opaque") return ["    (needs a newer version of pixie)"];
  if (card === null)
    return visibleText(text)
      .split("\n")
      .map((line) => `    ${line}`);
  const linked = card.linked === "" ? "" : ` (${card.linked})`;
  const what = `${visibleLine(card.name)} — ${visibleLine(card.shortDescription)}${linked}`;
  return card.inert
    ? [`    You shared a skill: ${what}`]
    : [`    shares a skill: ${what}`, `    review it with: pixie skill review ${reference}`];
}

function deliveryLines({ delivery }: Message): readonly string[] {
  if (delivery === null || delivery.state === "confirmed") return [];
  const reason = delivery.reason === null ? "" : `: ${visibleLine(delivery.reason)}`;
  return [`    [${delivery.state}${reason}]`];
}
