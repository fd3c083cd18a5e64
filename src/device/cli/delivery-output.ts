/**
 * What `send` and `skill share` say after handing a message over: whether the relay has it. A message
 * that it does not have yet is kept, which is not the same, and has an exit code of its own.
 */
import { ok } from "../../shared/result.ts";
import { type Session, settleMs } from "../api/session.ts";
import type { Outcome, Output } from "./command.ts";
import { exitCodes } from "./exit-codes.ts";

/** Waits, within a bound, until the relay accepted a message, and tells what became of it. */
export async function deliveryOutput(session: Session, messageId: string): Promise<Outcome> {
  const settled = await session.call("settle", { boundMs: settleMs });
  if (!settled.ok) return settled;
  const delivery = await session.call("delivery", { messageId });
  if (!delivery.ok) return delivery;
  const output: Output = {
    json: { messageId, delivery: delivery.value },
    lines: [`${delivery.value?.state ?? "sent"} ${messageId}`],
  };
  if (delivery.value?.state === "queued") {
    return ok({
      ...output,
      notes: [
        `the relay has not accepted it yet${because(delivery.value.reason)}: it is kept and goes out with pixie device run, or with the next command`,
      ],
      exitCode: exitCodes.unreachable,
    });
  }
  if (delivery.value?.state === "failed" || delivery.value?.state === "expired") {
    const notes = [`it was not delivered${because(delivery.value.reason)}`];
    return ok({ ...output, notes, exitCode: exitCodes.refused });
  }
  return ok(output);
}

function because(reason: string | null): string {
  return reason === null ? "" : ` (${reason})`;
}
