/**
 * What the relay knows, read from everything it keeps: its whole database and its log at the most
 * talkative level, after people met, linked a device, wrote and shared a skill. Private keys, names
 * and texts are nowhere; public keys only where accounts, lists and prekeys are kept.
 */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { aliceMeetingPrep, aliceWeeklyReview } from "../../demo/skills.ts";
import type { Device } from "../../src/device/device.ts";
import { xwingPublicKey } from "../../src/device/crypto/primitives.ts";
import { createLog } from "../../src/relay/log.ts";
import type { Relay } from "../../src/relay/index.ts";
import { newSigningKey, signingKeyPair } from "../../src/shared/crypto/sodium.ts";
import { idFromText } from "../../src/shared/ids.ts";
import { type Rng, systemRng } from "../../src/shared/rng.ts";
import { befriend, expectOk, linkDevice, newPerson, until } from "../support/pair.ts";
import { openTestDatabase, type TestDatabase } from "../support/postgres.ts";
import { startRelay } from "../support/relay.ts";

const secretText = "the blue notebook is under the stairs";
/** Tables that exist to hold public keys. */
const keyTables = new Set(["account", "device", "device_list", "prekey", "renewal"]);

describe("the relay's eye", () => {
  let database: TestDatabase;
  let relay: Relay;
  let dump: ReadonlyMap<string, string>;
  let log = "";
  const devices: Device[] = [];
  const drawn: Uint8Array[] = [];
  /** Every 32 bytes that a device draws are a seed, a key or a secret. */
  const recording: Rng = (bytes) => {
    const random = systemRng(bytes);
    if (bytes === 32) drawn.push(random.slice());
    return random;
  };

  beforeAll(async () => {
    database = await openTestDatabase();
    relay = await startRelay({
      databaseUrl: database.url,
      log: createLog({ level: "trace", destination: { write: (line) => (log += line) } }),
    });
    const options = { rng: recording };
    const alice = await newPerson(relay.url, "Alice Archer", options);
    const bob = await newPerson(relay.url, "Bob Baker", options);
    devices.push(alice, bob);
    await befriend(alice, bob);
    devices.push(await linkDevice(alice, "the kitchen tablet", options));
    // Bob's mailbox keeps what he never fetches, so that the tables of items are not empty.
    await bob.close();
    expectOk(alice.skills.save(aliceMeetingPrep));
    expectOk(alice.skills.save(aliceWeeklyReview));
    const sent = [
      alice.send("Bob Baker", secretText),
      alice.skills.share("weekly-review", "Bob Baker"),
    ];
    for (const { messageId } of sent.map(expectOk)) {
      await until(alice, "accepted", () => alice.delivery(messageId)?.state === "accepted");
    }
    dump = await dumpOf(database);
  });
  afterAll(async () => {
    await Promise.all(devices.map((device) => device.close()));
    await relay.close();
    await database.drop();
  });

  it("has something to look at", () => {
    expect(dump.get("item")?.length).toBeGreaterThan(2_000);
    expect(log).toContain('"program":"relay"');
    expect(drawn.length).toBeGreaterThan(10);
    // The search itself finds what is there: a public key in the table of accounts.
    const aik = devices[0]?.identity()?.aik ?? "";
    expect(holds(dump.get("account") ?? "", idFromText(aik, 32))).toBe(true);
  });

  it("sees no private key, seed or secret, but the access and invite keys that tokens need", () => {
    for (const [table, text] of [...dump, ["the log", log] as const]) {
      if (table === "access_key" || table === "invite_key") continue;
      expect({ table, held: drawn.filter((secret) => holds(text, secret)) }).toEqual({
        table,
        held: [],
      });
    }
    // Of all that was drawn, the tables of keys hold what their devices told the relay: one access
    // key per account. Invite keys are derived, so no secret of an invite is among them.
    const known = drawn.filter((secret) => holds(dump.get("access_key") ?? "", secret));
    expect(known).toHaveLength(2);
    expect(drawn.some((secret) => holds(dump.get("invite_key") ?? "", secret))).toBe(false);
  });

  it("sees no name and no text, in any table or in the log", () => {
    const words: readonly string[] = [
      "Alice",
      "Archer",
      "Bob Baker",
      "kitchen tablet",
      "weekly-review",
      "Weekly Review",
      secretText,
      "pixie_skill_share",
    ];
    for (const [table, text] of [...dump, ["the log", log] as const]) {
      const seen = words.filter((word) => text.includes(word) || holds(text, Buffer.from(word)));
      expect({ table, seen }).toEqual({ table, seen: [] });
    }
  });

  it("keeps public keys in the tables of accounts, lists and prekeys only", () => {
    const publicKeys = drawn.flatMap((seed) => [
      signingKeyPair(seed).publicKey,
      xwingPublicKey(seed).slice(0, 64),
    ]);
    for (const [table, text] of [...dump, ["the log", log] as const]) {
      if (keyTables.has(table)) continue;
      expect({ table, held: publicKeys.filter((key) => holds(text, key)) }).toEqual({
        table,
        held: [],
      });
    }
  });

  it("would notice: a planted key is found in every spelling", () => {
    const { publicKey } = newSigningKey(systemRng);
    for (const encoding of ["hex", "base64", "base64url"] as const) {
      expect(holds(`…${Buffer.from(publicKey).toString(encoding)}…`, publicKey)).toBe(true);
    }
  });
});

/** Every table of the database as text. */
async function dumpOf({ sql }: TestDatabase): Promise<ReadonlyMap<string, string>> {
  const tables = await sql<{ name: string }[]>`
    select c.relname as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where n.nspname = 'public' and c.relkind in ('r', 'p') and not c.relispartition`;
  const texts = new Map<string, string>();
  for (const { name } of tables) {
    const rows = await sql<{ line: string }[]>`select t::text as line from ${sql(name)} t`;
    texts.set(name, rows.map((row) => row.line).join("\n"));
  }
  return texts;
}

/** Whether a text holds these bytes as hexadecimal, base64 or base64url. */
function holds(text: string, bytes: Uint8Array): boolean {
  const buffer = Buffer.from(bytes);
  // The last characters of a base64 text depend on what follows.
  return (
    text.includes(buffer.toString("hex")) ||
    text.includes(buffer.toString("base64url").slice(0, -2)) ||
    text.includes(buffer.toString("base64").replace(/=+$/, "").slice(0, -2))
  );
}
