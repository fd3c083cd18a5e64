/**
 * `pixie device renew` and `pixie device recovery-code`: an account under a new identity key, without
 * whoever holds the old one, and the code that goes with the key.
 *
 * Spec: docs/operating.md "Command line"; docs/protocol.md "Renewal of an account".
 */
import type { Command } from "commander";

import { err, ok } from "../../shared/result.ts";
import { settleMs } from "../api/session.ts";
import { addCommand, type CliParts, type Invocation, type Outcome, usage } from "./command.ts";

/** Adds them to `device`. */
export function addRenewCommands(device: Command, parts: CliParts): void {
  addCommand(device, parts, {
    usage: "renew",
    about:
      "take the account's key from a lost or stolen admin device: a new key, a new recovery code",
    examples: ["pixie device renew --remove phone", "pixie device renew --remove 8Jd0… --yes"],
    options: [
      ["--remove <device>...", "name or id of a device that is to go; may be repeated"],
      ["--yes", "renew without asking"],
    ],
    run: renew,
  });
  addCommand(device, parts, {
    usage: "recovery-code",
    about: "show the account's recovery code, on an admin device",
    examples: ["pixie device recovery-code"],
    run: ({ withSession }) =>
      withSession({ connect: false }, async (session) => {
        const code = await session.call("recovery-code", {});
        return code.ok ? ok({ json: code.value, lines: [code.value.recoveryCode] }) : code;
      }),
  });
}

async function renew(invocation: Invocation): Promise<Outcome> {
  const { flag, list, io, note, withSession } = invocation;
  if (!flag("yes") && !io.interactive) {
    return usage("no terminal to ask on: name --yes to renew the account");
  }
  if (!flag("yes")) {
    note("Your contacts see a new safety number, open invites and the old recovery code end, and");
    note("what a removed device had not sent is lost.");
    const answer = await io.ask("Type yes to go on: ");
    if (answer !== "yes") return err({ type: "not-confirmed", message: "nothing was changed" });
  }
  return await withSession({ connect: true }, async (session) => {
    const renewed = await session.call("renew-account", { remove: [...list("remove")] });
    if (!renewed.ok) return renewed;
    // Own devices and contacts are told.
    const settled = await session.call("settle", { boundMs: settleMs });
    if (!settled.ok) return settled;
    const { recoveryCode } = renewed.value;
    return ok({
      json: renewed.value,
      lines: [
        "The account has a new identity key. Own devices follow as soon as they connect.",
        "",
        "New recovery code:",
        `  ${recoveryCode}`,
        "Write it down and throw the old one away: it opens nothing any more.",
        "Compare safety numbers with your contacts again: pixie contact verify <contact>",
      ],
    });
  });
}
