/**
 * `relay-footprint`: what the relay with its embedded database takes when nothing happens, and how
 * long a warm start lasts, from the process to its ready line. Memory is proportional (PSS): pages that
 * the database's processes share count once.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";

import { type Bench } from "./bench.ts";
import { loneLine } from "./contest.ts";
import { treeBytes } from "./process-memory.ts";
import { readyLine, startRelayProcess, stopProcess } from "./relay-stage.ts";

/** Autovacuum and checkpoints of a start are over by then. Units: ms. */
const settleMs = 5_000;

/** The benchmark. */
export const relayFootprint: Bench = {
  name: "relay-footprint",
  run: async ({ quick, emit }) => {
    const dataDir = mkdtempSync(path.join(tmpdir(), "pixie-bench-"));
    const [starts, memory]: [number[], number[]] = [[], []];
    try {
      // The first start makes the database.
      for (let round = 0; round <= (quick ? 3 : 7); round++) {
        const startMs = performance.now();
        const child = startRelayProcess(dataDir);
        await readyLine(child);
        if (round > 0) starts.push(performance.now() - startMs);
        if (round > 0 && memory.length < (quick ? 1 : 3)) {
          await delay(settleMs);
          memory.push(treeBytes(child.pid ?? 0) / 1_048_576);
        }
        await stopProcess(child);
      }
    } finally {
      rmSync(dataDir, { recursive: true, force: true });
    }
    const why = "no peer: the limit is stated in bench/README.md";
    emit(loneLine(relayFootprint.name, "MiB idle, database included", memory, why));
    emit(loneLine(relayFootprint.name, "ms from the process to ready, warm", starts, why));
  },
};
