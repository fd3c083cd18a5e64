/**
 * `relay-latency`: from the moment an envelope was due to be posted until its device has it, durable in
 * between, at 1,000 and at 5,000 a second, against RabbitMQ's quorum queues in the same run. `value` and
 * `peerValue` are 99th percentiles; a ratio below 1 means that the relay is faster.
 */
import { type Bench, type BenchOptions, machineName, progress, quantile } from "./bench.ts";
import { type Contestant, latenciesAt } from "./contest.ts";
import { rabbitmq } from "./peers/rabbitmq.ts";
import { registerAccounts, startStage } from "./relay-stage.ts";
import { withPeers } from "./with-peers.ts";

const rates = [1_000, 5_000];

/** The benchmark. */
export const relayLatency: Bench = {
  name: "relay-latency",
  run: async (options) => {
    await withPeers("relay-latency", [rabbitmq], options, async (peers) => {
      await using stage = await startStage();
      const accounts = await registerAccounts(stage, 50, 1);
      const { port, origin } = stage;
      const target = { system: "pixie", port, origin, accounts } as const;
      for (const perSecond of rates) {
        await measureAt(perSecond, [{ label: "relay", target }, ...peers], options);
      }
    });
  },
};

async function measureAt(
  perSecond: number,
  contestants: readonly Contestant[],
  { quick, emit }: BenchOptions,
): Promise<void> {
  const [rounds, seconds] = quick ? [1, 3] : [3, 10];
  const latencies = new Map<string, number[]>(contestants.map(({ label }) => [label, []]));
  const broken = new Set<string>();
  for (let round = 0; round < rounds; round++) {
    for (const { label, target } of contestants.filter((each) => !broken.has(each.label))) {
      try {
        const report = await latenciesAt(target, perSecond, seconds);
        latencies.get(label)?.push(...report.latenciesMs);
        progress(
          `${perSecond}/s: ${label}: p99 ${quantile(report.latenciesMs, 0.99).toFixed(1)} ms`,
        );
      } catch {
        // It fell so far behind that it refused, or never finished.
        broken.add(label);
        progress(`${perSecond}/s: ${label} does not keep up`);
      }
    }
  }
  const own = latencies.get("relay") ?? [];
  for (const { label } of contestants.slice(1)) {
    const theirs = latencies.get(label) ?? [];
    if (own.length === 0 || theirs.length === 0) continue;
    const [value, peerValue] = [quantile(own, 0.99), quantile(theirs, 0.99)];
    emit({
      bench: relayLatency.name,
      value: Number(value.toFixed(2)),
      unit: `ms p99 from due to received, ${perSecond}/s`,
      samples: own.length,
      median: Number(quantile(own, 0.5).toFixed(2)),
      p99: Number(value.toFixed(2)),
      peer: `${label}, p99`,
      peerValue: Number(peerValue.toFixed(2)),
      ratio: Number((value / peerValue).toFixed(3)),
      machine: machineName(),
    });
  }
}
