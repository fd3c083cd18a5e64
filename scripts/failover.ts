/**
 * `npm run failover`: a Patroni pair with three etcd, a real relay before it, load, and two failures of
 * the leader; ends with what was acknowledged, what is missing, and how long nothing was accepted.
 *
 *   npm run failover -- [--install] [--seconds 20] [--senders 16]
 *
 * Everything runs on loopback in a private temporary folder and is stopped at the end. `--install`
 * fetches what is missing: postgresql and etcd-server from Debian, patroni from PyPI into a virtual
 * environment in that folder. Figures: docs/scaling.md "A Patroni pair".
 */
import { parseArgs } from "node:util";

import { systemClock } from "../src/shared/clock.ts";
import { startCluster } from "./failover/cluster.ts";
import { findPrograms } from "./failover/install.ts";
import { startLoad } from "./failover/load.ts";
import { startRelayProcess } from "./failover/relay-process.ts";
import { createStage } from "./failover/stage.ts";

const { values } = parseArgs({
  options: {
    install: { type: "boolean", default: false },
    seconds: { type: "string", default: "20" },
    senders: { type: "string", default: "16" },
  },
});
const seconds = Number(values.seconds);

const say = (text: string): void => void process.stderr.write(`${text}\n`);

/** Time under load before, and after the failure was undone. Units: ms. */
const calmMs = seconds * 1000;
/** How long the leader's Patroni is frozen: longer than its lease. Units: ms. */
const frozenMs = 30_000;

await using stage = createStage();
const programs = await findPrograms(stage, values.install);
say(`postgres ${programs.postgres}, patroni ${programs.patroni}`);
const cluster = await startCluster(stage, programs);
say(`leader ${cluster.leader()}, ${cluster.url}`);
const relay = await startRelayProcess(stage, cluster.url);
const load = await startLoad(relay, { senders: Number(values.senders), clock: systemClock });

let worst = 0;
for (const failure of [
  "kill -9 of the leader and its Patroni",
  "Patroni of the leader frozen for 30 s",
]) {
  await load.run(calmMs);
  const mark = load.mark();
  const leader = cluster.leader();
  say(`${failure}: ${leader}`);
  if (failure.startsWith("kill")) {
    cluster.killNode(leader);
    await cluster.otherLeads(leader, () => load.run(500));
    await load.run(calmMs);
    cluster.startNode(leader);
  } else {
    cluster.freeze(leader, true);
    await load.run(frozenMs);
    cluster.freeze(leader, false);
    await cluster.otherLeads(leader, () => load.run(500));
  }
  await cluster.inSync(() => load.run(500));
  await load.run(calmMs);
  const seen = await load.since(mark);
  worst = Math.max(worst, seen.missing);
  process.stdout.write(`${JSON.stringify({ failure, ...seen })}\n`);
}
const total = await load.finish();
process.stdout.write(`${JSON.stringify({ failure: "all", ...total })}\n`);
process.exitCode = total.missing + total.twice > 0 ? 1 : 0;
