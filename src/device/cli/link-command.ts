/**
 * `pixie device link`, both sides. The new device shows a code and wants eight digits; the admin
 * device takes the code, warns what it gives away, and shows the digits.
 *
 * The exchange itself is in identity/offer-link.ts and grant-link.ts. Spec: docs/protocol.md "Linking".
 */
import { statSync } from "node:fs";

import type { Command } from "commander";
import { renderUnicodeCompact } from "uqr";

import { sleep } from "../../shared/clock.ts";
import { rendezvousMs } from "../../shared/limits.ts";
import { err, ok, type Result } from "../../shared/result.ts";
import { openAlone, type Session, settleMs } from "../api/session.ts";
import type { Device, DeviceError } from "../device.ts";
import { addCommand, type CliParts, type Invocation, type Outcome, usage } from "./command.ts";
import { visibleLine } from "./visible.ts";

/** Adds `device link`. */
export function addLinkCommand(device: Command, parts: CliParts): void {
  addCommand(device, parts, {
    usage: "link",
    about: "join an account with this new device, or let a new device join yours",
    examples: [
      "pixie device link --relay http://127.0.0.1:7470      on the new device: shows a code",
      "pixie device link --code pixie-link:…                on an admin device: shows 8 digits",
    ],
    options: [
      ["--relay <url>", "new device: relay of the account to join"],
      ["--device-name <name>", "new device: its name (default: the host's name)"],
      [
        "--digits-file <file>",
        "new device: file that will hold the 8 digits, - for standard input",
      ],
      ["--code <code>", "admin device: the code that the new device shows"],
      ["--yes", "admin device: give the new device full access without asking"],
    ],
    run: (invocation) => {
      const code = invocation.text("code");
      const relay = invocation.text("relay");
      if (code !== undefined && relay === undefined) return grant(invocation, code);
      if (code === undefined && relay !== undefined) return join(invocation, relay);
      return Promise.resolve(
        usage(
          "expected either --relay <url> on the new device, or --code <code> on an admin device",
        ),
      );
    },
  });
}

async function join(invocation: Invocation, relayUrl: string): Promise<Outcome> {
  const { text, io, sessionParts } = invocation;
  if (text("digitsFile") === undefined && !io.interactive) {
    return usage(
      "no terminal to ask for the digits: name --digits-file <file>, - for standard input",
    );
  }
  const opened = await openAlone(sessionParts);
  if (!opened.ok) return opened;
  await using device = opened.value;
  if (device.identity() !== undefined) {
    return err({
      type: "already-registered",
      message: `${sessionParts.config.dataDir} holds an account already: choose another --data-dir to link a new device`,
    });
  }
  return await joinWith(device, invocation, relayUrl);
}

async function joinWith(
  device: Device,
  invocation: Invocation,
  relayUrl: string,
): Promise<Outcome> {
  const { text, io, progress } = invocation;
  const deviceName = text("deviceName") ?? io.hostName;
  const offered = await device.offerLink({ relayUrl, deviceName });
  if (!offered.ok) return offered;
  const { code } = offered.value;
  progress({ code }, [
    ...(io.outputIsTerminal ? renderUnicodeCompact(code).split("\n") : []),
    code,
    "On an admin device of the account: pixie device link --code and this code",
  ]);
  const admission = await offered.value.admitted;
  if (!admission.ok) return admission;
  const digits = await readDigits(invocation);
  if (!digits.ok) {
    await offered.value.cancel();
    return digits;
  }
  const joined = await offered.value.enterDigits(digits.value);
  if (!joined.ok) return joined;
  // Contacts and history follow as messages: fetch what is there already.
  const started = device.start();
  if (started.ok) await device.settle(settleMs);
  const { accountName, aik } = joined.value;
  return ok({
    json: { identity: joined.value },
    lines: [`this device now belongs to ${visibleLine(accountName)} (${aik})`],
  });
}

const pollMs = 200;

async function readDigits(invocation: Invocation): Promise<Result<string, DeviceError>> {
  const { text, io, clock } = invocation;
  const file = text("digitsFile");
  if (file === undefined) {
    return parseDigits(await io.ask("Digits that the admin device shows: "));
  }
  if (file === "-") return parseDigits(await io.readInput());
  // The digits exist only once the admin device shows them: the file may come later, and a shell
  // that redirects into it makes it empty first.
  for (let waitedMs = 0; isEmptySoFar(file); waitedMs += pollMs) {
    if (waitedMs >= rendezvousMs) return usage(`no digits in ${file} before the code expired`);
    await sleep(clock, pollMs);
  }
  const content = io.readFile(file);
  return content.ok ? parseDigits(content.value) : content;
}

function isEmptySoFar(file: string): boolean {
  return (statSync(file, { throwIfNoEntry: false })?.size ?? 0) === 0;
}

function parseDigits(typed: string): Result<string, DeviceError> {
  const digits = typed.replace(/[\s-]/g, "");
  return /^[0-9]{8}$/.test(digits)
    ? ok(digits)
    : usage(
        `expected the 8 digits that the admin device shows, got ${typed.trim().length} characters`,
      );
}

async function grant(invocation: Invocation, code: string): Promise<Outcome> {
  const { flag, io } = invocation;
  if (!flag("yes") && !io.interactive) {
    return usage("no terminal to ask on: name --yes to give the new device full access");
  }
  if (!flag("yes")) {
    invocation.note(
      "The new device gets full access: it reads and writes everything as you. Go on only if the code is on a device in your hands.",
    );
    const answer = await io.ask("Type yes to go on: ");
    if (answer !== "yes") return err({ type: "not-confirmed", message: "nothing was linked" });
  }
  return await invocation.withSession({ connect: true }, (session) =>
    grantOver(session, invocation, code),
  );
}

async function grantOver(
  session: Session,
  { progress }: Invocation,
  code: string,
): Promise<Outcome> {
  const begun = await session.call("grant-link", { code });
  if (!begun.ok) return begun;
  const { grant: name, digits, newDeviceName } = begun.value;
  progress({ digits, newDeviceName }, [
    `Type on ${visibleLine(newDeviceName)}:  ${digits.slice(0, 4)} ${digits.slice(4)}`,
  ]);
  const completed = await session.call("await-grant", { grant: name });
  if (!completed.ok) return completed;
  const settled = await session.call("settle", { boundMs: settleMs });
  if (!settled.ok) return settled;
  return ok({
    json: completed.value,
    lines: [`${visibleLine(newDeviceName)} is linked (${completed.value.deviceId})`],
  });
}
