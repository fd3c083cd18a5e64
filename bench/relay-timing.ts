/**
 * `relay-timing`: whether time tells a stranger which accounts exist. Each question is asked about an
 * account that is there and about one that is not, with a credential that is wrong for both, in random
 * order over one connection. What comes of it is the difference of the medians with its 95 % interval,
 * and how well the slower half would be guessed from one answer (0.5 is a coin).
 *
 * That the same work is done is test/relay/delivery/same-work.test.ts; this is what is left of it.
 */
import { Agent, request } from "node:http";

import { toBase64Url } from "../src/shared/bytes.ts";
import { systemRng } from "../src/shared/rng.ts";
import {
  bundleRequestOf,
  newAccount,
  type RelayAccount,
  uploadTo,
} from "../test/support/accounts.ts";
import { type Bench, type BenchOptions, machineName, progress, quantile } from "./bench.ts";
import { registerAccounts, type RelayStage, startStage } from "./relay-stage.ts";

const accounts = 50;
const warmPairs = 200;
const resamples = 1_000;
/** Answers to all of these are `token-invalid` or `unauthorised`. */
const refusedStatus = 401;

interface Question {
  readonly path: string;
  readonly bodyFor: (account: RelayAccount) => Uint8Array | string;
}

/** The benchmark. */
export const relayTiming: Bench = {
  name: "relay-timing",
  run: async (options) => {
    await using stage = await startStage();
    const known = await registerAccounts(stage, accounts, 1);
    const unknown = Array.from({ length: accounts }, () => newAccount(Date.now()));
    const pairs = options.quick ? 500 : 5_000;
    for (const question of questionsFor(stage)) {
      progress(question.path);
      const ask = createAsk(stage.port, question);
      const times = await askInTurn(ask, known, unknown, pairs);
      report(options, question.path, times);
    }
  },
};

function questionsFor({ origin }: RelayStage): readonly Question[] {
  const wrong = (): { origin: string; nowMs: number; key: Uint8Array } => ({
    origin,
    nowMs: Date.now(),
    key: systemRng(32),
  });
  return [
    {
      path: "/v1/envelopes",
      bodyFor: (account) => uploadTo(account, [systemRng(16)], wrong()),
    },
    {
      path: "/v1/bundles",
      bodyFor: (account) => JSON.stringify(bundleRequestOf(account, wrong())),
    },
    {
      path: "/v1/accounts/recover/begin",
      bodyFor: (account) =>
        JSON.stringify({
          aik: toBase64Url(account.aik.publicKey),
          signed_at: String(Date.now()),
          signature: toBase64Url(systemRng(64)),
        }),
    },
  ];
}

type Ask = (account: RelayAccount) => Promise<number>;

/** Asks over one connection; resolves with how long the answer took. Units: ms. */
function createAsk(port: number, { path, bodyFor }: Question): Ask {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  return (account) => {
    const body = bodyFor(account);
    const type = typeof body === "string" ? "application/json" : "application/octet-stream";
    return new Promise((resolve, reject) => {
      const headers = { "content-type": type, "content-length": Buffer.byteLength(body) };
      const began = performance.now();
      const asked = request(
        { host: "127.0.0.1", port, path, method: "POST", agent, headers },
        (response) => {
          const tookMs = performance.now() - began;
          response.resume().on("end", () => {
            if (response.statusCode === refusedStatus) resolve(tookMs);
            else reject(new Error(`${path} answered ${response.statusCode}`));
          });
        },
      );
      asked.on("error", reject).end(body);
    });
  };
}

interface Times {
  readonly known: readonly number[];
  readonly unknown: readonly number[];
}

async function askInTurn(
  ask: Ask,
  known: readonly RelayAccount[],
  unknown: readonly RelayAccount[],
  pairs: number,
): Promise<Times> {
  const times = { known: [] as number[], unknown: [] as number[] };
  const groups = { known, unknown };
  for (let pair = -warmPairs; pair < pairs; pair++) {
    const order =
      Math.random() < 0.5 ? (["known", "unknown"] as const) : (["unknown", "known"] as const);
    for (const kind of order) {
      const account = groups[kind][Math.floor(Math.random() * accounts)];
      if (account === undefined) throw new Error("no account to ask about");
      const tookMs = await ask(account);
      if (pair >= 0) times[kind].push(tookMs);
    }
  }
  return times;
}

function report({ emit }: BenchOptions, path: string, { known, unknown }: Times): void {
  const common = { bench: relayTiming.name, samples: unknown.length, machine: machineName() };
  const [ours, peer] = [quantile(unknown, 0.5), quantile(known, 0.5)];
  const spread = medianDifferences(known, unknown);
  const [low, high] = [quantile(spread, 0.025), quantile(spread, 0.975)].map((ms) =>
    Math.round(ms * 1_000),
  );
  emit({
    ...common,
    value: ours,
    unit: `ms, ${path}, account unknown; medians differ by ${low} to ${high} µs`,
    median: ours,
    p99: quantile(unknown, 0.99),
    peer: "account known, credential wrong",
    peerValue: peer,
    ratio: ours / peer,
  });
  const guessed = guessingRight(known, unknown);
  emit({
    ...common,
    value: guessed,
    unit: `share of pairs in which the unknown one is slower, ${path}`,
    median: guessed,
    p99: guessed,
    peer: "a coin",
    peerValue: 0.5,
    ratio: guessed / 0.5,
  });
}

/** Differences of the medians (unknown − known) of samples drawn again with replacement. Units: ms. */
function medianDifferences(
  known: readonly number[],
  unknown: readonly number[],
): readonly number[] {
  return Array.from(
    { length: resamples },
    () => quantile(drawnAgain(unknown), 0.5) - quantile(drawnAgain(known), 0.5),
  );
}

function drawnAgain(samples: readonly number[]): readonly number[] {
  return samples.map(() => samples[Math.floor(Math.random() * samples.length)] ?? 0);
}

/** Mann–Whitney's U as a share: how often one of `second` is above one of `first`, ties as half. */
function guessingRight(first: readonly number[], second: readonly number[]): number {
  const sorted = first.toSorted((a, b) => a - b);
  const below = (value: number, orEqual: boolean): number => {
    let [low, high] = [0, sorted.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      const at = sorted[middle] ?? 0;
      if (at < value || (orEqual && at === value)) low = middle + 1;
      else high = middle;
    }
    return low;
  };
  const wins = second.reduce((sum, value) => sum + below(value, false) + below(value, true), 0);
  return wins / (2 * first.length * second.length);
}
