/**
 * What `send` and `skill share` say after handing a message over: whether the relay has it. A message
 * that it does not have yet is kept, which is not the same, and has an exit code of its own.
 */
import { assertNever, ok } from "../../shared/result.ts";
import type { ResultOf } from "../api/operations.ts";
import { type Session, settleMs } from "../api/session.ts";
import type { Outcome, Output } from "./command.ts";
import { exitCodes } from "./exit-codes.ts";

/** Without a connection to the own relay, a contact's may still answer: it gets this long. Units: ms. */
const lonelyMs = 3_000;

/** Waits, within a bound, until the relay accepted a message, and tells what became of it. */
export async function deliveryOutput(session: Session, messageId: string): Promise<Outcome> {
  const status = await session.call("status", {});
  if (!status.ok) return status;
  const boundMs = status.value.connection === "ready" ? settleMs : lonelyMs;
  const settled = await session.call("settle", { boundMs });
  if (!settled.ok) return settled;
  const delivery = await session.call("delivery", { messageId });
  return delivery.ok ? ok(outputOf(messageId, delivery.value)) : delivery;
}

function outputOf(messageId: string, delivery: ResultOf<"delivery">): Output {
  const output: Output = {
    json: { messageId, delivery },
    lines: [`${delivery?.state ?? "sent"} ${messageId}`],
  };
  if (delivery === null) return output;
  switch (delivery.state) {
    case "queued":
      return {
        ...output,
        notes: [
          `the relay has not accepted it yet${because(delivery.reason)}: it is kept and goes out with pixie device run, or with the next command`,
        ],
        exitCode: exitCodes.unreachable,
      };
    case "failed":
    case "expired":
      return {
        ...output,
        notes: [`it was not delivered${because(delivery.reason)}`],
        exitCode: exitCodes.refused,
      };
    case "accepted":
    case "confirmed":
      return output;
    default:
      return assertNever(delivery.state);
  }
}

function because(reason: string | null): string {
  return reason === null ? "" : ` (${reason})`;
}
