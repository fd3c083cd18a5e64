/**
 * One tool run for its owner: what is printed is what the agent would read.
 *
 * Spec: docs/sources.md "Tools".
 */
import { err, ok } from "../../shared/result.ts";
import type { Session } from "../api/session.ts";
import type { Outcome } from "./command.ts";
import { visibleText } from "./visible.ts";

/** The zone of whoever types. Intl answers with the host's where none is set. */
function ownZone(): string {
  return Intl.DateTimeFormat().resolvedOptions().timeZone;
}

/** Runs a tool and shows its result. A failure of the tool is the command's. */
export async function toolOutput(
  session: Session,
  toolName: string,
  args: Readonly<Record<string, string>>,
): Promise<Outcome> {
  const ran = await session.call("run-tool", { toolName, args, zone: ownZone() });
  if (!ran.ok) return ran;
  if (!ran.value.ok) return err({ type: "tool-failed", message: ran.value.reason });
  return ok({ json: ran.value, lines: visibleText(ran.value.text).split("\n") });
}
