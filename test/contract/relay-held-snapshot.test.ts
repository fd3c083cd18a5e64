/**
 * R43: a transaction that somebody leaves open keeps every dead row in its place. What reading,
 * accepting and acknowledging cost beside it is counted in the pages that the database touches, which
 * no other work on the machine changes. How fast that is: `relay-decay` in bench/.
 */
import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { acknowledgeItems } from "../../src/relay/store/acknowledgements.ts";
import { readItems } from "../../src/relay/store/deliveries.ts";
import { claimSession } from "../../src/relay/store/mailboxes.ts";
import { type Sql, uuidOf } from "../../src/relay/store/sql-values.ts";
import {
  createMailboxes,
  insertBatch,
  mailboxRow,
  storeDay,
  storeDays,
  storeNowMs,
  storeUpload,
} from "../support/mailboxes.ts";
import { type TestDatabase, testStores } from "../support/postgres.ts";

interface Explained {
  readonly "QUERY PLAN": readonly [
    {
      readonly Plan: {
        readonly "Shared Hit Blocks": number;
        readonly "Shared Read Blocks": number;
      };
    },
  ];
}

const steps = ["accept", "read", "acknowledge"] as const;
const versions = 2_000;

describe.each(testStores())("beside a held snapshot on $name", ({ open }) => {
  let db: TestDatabase;
  beforeAll(async () => {
    db = await open();
  });
  afterAll(() => db.drop());

  /** How many pages the statement touches that `run` gives to its database. */
  async function pagesOf(run: (sql: Sql) => Promise<unknown>): Promise<number> {
    const asked: PromiseLike<readonly Explained[]>[] = [];
    const explain = "explain (analyze, buffers, format json) ";
    const sql = new Proxy(db.sql, {
      apply: (target, self, [[first, ...rest], ...values]) => {
        const strings = [explain + first, ...rest];
        asked.push(
          Reflect.apply(target, self, [Object.assign(strings, { raw: strings }), ...values]),
        );
        return asked.at(-1);
      },
      get: (target, name) =>
        name === "unsafe"
          ? (text: string, ...more: []) => {
              asked.push(target.unsafe<Explained[]>(explain + text, ...more));
              return asked.at(-1);
            }
          : Reflect.get(target, name),
    });
    // What they make of a plan in the place of rows does not matter.
    await run(sql).catch(() => undefined);
    const [row] = (await asked[0]) ?? [];
    const plan = row?.["QUERY PLAN"][0].Plan;
    if (plan === undefined) throw new Error("no statement was explained");
    return plan["Shared Hit Blocks"] + plan["Shared Read Blocks"];
  }

  it("R43: the cost of an envelope does not grow with what is dead", async () => {
    const bob = await createMailboxes(db.sql, 1);
    const [mailbox = ""] = bob.mailboxes;
    await claimSession(db.sql, { lane: 0, mailbox });
    const next = async (): Promise<number> => (await mailboxRow(db.sql, mailbox)).nextSeq;
    const acknowledge = async (sql: Sql, from: number, count: number): Promise<void> => {
      const items = Array.from({ length: count }, (_, at) => ({ seq: from + at, day: storeDay }));
      const acknowledgement = { mailbox, session: 1, sentThrough: from + count, items };
      await acknowledgeItems(sql, 0, { acknowledgements: [acknowledgement], nowMs: storeNowMs });
    };
    const passHundred = async (): Promise<void> => {
      const from = await next();
      await insertBatch(
        db.sql,
        Array.from({ length: 100 }, () => storeUpload(bob)),
      );
      await acknowledge(db.sql, from, 100);
    };
    const passOne = async (): Promise<Readonly<Record<(typeof steps)[number], number>>> => {
      const seq = await next();
      const accept = await pagesOf((sql) => insertBatch(sql, [storeUpload(bob)]));
      const ask = { mailbox, afterSeq: seq - 1, maxItems: 256, maxBytes: 1_048_576 };
      const read = await pagesOf((sql) => readItems(sql, 0, [ask], storeDays));
      return { accept, read, acknowledge: await pagesOf((sql) => acknowledge(sql, seq, 1)) };
    };
    await passHundred();
    const holder = await db.sql.reserve();
    await holder`begin isolation level repeatable read`;
    await holder`select count(*) from mailbox`;
    const before = await passOne();
    for (let round = 0; round < 30; round++) await passHundred();
    const beside = await passOne();
    // Versions of one mailbox row lie fifty to a page, and each look at it passes all of them.
    await db.sql.unsafe(`do $$ begin for i in 1..${versions} loop
      update mailbox set queued_bytes = queued_bytes where lane = 0 and mailbox = '${uuidOf(mailbox)}';
    end loop; end $$`);
    const besideVersions = await passOne();
    await holder`rollback`;
    holder.release();
    const grown = steps.filter(
      (step) =>
        beside[step] > before[step] + 8 || besideVersions[step] > before[step] + versions / 16,
    );
    expect({ grown, before, beside, besideVersions }).toMatchObject({ grown: [] });
  });
});
