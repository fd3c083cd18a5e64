/**
 * Starts the load process for one order and gives its report back.
 */
import { fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";

import type { LoadOrder, LoadReport } from "./load-process.ts";

const program = fileURLToPath(new URL("load-process.ts", import.meta.url));

/** Runs an order in a process of its own. Rejects when that ends early. */
export async function runLoad(order: LoadOrder): Promise<LoadReport> {
  // Structured clone: keys are bytes.
  const child = fork(program, { serialization: "advanced" });
  const ended = once(child, "exit").then(() => {
    throw new Error("the load generator ended before its report");
  });
  ended.catch(() => {});
  await Promise.race([once(child, "message"), ended]);
  child.send(order);
  const [report]: LoadReport[] = await Promise.race([once(child, "message"), ended]);
  child.kill();
  if (report === undefined) throw new Error("the load generator sent no report");
  return report;
}
