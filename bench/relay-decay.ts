/**
 * `relay-decay`: whether the relay is as fast as at its start after five million envelopes, beside a
 * transaction that is held open for three minutes, and beside mailboxes whose devices never come back.
 *
 * The five million stand in the table as acknowledged envelopes do, emptied with their slots
 * remembered; they are put there by SQL, since sending them would take an hour. What is measured before
 * and after is real traffic, submit to acknowledgement, to the very mailboxes that they lie in.
 */
import { dayOf } from "../src/shared/clock.ts";
import type { RelayAccount } from "../test/support/accounts.ts";
import { type Bench, type BenchOptions, progress } from "./bench.ts";
import { rateLine } from "./contest.ts";
import { runLoad } from "./load/run-load.ts";
import { insertDevices } from "./many-devices.ts";
import { registerAccounts, type RelayStage, startStage } from "./relay-stage.ts";

interface Sizes {
  readonly acknowledged: number;
  readonly deadDevices: number;
  readonly heldSeconds: number;
  readonly messages: number;
  readonly rounds: number;
}

const itemsOfDead = 500;
const recipients = 50;

/** The benchmark. */
export const relayDecay: Bench = {
  name: "relay-decay",
  run: async (options) => {
    const sizes: Sizes = options.quick
      ? { acknowledged: 100_000, deadDevices: 20, heldSeconds: 5, messages: 3_000, rounds: 2 }
      : {
          acknowledged: 5_000_000,
          deadDevices: 400,
          heldSeconds: 180,
          messages: 20_000,
          rounds: 3,
        };
    await using stage = await startStage();
    const accounts = await registerAccounts(stage, recipients, 1);
    const measure = async (): Promise<readonly number[]> => {
      const rates: number[] = [];
      for (let round = 0; round < sizes.rounds; round++) {
        rates.push(await rateOf(stage, accounts, sizes.messages));
      }
      return rates;
    };
    await rateOf(stage, accounts, 2_000);
    await measureAll(stage, accounts, { sizes, measure, options });
  },
};

interface Measuring {
  readonly sizes: Sizes;
  readonly measure: () => Promise<readonly number[]>;
  readonly options: BenchOptions;
}

async function measureAll(
  stage: RelayStage,
  accounts: readonly RelayAccount[],
  { sizes, measure, options }: Measuring,
): Promise<void> {
  const start = await measure();
  const line = (after: string, rates: readonly number[], label: string, peer: readonly number[]) =>
    options.emit(rateLine(relayDecay.name, `copies/s, ${after}`, rates, { label, rates: peer }));
  progress(`inserting ${sizes.acknowledged} acknowledged envelopes`);
  await insertAcknowledged(stage, accounts, sizes.acknowledged);
  const full = await measure();
  line(`after ${sizes.acknowledged} acknowledged envelopes`, full, "the same relay before", start);
  progress(`inserting ${sizes.deadDevices * itemsOfDead} envelopes of dead devices`);
  await insertDead(stage, sizes.deadDevices);
  const dead = await measure();
  line(`beside ${sizes.deadDevices} full mailboxes of dead devices`, dead, "without them", full);
  progress(`holding a transaction open for ${sizes.heldSeconds} s`);
  const held = await whileHeld(stage, sizes.heldSeconds, () =>
    rateOf(stage, accounts, sizes.messages),
  );
  line(`with a transaction held for ${sizes.heldSeconds} s`, held, "without it", dead);
}

async function rateOf(
  { port, origin }: RelayStage,
  accounts: readonly RelayAccount[],
  messages: number,
): Promise<number> {
  const shape = { recipients, copies: 1, publishers: 8, isReceived: true, messages };
  const target = { system: "pixie", port, origin, accounts } as const;
  const report = await runLoad({ target, shape, pace: { window: 32 }, warmShare: 0.2 });
  progress(`${Math.round(report.copiesPerSecond)}/s`);
  return report.copiesPerSecond;
}

/** Rates while another connection keeps a snapshot of before; the last round begins after the time. */
async function whileHeld(
  { database: { sql } }: RelayStage,
  seconds: number,
  round: () => Promise<number>,
): Promise<readonly number[]> {
  const holder = await sql.reserve();
  try {
    await holder`begin isolation level repeatable read`;
    await holder`select count(*) from mailbox`;
    const untilMs = performance.now() + seconds * 1_000;
    while (performance.now() < untilMs) await round();
    return [await round(), await round()];
  } finally {
    await holder`rollback`;
    holder.release();
  }
}

async function insertAcknowledged(
  { database: { sql } }: RelayStage,
  accounts: readonly RelayAccount[],
  count: number,
): Promise<void> {
  const boxes = accounts.flatMap(({ devices }) =>
    devices.map(({ mailbox }) => Buffer.from(mailbox).toString("hex")),
  );
  const day = dayOf(Date.now());
  const each = Math.ceil(count / boxes.length);
  for (const box of boxes) {
    await sql`insert into item (lane, day, mailbox, seq, slot, bucket, acked)
      select 0, ${day}::int, ${box}::uuid, m.next_seq + n, gen_random_uuid(), 0, now()
      from generate_series(0, ${each - 1}::int) n, mailbox m where m.lane = 0 and m.mailbox = ${box}::uuid`;
    await sql`update mailbox set next_seq = next_seq + ${each} where lane = 0 and mailbox = ${box}::uuid`;
  }
}

async function insertDead({ database: { sql } }: RelayStage, devices: number): Promise<void> {
  const day = dayOf(Date.now());
  for (const { mailbox } of await insertDevices(sql, devices)) {
    const box = Buffer.from(mailbox).toString("hex");
    await sql`insert into item (lane, day, mailbox, seq, slot, bucket, header, body)
      select 0, ${day}::int, ${box}::uuid, n, gen_random_uuid(), 0, ${Buffer.alloc(1_176)}::bytea, ${Buffer.alloc(1_072)}::bytea
      from generate_series(1, ${itemsOfDead}::int) n`;
    await sql`update mailbox set next_seq = ${itemsOfDead + 1}, queued_items = ${itemsOfDead},
      queued_bytes = ${itemsOfDead * 2_248} where lane = 0 and mailbox = ${box}::uuid`;
  }
}
