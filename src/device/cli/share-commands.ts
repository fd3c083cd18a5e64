/**
 * `pixie skill share`, `review` and `accept`: giving a skill away, and taking one in after reading all
 * of it. Accepting needs the hash that the review ended with, or a yes right after reading it here.
 *
 * Spec: docs/skills.md "Sharing", "Review", "What an import does".
 */
import type { Command } from "commander";

import { err, ok, type Result } from "../../shared/result.ts";
import type { ParamsOf } from "../api/operations.ts";
import type { Session } from "../api/session.ts";
import type { DeviceError } from "../device.ts";
import { addCommand, type CliParts, type Invocation, type Outcome, usage } from "./command.ts";
import { deliveryOutput } from "./delivery-output.ts";
import { findMessage, shortReferences, skillReference } from "./references.ts";
import { reviewLines, type ReviewView } from "./review-text.ts";

const choiceOptions = [
  ["--keep <theirs=yours>...", "do not import this item, use your own skill instead"],
  ["--fill <theirs>...", "let this item take a name that a skill of yours waits for"],
  ["--beside <theirs>...", "import this item although you kept yours before"],
] as const;

/** Adds the three commands to `skill`. */
export function addShareCommands(skill: Command, parts: CliParts): void {
  addCommand(skill, parts, {
    usage: "share <skill> <contact>",
    about: "send a skill, with every skill it mentions, to a contact",
    examples: ["pixie skill share search-info Bob"],
    run: ({ argument, withSession }) =>
      withSession({ connect: true }, async (session) => {
        const id = skillReference(argument(0) ?? "");
        const shared = await session.call("share-skill", { id, contact: argument(1) ?? "" });
        return shared.ok ? await deliveryOutput(session, shared.value.messageId) : shared;
      }),
  });
  addCommand(skill, parts, {
    usage: "review <message>",
    about: "read all of a shared skill, and what importing it would do; stores nothing",
    examples: ["pixie skill review k3Jd8f", "pixie skill review k3Jd8f --json"],
    options: choiceOptions,
    run: (invocation) =>
      invocation.withSession({ connect: false }, async (session) => {
        const reviewed = await review(session, invocation);
        if (!reviewed.ok) return reviewed;
        const { text, view, command } = reviewed.value;
        return ok({
          json: { ...view, acceptCommand: command },
          lines: [...text, "", "To accept exactly this:", `  ${command}`],
        });
      }),
  });
  addCommand(skill, parts, {
    usage: "accept <message>",
    about: "import a shared skill that you have reviewed",
    examples: [
      "pixie skill accept k3Jd8f                 shows the review and asks",
      "pixie skill accept k3Jd8f --hash 5gk…",
    ],
    options: [["--hash <hash>", "the hash that the review ended with"], ...choiceOptions],
    run: (invocation) =>
      invocation.withSession({ connect: false }, (session) => accept(session, invocation)),
  });
}

type Choices = NonNullable<ParamsOf<"review-share">["choices"]>;

interface Reviewed {
  readonly view: ReviewView;
  readonly text: readonly string[];
  readonly command: string;
}

async function review(
  session: Session,
  invocation: Invocation,
): Promise<Result<Reviewed, DeviceError>> {
  const choices = choicesOf(invocation);
  if (!choices.ok) return choices;
  const message = await findMessage(session, invocation.argument(0) ?? "");
  if (!message.ok) return message;
  const view = await session.call("review-share", {
    messageId: message.value.messageId,
    choices: choices.value,
  });
  if (!view.ok) return view;
  const contacts = await session.call("contacts", {});
  const all = await session.call("messages", {});
  if (!contacts.ok) return contacts;
  if (!all.ok) return all;
  const { senderAik, messageId } = message.value;
  const sender = contacts.value.find(({ aik }) => aik === senderAik)?.name ?? senderAik;
  const reference = shortReferences(all.value).get(messageId) ?? messageId;
  return ok({
    view: view.value,
    text: reviewLines(view.value, sender),
    command: `pixie skill accept ${reference} --hash ${view.value.acceptHash}${choiceFlags(invocation)}`,
  });
}

async function accept(session: Session, invocation: Invocation): Promise<Outcome> {
  const hash = await acceptedHash(session, invocation);
  if (!hash.ok) return hash;
  const choices = choicesOf(invocation);
  if (!choices.ok) return choices;
  const message = await findMessage(session, invocation.argument(0) ?? "");
  if (!message.ok) return message;
  const accepted = await session.call("accept-share", {
    messageId: message.value.messageId,
    acceptHash: hash.value,
    choices: choices.value,
  });
  if (!accepted.ok) return accepted;
  return ok({
    json: accepted.value,
    lines: accepted.value.lines,
    notes: accepted.value.imported.map(
      (id) =>
        `@${id} is off the planner's menu until you put it there: pixie skill advertise ${id}`,
    ),
  });
}

async function acceptedHash(
  session: Session,
  invocation: Invocation,
): Promise<Result<string, DeviceError>> {
  const given = invocation.text("hash");
  if (given !== undefined) return ok(given);
  if (!invocation.io.interactive) {
    return usage(
      "no terminal to confirm on: read pixie skill review, and name the hash it ends with as --hash",
    );
  }
  const reviewed = await confirmed(session, invocation);
  return reviewed.ok ? ok(reviewed.value.view.acceptHash) : reviewed;
}

/** Shows the review and asks. What is then accepted is pinned by the hash of what was shown. */
async function confirmed(
  session: Session,
  invocation: Invocation,
): Promise<Result<Reviewed, DeviceError>> {
  const reviewed = await review(session, invocation);
  if (!reviewed.ok) return reviewed;
  for (const line of reviewed.value.text) invocation.io.writeErr(`${line}\n`);
  const answer = await invocation.io.ask("\nImport this? Type yes: ");
  return answer === "yes"
    ? reviewed
    : err({ type: "not-confirmed", message: "nothing was imported" });
}

function choicesOf({ list }: Invocation): Result<Choices, DeviceError> {
  const keep: { readonly wireId: string; readonly localId: string }[] = [];
  for (const pair of list("keep")) {
    const [theirs = "", yours = "", more] = pair.split("=");
    if (theirs === "" || yours === "" || more !== undefined) {
      return usage(`--keep: expected theirs=yours, got ${pair}`);
    }
    keep.push({ wireId: skillReference(theirs), localId: skillReference(yours) });
  }
  return ok({
    keep,
    fill: list("fill").map(skillReference),
    beside: list("beside").map(skillReference),
  });
}

function choiceFlags({ list }: Invocation): string {
  return ["keep", "fill", "beside"]
    .flatMap((name) => list(name).map((value) => ` --${name} ${quoted(value)}`))
    .join("");
}

function quoted(value: string): string {
  return /^[A-Za-z0-9@=-]+$/.test(value) ? value : `'${value.replaceAll("'", `'\\''`)}'`;
}
