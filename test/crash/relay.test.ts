/**
 * kill -9 of the relay on the first byte of a reply, again and again, on its own database and on an
 * external one. What it had accepted is there afterwards; what is repeated lands once.
 */
import { once } from "node:events";
import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import http from "node:http";
import { tmpdir } from "node:os";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { freePort, type RelayProcess, startRelayProcess } from "../../demo/relay-process.ts";
import { encodeItem, parseUpload } from "../../src/shared/wire/envelope.ts";
import { type RelayAccount, uploadTo } from "../support/accounts.ts";
import { createTestDatabase, testStores } from "../support/postgres.ts";
import { connectDevice, postUpload, registerAccount, type RelayAddress } from "../support/relay.ts";

const rounds = 20;
const uploadsPerRound = 8;

describe.each(testStores())("a relay killed on the reply byte, on $name", ({ name }) => {
  it(`R1, R5, R17, R18: ${rounds} crashes lose nothing and deliver nothing twice`, async () => {
    await using place = await createPlace(name);
    let relay = await place.start();
    const account = await registerAccount(addressOf(relay), Date.now());
    let acceptedInTime = 0;
    for (let round = 0; round < rounds; round++) {
      const uploads = Array.from({ length: uploadsPerRound }, () => upload(relay, account));
      const accepted = await postUntilKilled(relay, uploads);
      acceptedInTime += accepted.filter(Boolean).length;

      relay = await place.start();
      for (const [index, bytes] of uploads.entries()) {
        const answer = await postUpload(addressOf(relay), bytes);
        expect(answer.status).toBe(202);
        const state = answer.body.results?.[0]?.state;
        // Whether the others were committed is not known to anyone: both answers are right.
        expect(accepted[index] ? ["duplicate"] : ["stored", "duplicate"]).toContain(state);
      }
      // Earlier rounds were acknowledged: exactly this one's items are there, once each.
      expect(await drain(relay, account)).toEqual(uploads.map(itemOf).toSorted());
    }
    expect(acceptedInTime).toBeGreaterThanOrEqual(rounds);
    await relay.stop();
  }, 300_000);
});

interface Place extends AsyncDisposable {
  readonly start: () => Promise<RelayProcess>;
}

/** A data folder and port that outlive the process; and, outside, a database that does. */
async function createPlace(store: string): Promise<Place> {
  const folder = mkdtempSync(path.join(tmpdir(), "pixie-crash-"));
  chmodSync(folder, 0o755);
  const port = await freePort();
  const database =
    store === "external" ? await createTestDatabase("external", "template") : undefined;
  const env = database === undefined ? {} : { DATABASE_URL: database.url };
  let running: RelayProcess | undefined;
  return {
    start: async () => (running = await startRelayProcess(path.join(folder, "relay"), port, env)),
    [Symbol.asyncDispose]: async () => {
      await running?.stop();
      await database?.drop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Posts everything at once and kills the relay on the first byte that comes back. */
async function postUntilKilled(
  relay: RelayProcess,
  uploads: readonly Uint8Array[],
): Promise<readonly boolean[]> {
  let killed: Promise<void> | undefined;
  const posts = uploads.map(
    (bytes) =>
      new Promise<boolean>((resolve) => {
        const request = http.request(`${relay.url}/v1/envelopes`, {
          method: "POST",
          agent: false,
          headers: { "content-type": "application/octet-stream" },
        });
        request.on("socket", (socket) =>
          socket.once("data", () => {
            killed ??= relay.kill();
          }),
        );
        request.on("response", (response) => {
          response.resume();
          resolve(response.statusCode === 202);
        });
        request.on("error", () => resolve(false));
        request.end(bytes);
      }),
  );
  const accepted = await Promise.all(posts);
  expect(killed, "no reply ever came").toBeDefined();
  await killed;
  return accepted;
}

/** Takes and acknowledges everything; the items, as text, in a fixed order. */
async function drain(relay: RelayProcess, account: RelayAccount): Promise<readonly string[]> {
  const device = account.devices[0];
  if (device === undefined) throw new Error("an account without a device");
  const connection = await connectDevice(addressOf(relay), device);
  const queued = connection.ready.queued;
  for (let taken = 0; taken < queued; taken++) {
    const { seq } = await connection.delivery();
    connection.ack(seq);
  }
  if (queued > 0) await connection.frame("drained");
  const items = connection.deliveries.map(({ item }) => Buffer.from(item).toString("base64"));
  connection.socket.close();
  await once(connection.socket, "close");
  return items.toSorted();
}

function upload(relay: RelayProcess, account: RelayAccount): Uint8Array {
  const mailboxes = account.devices.map((device) => device.mailbox);
  return uploadTo(account, mailboxes, { origin: new URL(relay.url).origin, nowMs: Date.now() });
}

function itemOf(bytes: Uint8Array): string {
  const parsed = parseUpload(bytes);
  const header = parsed.ok ? parsed.value.entries[0]?.header : undefined;
  if (!parsed.ok || header === undefined) throw new Error("not an upload");
  const { bucket, body } = parsed.value;
  return Buffer.from(encodeItem({ bucket, header, body })).toString("base64");
}

function addressOf(relay: RelayProcess): RelayAddress {
  return { url: relay.url, origin: new URL(relay.url).origin };
}
