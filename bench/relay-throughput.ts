/**
 * `relay-throughput`: envelopes from a posted upload over its durable commit and delivery to the
 * acknowledgement of the device, in two shapes: one device an account, and three, where an upload fans
 * out to three mailboxes and peers fan out to three queues; there every copy counts. Also submitting
 * alone, to devices that are away.
 *
 * Peers carry messages of an item's size, and get one publish where the relay gets an upload with three
 * sealed headers, which favours them. Publishers, windows, recipients and acknowledgement batches are
 * the same for all.
 */
import { type Bench, type BenchOptions, progress } from "./bench.ts";
import { createBatchTable, insertBatches } from "./batch-insert.ts";
import { type Contestant, lengthOf, rateLine, ratesOf } from "./contest.ts";
import { mosquitto } from "./peers/mosquitto.ts";
import { nats } from "./peers/nats.ts";
import { rabbitmq } from "./peers/rabbitmq.ts";
import { registerAccounts, type RelayStage, startStage } from "./relay-stage.ts";
import { withPeers } from "./with-peers.ts";

const recipients = 50;
const publishers = 8;
/** The peer of the relay's own database. */
const limitLabel = "the same database's batch insert of the same rows, 256 a statement";

/** The benchmark. */
export const relayThroughput: Bench = {
  name: "relay-throughput",
  run: async (options) => {
    await withPeers("relay-throughput", [rabbitmq, nats, mosquitto], options, async (peers) => {
      await using stage = await startStage();
      await createBatchTable(stage.database.sql);
      for (const copies of [1, 3]) await measureShape(stage, copies, peers, options);
      await measureSubmit(stage, options);
    });
  },
};

async function measureShape(
  stage: RelayStage,
  copies: number,
  peers: readonly Contestant[],
  options: BenchOptions,
): Promise<void> {
  const devices = copies === 1 ? "one device" : "three devices";
  progress(`relay-throughput, ${devices} an account`);
  const ours = await relayContestant(stage, recipients, copies);
  const shape = { recipients, copies, publishers, isReceived: true };
  const rates = await ratesOf([ours, ...peers], shape, lengthOf(options));
  const own = rates.get(ours.label) ?? [];
  const limit: number[] = [];
  for (const rate of own) limit.push(await insertBatches(stage.database.sql, rate * 2));
  const unit = `copies/s, ${devices} an account`;
  for (const [label, theirs] of [...rates, [limitLabel, limit] as const]) {
    if (label === ours.label) continue;
    options.emit(rateLine(relayThroughput.name, unit, own, { label, rates: theirs }));
  }
}

async function measureSubmit(stage: RelayStage, options: BenchOptions): Promise<void> {
  progress("relay-throughput, submitting alone");
  // Mailboxes hold 500 items; they are emptied after every round.
  const accounts = 200;
  const ours = await relayContestant(stage, accounts, 1);
  const contestant = { ...ours, afterRound: () => emptyMailboxes(stage) };
  const shape = { recipients: accounts, copies: 1, publishers, isReceived: false };
  const rates = await ratesOf([contestant], shape, lengthOf(options));
  const own = rates.get(ours.label) ?? [];
  const limit: number[] = [];
  for (const rate of own) limit.push(await insertBatches(stage.database.sql, rate * 2));
  const unit = "envelopes/s, submit to commit, devices away";
  options.emit(rateLine(relayThroughput.name, unit, own, { label: limitLabel, rates: limit }));
}

async function relayContestant(
  stage: RelayStage,
  count: number,
  copies: number,
): Promise<Contestant> {
  const accounts = await registerAccounts(stage, count, copies);
  const { port, origin } = stage;
  return { label: "relay", target: { system: "pixie", port, origin, accounts } };
}

async function emptyMailboxes({ database: { sql } }: RelayStage): Promise<void> {
  await sql`truncate item`;
  await sql`update mailbox set queued_items = 0, queued_bytes = 0, large_bytes = 0`;
}
