/**
 * How a person points at things: a skill with or without its `@`, a message by the first letters of
 * its id.
 *
 * Contacts are not resolved here: the device does, by name or identity key.
 */
import { err, ok, type Result } from "../../shared/result.ts";
import type { ResultOf } from "../api/operations.ts";
import type { Session } from "../api/session.ts";
import type { DeviceError } from "../device.ts";

/** One row of a conversation, as the local API has it. */
export type Message = ResultOf<"messages">[number];

/** A skill's id from what was typed. */
export function skillReference(typed: string): string {
  return typed.replace(/^@/, "").toLowerCase();
}

/** The message that a prefix of its id names. Errors: none, or several; exact ids always win. */
export async function findMessage(
  session: Session,
  typed: string,
): Promise<Result<Message, DeviceError>> {
  const listed = await session.call("messages", {});
  if (!listed.ok) return listed;
  const prefix = typed.replace(/^:/, "");
  const fitting = listed.value.filter((message) => message.messageId.startsWith(prefix));
  const exact = fitting.filter((message) => message.messageId === prefix);
  const [found, ...others] = exact.length > 0 ? exact : prefix === "" ? [] : fitting;
  if (found === undefined) {
    return err({
      type: "no-such-message",
      message: `no message id begins with “${typed}”: see pixie read`,
    });
  }
  if (others.some((message) => message.messageId !== found.messageId)) {
    const references = shortReferences(listed.value);
    const names = fitting.map((message) => references.get(message.messageId) ?? message.messageId);
    return err({
      type: "ambiguous-message",
      message: `“${typed}” fits several messages: ${[...new Set(names)].join(", ")}`,
    });
  }
  return ok(found);
}

/** The shortest prefix of each id, six characters at least, that names it alone. */
export function shortReferences(messages: readonly Message[]): ReadonlyMap<string, string> {
  const ids = [...new Set(messages.map((message) => message.messageId))].toSorted();
  return new Map(
    ids.map((id, at) => {
      const neighbours = [ids[at - 1] ?? "", ids[at + 1] ?? ""];
      const shared = Math.max(...neighbours.map((other) => commonLength(id, other)));
      return [id, typeable(id.slice(0, Math.max(minReference, shared + 1)))];
    }),
  );
}

const minReference = 6;

// A command line would take a leading hyphen for a flag.
function typeable(prefix: string): string {
  return prefix.startsWith("-") ? `:${prefix}` : prefix;
}

function commonLength(left: string, right: string): number {
  let length = 0;
  while (length < left.length && left[length] === right[length]) length += 1;
  return length;
}
