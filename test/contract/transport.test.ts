/**
 * What every adapter of the transport port owes its callers, run against a real relay. A second
 * adapter joins by adding one line to `adapters`.
 */
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { createRelayTransport } from "../../src/device/transport/relay-client.ts";
import type { RelayTransport } from "../../src/device/transport/port.ts";
import type { Relay } from "../../src/relay/index.ts";
import { parseBase64Url, toBase64Url } from "../../src/shared/bytes.ts";
import { systemClock } from "../../src/shared/clock.ts";
import { deviceState } from "../../src/shared/crypto/device-list.ts";
import { keyKind } from "../../src/shared/crypto/token.ts";
import { idText } from "../../src/shared/ids.ts";
import { systemRng } from "../../src/shared/rng.ts";
import {
  bundleRequestOf,
  entryFor,
  newAccount,
  newDevice,
  nextList,
  prekeyFor,
  registrationOf,
} from "../support/accounts.ts";
import { valueOf } from "../support/people.ts";
import { createTestDatabase } from "../support/postgres.ts";
import { startRelay } from "../support/relay.ts";
import { openMailboxOf, registerWith, uploadFor, whenReady } from "./transport-world.ts";

const adapters: readonly { readonly name: string; readonly create: () => RelayTransport }[] = [
  {
    name: "HTTP and WebSocket",
    create: () => createRelayTransport({ clock: systemClock, rng: systemRng }),
  },
];

let relay: Relay;
let dropDatabase: () => Promise<void>;
beforeAll(async () => {
  const database = await createTestDatabase("embedded", "template");
  dropDatabase = database.drop;
  relay = await startRelay({ databaseUrl: database.url });
});
afterAll(async () => {
  await relay.close();
  await dropDatabase();
});

describe.each(adapters)("transport: $name", ({ create }) => {
  const open: AsyncDisposable[] = [];
  afterEach(async () => {
    for (const each of open.splice(0).toReversed()) await each[Symbol.asyncDispose]();
  });

  const connect = (): RelayTransport => {
    const transport = create();
    open.push(transport);
    return transport;
  };
  it("tells what the relay is, and its time", async () => {
    const answer = valueOf(await connect().info(relay.url));
    expect(answer.reply).toMatchObject({ name: "pixie-relay", origin: relay.origin });
    expect(Math.abs(answer.relayTimeMs - Date.now())).toBeLessThan(10_000);
  });

  it("registers an account, again when the reply got lost, and never over another one", async () => {
    const transport = connect();
    const account = newAccount(Date.now());
    const request = registrationOf(account, relay.origin, Date.now());
    expect((await transport.register(relay.url, request)).ok).toBe(true);
    expect((await transport.register(relay.url, request)).ok).toBe(true);
    const other = { ...newAccount(Date.now()), accountMailbox: account.accountMailbox };
    const taken = registrationOf(other, relay.origin, Date.now());
    expect(await transport.register(relay.url, taken)).toMatchObject({
      ok: false,
      error: { type: "refused", refusal: { code: "conflict" } },
    });
  });

  it("fetches a bundle with the account's key, and is refused with another", async () => {
    const transport = connect();
    const [account] = await registerWith(transport, relay);
    const options = { origin: relay.origin, nowMs: Date.now() };
    const request = bundleRequestOf(account, options);
    const { reply } = valueOf(await transport.fetchBundle(relay.url, request));
    expect(reply.device_lists).toEqual([toBase64Url(account.list.record)]);
    expect(reply.prekeys).toHaveLength(1);
    const wrong = bundleRequestOf(account, { ...options, key: new Uint8Array(32) });
    expect(await transport.fetchBundle(relay.url, wrong)).toMatchObject({
      ok: false,
      error: { type: "refused", refusal: { code: "token-invalid" } },
    });
  });

  it("delivers an upload once, byte for byte, however often it was sent", async () => {
    const transport = connect();
    const [account, device] = await registerWith(transport, relay);
    const bytes = uploadFor(account, device, relay.origin);
    const first = await transport.upload(relay.url, bytes);
    const again = await transport.upload(relay.url, bytes);
    expect(first).toMatchObject({
      ok: true,
      value: { reply: { results: [{ mailbox: device.box, state: "stored" }], unaddressed: [] } },
    });
    expect(again).toMatchObject({
      ok: true,
      value: { reply: { results: [{ mailbox: device.box, state: "duplicate" }] } },
    });
    const mailbox = openMailboxOf(transport, device, relay.origin);
    expect(await whenReady(mailbox)).toMatchObject({ epoch: relay.epoch, queued: 1 });
    const delivery = await mailbox.deliveries.until(() => true);
    const body = bytes.subarray(bytes.length - 1_024 - 48);
    expect(delivery.item.subarray(2 + 1_176)).toEqual(Uint8Array.from(body));
    mailbox.connection.acknowledge([delivery.seq]);
    // A duplicate draws a number too: gaps are normal.
    expect(await mailbox.drained.until(() => true)).toBeGreaterThanOrEqual(delivery.seq);
    expect(mailbox.deliveries.items).toHaveLength(1);
  });

  it("R27: redelivers what was not acknowledged, with its number, and nothing else", async () => {
    const transport = connect();
    const [account, device] = await registerWith(transport, relay);
    for (let i = 0; i < 3; i++)
      await transport.upload(relay.url, uploadFor(account, device, relay.origin));
    const first = openMailboxOf(transport, device, relay.origin);
    await first.deliveries.until(() => first.deliveries.items.length === 3);
    const [kept, ...rest] = first.deliveries.items;
    first.connection.acknowledge([kept!.seq]);
    // Acknowledgements are written beside requests: a reply may be before them.
    await expect
      .poll(() => first.connection.request({ type: "mailbox-status" }), { timeout: 20_000 })
      .toMatchObject({ ok: true, value: { reply: { queued: 2 } } });
    await first.connection.close();
    const second = openMailboxOf(transport, device, relay.origin);
    await second.deliveries.until(() => second.deliveries.items.length === 2);
    expect(second.deliveries.items.map(({ seq, item }) => [seq, item])).toEqual(
      rest.map(({ seq, item }) => [seq, item]),
    );
    expect(second.deliveries.items.every((delivery) => delivery.redelivered)).toBe(true);
  });

  it("delivers what arrives while connected", async () => {
    const transport = connect();
    const [account, device] = await registerWith(transport, relay);
    const mailbox = openMailboxOf(transport, device, relay.origin);
    await whenReady(mailbox);
    await transport.upload(relay.url, uploadFor(account, device, relay.origin));
    expect((await mailbox.deliveries.until(() => true)).redelivered).toBe(false);
  });

  it("carries every request of a device", async () => {
    const transport = connect();
    const [account, device] = await registerWith(transport, relay);
    const mailbox = openMailboxOf(transport, device, relay.origin);
    await whenReady(mailbox);
    const { connection } = mailbox;
    const prekey = prekeyFor(account, device, Date.now() + 1_000);
    expect((await connection.request({ type: "publish-prekey", prekey: prekey.record })).ok).toBe(
      true,
    );
    const joining = newDevice();
    const list = nextList(account, [
      ...account.list.entries,
      entryFor(joining, deviceState.active, Date.now()),
    ]);
    const update = {
      type: "update-device-list",
      expectedVersion: 1,
      expectedHash: account.list.hash,
      deviceList: list.record,
    } as const;
    expect((await connection.request(update)).ok).toBe(true);
    const key = systemRng(32);
    const expiresMs = Date.now() + 60_000;
    const invite = { type: "invite-key", key, expiresMs, revoked: false } as const;
    expect((await connection.request(invite)).ok).toBe(true);
    const asGuest = { origin: relay.origin, nowMs: Date.now(), key, keyKind: keyKind.invite };
    const request = bundleRequestOf(account, asGuest);
    const { reply } = valueOf(await transport.fetchBundle(relay.url, request));
    expect(reply.device_lists.map(parseBase64Url)).toEqual([
      { ok: true, value: account.list.record },
      { ok: true, value: list.record },
    ]);
    expect(reply.prekeys).toEqual([toBase64Url(prekey.record)]);
    expect(await connection.request({ type: "mailbox-status" })).toMatchObject({
      ok: true,
      value: { reply: { queued: 0 } },
    });
  });

  it("hands a request's refusal to its caller and stays connected", async () => {
    const transport = connect();
    const [account, device] = await registerWith(transport, relay);
    const mailbox = openMailboxOf(transport, device, relay.origin);
    await whenReady(mailbox);
    const old = prekeyFor(account, device, Date.now() - 86_400_000);
    expect(
      await mailbox.connection.request({ type: "publish-prekey", prekey: old.record }),
    ).toMatchObject({ ok: false, error: { type: "refused", refusal: { code: "conflict" } } });
    expect(mailbox.connection.state().type).toBe("ready");
  });

  it("lets the newest connection of a device win, and the older one stop", async () => {
    const transport = connect();
    const [, device] = await registerWith(transport, relay);
    const older = openMailboxOf(transport, device, relay.origin);
    await whenReady(older);
    const newer = openMailboxOf(transport, device, relay.origin);
    await whenReady(newer);
    await older.states.until((state) => state.type === "displaced");
    expect(newer.connection.state().type).toBe("ready");
  });

  it("does not retry for a device that the relay does not know", async () => {
    const transport = connect();
    const stranger = openMailboxOf(transport, newDevice(), relay.origin);
    const state = await stranger.states.until((each) => each.type !== "connecting");
    expect(state.type).toBe("rejected");
  });

  it("writes a box once and reads it as often as asked", async () => {
    const transport = connect();
    const id = idText(systemRng(16));
    const content = systemRng(2_000);
    expect(await transport.getBox(relay.url, id, 1)).toMatchObject({
      ok: true,
      value: { reply: undefined },
    });
    expect((await transport.putBox(relay.url, id, 1, content)).ok).toBe(true);
    expect(await transport.putBox(relay.url, id, 1, systemRng(10))).toMatchObject({
      ok: false,
      error: { type: "refused", refusal: { code: "conflict" } },
    });
    for (let i = 0; i < 2; i++) {
      const box = valueOf(await transport.getBox(relay.url, id, 1));
      expect(box.reply).toEqual(content);
      expect(Math.abs(box.relayTimeMs - Date.now())).toBeLessThan(10_000);
    }
    expect(await transport.getBox(relay.url, id, 2)).toMatchObject({
      ok: true,
      value: { reply: undefined },
    });
  });

  it("ends its mailboxes when it is closed", async () => {
    const transport = create();
    const [, device] = await registerWith(transport, relay);
    const mailbox = openMailboxOf(transport, device, relay.origin);
    await whenReady(mailbox);
    await transport[Symbol.asyncDispose]();
    expect(mailbox.connection.state().type).toBe("offline");
    expect(await mailbox.connection.request({ type: "mailbox-status" })).toMatchObject({
      ok: false,
      error: { type: "unreachable" },
    });
  });

  it("comes back by itself after the relay restarted, and loses nothing", async () => {
    const database = await createTestDatabase("embedded", "template");
    open.push({ [Symbol.asyncDispose]: database.drop });
    const before = await startRelay({ databaseUrl: database.url });
    const config = { port: before.port };
    const transport = connect();
    const [account, device] = await registerWith(transport, before);
    const { states, deliveries } = openMailboxOf(transport, device, before.origin);
    await states.until((state) => state.type === "ready");
    await before.close();
    const away = await states.until((state) => state.type === "offline");
    expect(away).toMatchObject({ reason: expect.stringContaining("restarting") });
    const after = await startRelay({ databaseUrl: database.url, config });
    open.push(after);
    const bytes = uploadFor(account, device, after.origin);
    expect((await transport.upload(after.url, bytes)).ok).toBe(true);
    expect((await deliveries.until(() => true)).seq).toBeGreaterThan(0n);
  });
});
