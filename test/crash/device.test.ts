/**
 * kill -9 of a device between its journal and its acknowledgement, again and again. The relay then
 * delivers everything a second time, and nothing may land twice or be missing.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Device } from "../../src/device/device.ts";
import { createDevice } from "../../src/device/index.ts";
import { startChild } from "../support/child.ts";
import { createTestDatabase, testStores } from "../support/postgres.ts";
import { expectOk, type Pair, startPair, until } from "../support/pair.ts";

const rounds = 20;

describe.each(testStores())("a device killed before its ack, the relay on $name", ({ name }) => {
  let folder: string;
  let pair: Pair;
  let database: { readonly url: string; readonly drop: () => Promise<void> } | undefined;
  beforeAll(async () => {
    folder = mkdtempSync(path.join(tmpdir(), "pixie-crash-"));
    database = name === "external" ? await createTestDatabase("external", "template") : undefined;
    pair = await startPair({
      bobFolder: folder,
      bobKey: "crash test",
      ...(database === undefined ? {} : { databaseUrl: database.url }),
    });
    await pair.bob.close();
  });
  afterAll(async () => {
    await pair.close();
    await database?.drop();
    rmSync(folder, { recursive: true, force: true });
  });

  it(`R1, R3, R20: ${rounds} crashes lose nothing and land nothing twice`, async () => {
    const sent: string[] = [];
    for (let round = 0; round < rounds; round++) {
      const { messageId } = expectOk(pair.alice.send("Bob", `message ${round}`));
      sent.push(messageId);
      const child = startChild("test/crash/children/device-until-ack.ts", [folder]);
      const { signal } = await child.ended;
      expect({ signal, stderr: child.stderr() }).toMatchObject({ signal: "SIGKILL" });
    }
    const bob: Device = expectOk(
      await createDevice({
        dataDir: folder,
        storeKey: { type: "passphrase", passphrase: "crash test" },
        delays: { echoMs: [0, 0], receiptMs: [0, 0] },
      }),
    );
    expectOk(bob.start());
    await until(bob, "the mailbox drains", () => bob.status().connection === "ready");
    expect(await bob.settle(20_000)).toBe("settled");
    const shown = expectOk(bob.messages("Alice")).map((message) => message.messageId);
    expect(shown).toEqual(sent);
    await until(pair.alice, "every message is confirmed", () =>
      sent.every((id) => pair.alice.delivery(id)?.state === "confirmed"),
    );
    await bob.close();
  }, 180_000);
});
