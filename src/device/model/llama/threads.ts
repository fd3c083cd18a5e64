/**
 * How many threads the engine may use: the cores of the machine, or fewer where a container's quota
 * allows fewer. More threads than cores make the engine several hundred times slower, because its
 * threads wait for each other by spinning.
 *
 * Spec: docs/agent.md "The engine".
 */
import { readFileSync } from "node:fs";
import { availableParallelism } from "node:os";

/** Cores that this process may keep busy, at least 1. */
export function usableThreads(
  cores: number = availableParallelism(),
  read: (file: string) => string | undefined = readIfThere,
): number {
  const quota = quotaCores(read);
  return Math.max(1, Math.min(cores, Math.floor(quota ?? cores)));
}

/** The quota of the control group in cores. `undefined`: none is set, or this is not Linux. */
function quotaCores(read: (file: string) => string | undefined): number | undefined {
  const [quota, period] =
    read("/sys/fs/cgroup/cpu.max")?.trim().split(" ") ??
    ["cpu.cfs_quota_us", "cpu.cfs_period_us"].map((name) => read(`/sys/fs/cgroup/cpu/${name}`));
  const cores = Number(quota) / Number(period);
  // "max" and -1 mean no quota.
  return cores > 0 ? cores : undefined;
}

function readIfThere(file: string): string | undefined {
  try {
    return readFileSync(file, "utf8");
  } catch {
    // No control group, or none that may be read: then the cores count.
    return undefined;
  }
}
