/**
 * `relay-connections`: what an idle mailbox connection takes (resident memory of the relay's process),
 * how long a storm of reconnects lasts and whether one of it fails, and whether the heap comes back
 * after connections are cut without a word.
 */
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";

import type { RelayDevice } from "../test/support/accounts.ts";
import { type Bench, progress } from "./bench.ts";
import { loneLine } from "./contest.ts";
import { heapBytes } from "./heap.ts";
import type { ConnectionsOrder, ConnectionsReport } from "./load/connections-process.ts";
import { insertDevices } from "./many-devices.ts";
import { residentBytes } from "./process-memory.ts";
import { type RelayStage, startStage } from "./relay-stage.ts";

const program = fileURLToPath(new URL("load/connections-process.ts", import.meta.url));
/** Cut at once, for the heap. */
const drops = 200;
const dropRounds = 5;
const why = "no peer: the limit is stated in bench/README.md";

/** The benchmark. */
export const relayConnections: Bench = {
  name: "relay-connections",
  run: async ({ quick, emit }) => {
    const count = quick ? 2_000 : 10_000;
    await using stage = await startStage({ nodeWords: ["--inspect=127.0.0.1:0"] });
    const devices = await insertDevices(stage.database.sql, count + drops);
    const [crowd, dropped] = [devices.slice(0, count), devices.slice(count)];
    const child = fork(program, { serialization: "advanced" });
    await once(child, "message");
    try {
      const line = (unit: string, value: number): void =>
        emit(loneLine(relayConnections.name, unit, [value], why));
      // A first crowd makes the heap as large as it gets; the second is measured.
      await connect(child, stage, crowd.slice(0, Math.floor(count / 10)));
      await ask(child, { type: "drop", count });
      const [before] = [await settledBytes(stage)];
      const first = await connect(child, stage, crowd);
      const each = ((await settledBytes(stage)) - before) / count;
      progress(`${first.ready} connected in ${Math.round(first.elapsedMs)} ms`);
      line(`bytes of RSS per idle connection, ${count} of them`, Math.round(each));
      await ask(child, { type: "drop", count });
      const storm = await connect(child, stage, crowd);
      line(`ms for ${count} reconnects at once`, Math.round(storm.elapsedMs));
      line(`failed of ${count} reconnects at once`, first.failed + storm.failed);
      await ask(child, { type: "drop", count });
      line(
        `bytes of heap kept after ${drops} cut connections`,
        await keptByDrops(child, stage, dropped),
      );
    } finally {
      child.kill();
    }
  },
};

/** Heap that `drops` cut connections leave behind, by the slope over some rounds. */
async function keptByDrops(
  child: ChildProcess,
  stage: RelayStage,
  devices: readonly RelayDevice[],
): Promise<number> {
  const heap: number[] = [];
  for (let round = 0; round <= dropRounds; round++) {
    await connect(child, stage, devices);
    await ask(child, { type: "drop", count: drops });
    await delay(500);
    heap.push(await heapBytes(stage.inspectorUrl()));
  }
  const [first = 0, last = 0] = [heap.at(1), heap.at(-1)];
  return Math.round((last - first) / (dropRounds - 1));
}

async function settledBytes(stage: RelayStage): Promise<number> {
  await delay(1_000);
  await heapBytes(stage.inspectorUrl());
  await delay(1_000);
  return residentBytes(stage.pid);
}

function connect(
  child: ChildProcess,
  { port, origin }: RelayStage,
  devices: readonly RelayDevice[],
): Promise<ConnectionsReport> {
  return ask(child, { type: "connect", port, origin, devices, atOnce: devices.length });
}

async function ask(child: ChildProcess, order: ConnectionsOrder): Promise<ConnectionsReport> {
  const answered = once(child, "message");
  child.send(order);
  const [report]: ConnectionsReport[] = await answered;
  if (report === undefined) throw new Error("no report of the connections");
  return report;
}
