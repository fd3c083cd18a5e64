/** `pixie relay doctor` on the command line. What is looked at is admin/doctor/. */
import type { Command } from "commander";

import { systemClock } from "../shared/clock.ts";
import { fail, load, withSettings } from "./command-settings.ts";
import { exitCodes } from "./exit-codes.ts";

const maxIdleSeconds = 3_600;

/** Adds it. */
export function registerDoctorCommand(relay: Command): void {
  const command = relay
    .command("doctor")
    .description("look for what is wrong with the machine, the database and the way from outside")
    .option("--public <url>", "also go through the proxy as a device does, from this URL")
    .option("--code <code>", "registration code for the doctor's own device")
    .option("--idle-seconds <n>", "how long a quiet connection must live", "120");
  withSettings(command).action(async () => {
    const { public: publicUrl, code, idleSeconds, ...options } = command.opts<DoctorOptions>();
    const loaded = load(options);
    if (loaded === undefined) return;
    const idle = /^\d{1,4}$/.test(idleSeconds) ? Number(idleSeconds) : 0;
    if (idle < 1 || idle > maxIdleSeconds) {
      const message = `expected --idle-seconds from 1 to ${maxIdleSeconds}, got ${idleSeconds}`;
      return fail(message, exitCodes.config);
    }
    if (publicUrl !== undefined && !/^https?:\/\/[^/]/.test(publicUrl)) {
      return fail(`expected --public https://host[:port], got ${publicUrl}`, exitCodes.config);
    }
    const { findingText } = await import("./admin/doctor/finding.ts");
    const { runDoctor } = await import("./admin/doctor/run-doctor.ts");
    const healthy = await runDoctor({
      config: loaded.config,
      publicUrl,
      code,
      idleMs: idle * 1000,
      clock: systemClock,
      tell: (finding) => process.stdout.write(findingText(finding)),
    });
    if (!healthy) process.exitCode = exitCodes.unhealthy;
  });
}

interface DoctorOptions {
  readonly public?: string;
  readonly code?: string;
  readonly idleSeconds: string;
  readonly [setting: string]: string | undefined;
}
