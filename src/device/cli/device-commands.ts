/**
 * `pixie device …`: make an account, keep the device connected, look at it. Linking has a file of its
 * own.
 *
 * Spec: docs/operating.md "Command line".
 */
import type { Command } from "commander";

import { err, ok } from "../../shared/result.ts";
import { openAlone, type Session, settleMs } from "../api/session.ts";
import type { ResultOf } from "../api/operations.ts";
import { runDaemon } from "../main.ts";
import { addCommand, type CliParts, type Invocation, type Outcome, usage } from "./command.ts";
import { exitCodes } from "./exit-codes.ts";
import { addLinkCommand } from "./link-command.ts";
import { addRecoverCommand } from "./recover-command.ts";
import { addRenewCommands } from "./renew-commands.ts";
import { visibleLine } from "./visible.ts";

/** Adds `device` and its commands. */
export function registerDeviceGroup(program: Command, parts: CliParts): void {
  const device = program.command("device").description("this device and its account");
  addCommand(device, parts, {
    usage: "init",
    about: "make an account with this device as its admin",
    examples: ["pixie device init --relay http://127.0.0.1:7470 --name Alice"],
    options: [
      ["--relay <url>", "relay that keeps this account's mailboxes"],
      ["--name <name>", "your name, as contacts see it"],
      ["--device-name <name>", "name of this device (default: the host's name)"],
      ["--registration-code <code>", "code from the relay's operator, where it asks for one"],
    ],
    run: init,
  });
  addRecoverCommand(device, parts);
  addCommand(device, parts, {
    usage: "run",
    about: "keep the device connected and serve other commands, until stopped",
    examples: ["pixie device run", "pixie device run --json >> events.ndjson"],
    run: (invocation) => run(invocation, parts),
  });
  addLinkCommand(device, parts);
  addCommand(device, parts, {
    usage: "devices",
    about: "list the devices of your account",
    examples: ["pixie device devices", "pixie device devices --json"],
    run: ({ withSession }) => withSession({ connect: true }, devices),
  });
  addCommand(device, parts, {
    usage: "revoke <device>",
    about: "remove a device that is no admin; what it had not sent is lost",
    examples: ["pixie device revoke 8Jd0…", "pixie device revoke 8Jd0… --yes"],
    options: [["--yes", "remove it without asking"]],
    run: revoke,
  });
  addRenewCommands(device, parts);
  addCommand(device, parts, {
    usage: "status",
    about: "show account, connection and what waits",
    examples: ["pixie device status"],
    run: ({ withSession }) => withSession({ connect: true }, status),
  });
  addCommand(device, parts, {
    usage: "doctor",
    about: "look for what is wrong, and say what to do",
    examples: ["pixie device doctor"],
    run: doctor,
  });
}

async function init({ text, io, sessionParts }: Invocation): Promise<Outcome> {
  const relayUrl = text("relay");
  const accountName = text("name");
  if (relayUrl === undefined) return usage("missing --relay <url>: the relay to register with");
  if (accountName === undefined) return usage("missing --name <name>: your name for contacts");
  const opened = await openAlone(sessionParts);
  if (!opened.ok) return opened;
  await using device = opened.value;
  if (device.identity() !== undefined) {
    return err({
      type: "already-registered",
      message: `${sessionParts.config.dataDir} holds an account already: choose another --data-dir for a second one`,
    });
  }
  const code = text("registrationCode");
  const registered = await device.register({
    relayUrl,
    accountName,
    deviceName: text("deviceName") ?? io.hostName,
    ...(code === undefined ? {} : { registrationCode: code }),
  });
  if (!registered.ok) return registered;
  const { identity, recoveryCode } = registered.value;
  return ok({
    json: { identity, recoveryCode },
    lines: [
      `${visibleLine(identity.accountName)} is registered at ${identity.relayOrigin}`,
      "",
      "Recovery code, shown this once:",
      `  ${recoveryCode}`,
      "Write it down and keep it away from this device. It brings the account back when every",
      "admin device is lost, and whoever has it can take the account over.",
      "",
      "Next: pixie device run",
    ],
  });
}

async function run(invocation: Invocation, parts: CliParts): Promise<Outcome> {
  const { io, sessionParts, progress, note } = invocation;
  const ended = await runDaemon({
    config: sessionParts.config,
    openDevice: parts.openDevice,
    stop: io.stopped(),
    onReady: (ready) =>
      progress(ready, [
        `${visibleLine(ready.identity.accountName)} on ${visibleLine(ready.identity.deviceName)} is running (process ${ready.pid})`,
      ]),
    onEvent: (event) => progress(event, [visibleLine(eventLine(event))]),
    onNotice: note,
  });
  return ended.ok ? ok({ json: { stopped: true }, lines: ["stopped"] }) : ended;
}

function eventLine(event: Readonly<Record<string, unknown>>): string {
  const { type, ...rest } = event;
  const details = Object.entries(rest)
    .filter(([, value]) => typeof value === "string" && value !== "")
    .map(([name, value]) => `${name}=${String(value)}`);
  return [String(type), ...details].join(" ");
}

async function devices(session: Session): Promise<Outcome> {
  const listed = await session.call("devices", {});
  if (!listed.ok) return listed;
  const lines = listed.value.map(
    ({ deviceId, name, state, thisDevice, hasPrekey }) =>
      `${deviceId}  ${name === null ? "" : `${visibleLine(name)}  `}${state}${thisDevice ? "  this device" : ""}${hasPrekey || state === "revoked" ? "" : "  no prekey yet"}`,
  );
  return ok({ json: listed.value, lines });
}

async function revoke(invocation: Invocation): Promise<Outcome> {
  const { flag, io, argument, note, withSession } = invocation;
  if (!flag("yes") && !io.interactive) {
    return usage("no terminal to ask on: name --yes to remove the device");
  }
  if (!flag("yes")) {
    note("The device is removed for good, and what it had not sent is lost.");
    const answer = await io.ask("Type yes to go on: ");
    if (answer !== "yes") return err({ type: "not-confirmed", message: "nothing was removed" });
  }
  return await withSession({ connect: true }, async (session) => {
    const revoked = await session.call("revoke-device", { deviceId: argument(0) ?? "" });
    if (!revoked.ok) return revoked;
    // Contacts are told, and get the new key to the mailboxes.
    const settled = await session.call("settle", { boundMs: settleMs });
    if (!settled.ok) return settled;
    return ok({ json: revoked.value, lines: [`${revoked.value.deviceId} is removed`] });
  });
}

async function status(session: Session): Promise<Outcome> {
  const answer = await session.call("status", {});
  if (!answer.ok) return answer;
  const { identity, connection, outboxOpen, setAside, relayOffsetMs } = answer.value;
  return ok({
    json: { ...answer.value, daemonPid: session.daemonPid ?? null },
    lines: [
      ...(identity === null ? [] : identityLines(identity)),
      `connection: ${visibleLine(connection)}${session.daemonPid === undefined ? " (no daemon runs)" : ` (daemon ${session.daemonPid})`}`,
      `waiting to be confirmed: ${outboxOpen}`,
      `set aside, could not be opened: ${setAside}`,
      `relay clock: ${relayOffsetMs} ms from this one`,
    ],
  });
}

function identityLines(identity: NonNullable<ResultOf<"status">["identity"]>): readonly string[] {
  return [
    `account: ${visibleLine(identity.accountName)} (${identity.aik})`,
    `device: ${visibleLine(identity.deviceName)}${identity.admin ? ", admin" : ""} (${identity.deviceId})`,
    `relay: ${identity.relayOrigin}`,
  ];
}

interface Check {
  readonly check: string;
  readonly good: boolean;
  readonly message: string;
}

/** An hour between two clocks breaks what carries a date, without any other sign (O19). Units: ms. */
const maxOffsetMs = 60 * 60_000;

async function doctor({ withSession }: Invocation): Promise<Outcome> {
  return await withSession({ connect: true }, async (session) => {
    const answer = await session.call("status", {});
    if (!answer.ok) return answer;
    const { identity, connection, relayOffsetMs, setAside, outboxOpen } = answer.value;
    const where = identity === null ? "" : ` at ${identity.relayOrigin}`;
    const checks: readonly Check[] = [
      { check: "store", good: true, message: "opens" },
      { check: "relay", good: connection === "ready", message: `${connection}${where}` },
      {
        check: "clock",
        good: Math.abs(relayOffsetMs) < maxOffsetMs,
        message: `${relayOffsetMs} ms from the relay's; set this machine's clock when it is hours`,
      },
      {
        check: "set aside",
        good: setAside === 0,
        message: `${setAside} items could not be opened; their senders send them again`,
      },
      { check: "outbox", good: true, message: `${outboxOpen} messages wait for a confirmation` },
    ];
    return ok({
      json: { checks },
      lines: checks.map(
        ({ check, good, message }) =>
          `${good ? "ok  " : "LOOK"}  ${check}: ${visibleLine(message)}`,
      ),
      exitCode: connection === "ready" ? exitCodes.ok : exitCodes.unreachable,
    });
  });
}
