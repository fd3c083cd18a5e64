/**
 * `npm run bench -- [--only NAME] [--quick]`: runs benchmarks one after the other and prints one JSON
 * line per result on stdout.
 */
import { parseArgs } from "node:util";

import { agentOverhead } from "./agent-overhead.ts";
import type { Bench } from "./bench.ts";
import { deviceDrain } from "./device-drain.ts";
import { deviceSend } from "./device-send.ts";
import { memorySearch } from "./memory-search.ts";
import { relayConnections } from "./relay-connections.ts";
import { relayDecay } from "./relay-decay.ts";
import { relayFootprint } from "./relay-footprint.ts";
import { relayLatency } from "./relay-latency.ts";
import { relayThroughput } from "./relay-throughput.ts";
import { relayTiming } from "./relay-timing.ts";

const benches: readonly Bench[] = [
  relayThroughput,
  relayLatency,
  relayConnections,
  relayDecay,
  relayFootprint,
  relayTiming,
  deviceSend,
  deviceDrain,
  agentOverhead,
  memorySearch,
];

const { values } = parseArgs({
  options: { only: { type: "string" }, quick: { type: "boolean", default: false } },
});
const chosen = benches.filter((bench) => values.only === undefined || bench.name === values.only);
if (chosen.length === 0) {
  const names = benches.map((bench) => bench.name).join(", ");
  process.stderr.write(`no bench named ${values.only}: there are ${names}\n`);
  process.exitCode = 2;
}
for (const bench of chosen) {
  try {
    await bench.run({
      quick: values.quick,
      emit: (line) => process.stdout.write(`${JSON.stringify(line)}\n`),
    });
  } catch (cause) {
    // The others are still worth their time.
    process.stderr.write(`${bench.name} failed: ${String(cause)}\n`);
    process.exitCode = 1;
  }
}
