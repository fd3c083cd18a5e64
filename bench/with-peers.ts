/**
 * Starts those peers that are installed, and names the others.
 */
import { type BenchOptions, machineName, progress } from "./bench.ts";
import type { Contestant } from "./contest.ts";
import type { Peer, RunningPeer } from "./peers/peer.ts";

/** Runs with every peer that can be had; a line says what is missing, or failed. All are stopped afterwards. */
export async function withPeers(
  bench: string,
  peers: readonly Peer[],
  { emit }: BenchOptions,
  run: (contestants: readonly Contestant[]) => Promise<void>,
): Promise<void> {
  const stops: (() => Promise<void>)[] = [];
  try {
    const contestants: Contestant[] = [];
    for (const peer of peers) {
      progress(`starting ${peer.label}`);
      const running = await startOrSay(peer);
      const say = (unit: string, why: string): void => {
        const nothing = { value: 0, samples: 0, median: 0, p99: 0, peerValue: null, ratio: null };
        emit({ bench, unit, ...nothing, peer: `${peer.label}: ${why}`, machine: machineName() });
      };
      if (typeof running === "string") {
        say("missing peer", running);
        continue;
      }
      stops.push(running.stop);
      const onFailed = (reason: string): void => say("failed peer", reason);
      contestants.push({ label: peer.label, target: running.target, onFailed });
    }
    await run(contestants);
  } finally {
    for (const stop of stops) await stop();
  }
}

async function startOrSay({ start, install }: Peer): Promise<RunningPeer | string> {
  try {
    return (await start()) ?? `not installed (${install})`;
  } catch (cause) {
    return cause instanceof Error ? cause.message : "it did not start";
  }
}
