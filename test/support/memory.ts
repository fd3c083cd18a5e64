/** What is really in use of this process's memory: objects, and the buffers outside of the heap. */
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

setFlagsFromString("--expose-gc");
const collect: unknown = runInNewContext("gc");

/** Collects what nobody holds, and lets what waited for it run. */
export async function collectGarbage(): Promise<void> {
  if (typeof collect !== "function") throw new Error("the collector cannot be called");
  for (let round = 0; round < 3; round += 1) {
    collect();
    await new Promise((resolve) => setImmediate(resolve));
  }
}

/** Collects, and measures. Units: bytes. */
export async function memoryInUse(): Promise<number> {
  await collectGarbage();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}
