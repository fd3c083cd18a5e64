/**
 * `pixie device recover`: an account comes back on a fresh device, with nothing but its recovery code.
 *
 * Spec: docs/operating.md "Command line".
 */
import type { Command } from "commander";

import { ok } from "../../shared/result.ts";
import { openAlone } from "../api/session.ts";
import { addCommand, type CliParts, type Invocation, type Outcome, usage } from "./command.ts";
import { visibleLine } from "./visible.ts";

/** Adds the command. */
export function addRecoverCommand(device: Command, parts: CliParts): void {
  addCommand(device, parts, {
    usage: "recover [code]",
    about: "get an account back with its recovery code, with this device as a new one",
    examples: [
      "pixie device recover --name Alice",
      "pixie device recover - --name Alice < code.txt",
    ],
    options: [
      ["--name <name>", "your name, as contacts see it"],
      ["--device-name <name>", "name of this device (default: the host's name)"],
      ["--revoke-others", "remove every other device of the account"],
    ],
    run: recover,
  });
}

async function recover(invocation: Invocation): Promise<Outcome> {
  const { text, flag, io, sessionParts } = invocation;
  const accountName = text("name");
  if (accountName === undefined) return usage("missing --name <name>: your name for contacts");
  const recoveryCode = await typedCode(invocation);
  if (recoveryCode === undefined) {
    return usage("missing the recovery code: - reads it from the standard input");
  }
  const opened = await openAlone(sessionParts);
  if (!opened.ok) return opened;
  await using device = opened.value;
  const recovered = await device.recover({
    recoveryCode,
    accountName,
    deviceName: text("deviceName") ?? io.hostName,
    revokeOthers: flag("revokeOthers"),
  });
  if (!recovered.ok) return recovered;
  const { relayOrigin } = recovered.value;
  return ok({
    json: { identity: recovered.value },
    lines: [
      `${visibleLine(accountName)} is back at ${relayOrigin}, with this device as an admin`,
      "People and conversations come from your other devices, where there are any; else invite",
      "your contacts again: your safety number is the same as before.",
      "",
      "Next: pixie device run",
    ],
  });
}

/** The code from the command line, the standard input, or a person: a command line is seen by others. */
async function typedCode({ argument, io }: Invocation): Promise<string | undefined> {
  const typed = argument(0);
  if (typed === "-") return (await io.readInput()).trim();
  if (typed !== undefined || !io.interactive) return typed;
  return await io.ask("Recovery code: ");
}
