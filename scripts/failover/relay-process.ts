/** A real relay in a process of its own, on a cluster of several hosts. */
import { readFileSync } from "node:fs";
import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";

import { freePort, type Stage, until } from "./stage.ts";

/** Starts one and waits until it is ready. */
export async function startRelayProcess(
  stage: Stage,
  databaseUrl: string,
): Promise<{ readonly url: string; readonly origin: string }> {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const words = ["--import", "tsx", "src/cli.ts", "relay", "start", "--port", String(port)];
  const limits = [
    "--address-requests-per-minute",
    "10000000",
    "--mailbox-uploads-per-minute",
    "10000000",
  ];
  const root = path.resolve(import.meta.dirname, "../..");
  const env = { DATABASE_URL: databaseUrl };
  stage.start("relay", ["env", "-C", root, process.execPath, ...words, ...limits], { env });
  const isUp = async (): Promise<boolean> => (await fetch(`${url}/health/ready`)).status === 200;
  try {
    await until("the relay", isUp, { withinMs: 30_000, pause: () => delay(200) });
  } catch (cause) {
    const said = readFileSync(path.join(stage.folder, "relay.log"), "utf8").slice(-2_000);
    throw new Error(`the relay does not start: ${said}`, { cause });
  }
  return { url, origin: url };
}
