/** What an identity key may ask of a relay without any device: its chain, a new device, a new key. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";

import type { Relay } from "../../../src/relay/index.ts";
import { toBase64Url } from "../../../src/shared/bytes.ts";
import { systemClock } from "../../../src/shared/clock.ts";
import {
  type DeviceEntry,
  deviceState,
  signDeviceList,
} from "../../../src/shared/crypto/device-list.ts";
import { originHash } from "../../../src/shared/crypto/origin.ts";
import { signRecoverAsk, signRecovery } from "../../../src/shared/crypto/relay-auth.ts";
import { signRenewal } from "../../../src/shared/crypto/renewal.ts";
import { newSigningKey } from "../../../src/shared/crypto/sodium.ts";
import { systemRng } from "../../../src/shared/rng.ts";
import type { RecoverRequest, RenewRequest } from "../../../src/shared/wire/http.ts";
import {
  bundleRequestOf,
  entryFor,
  newAccount,
  newDevice,
  nextList,
  prekeyFor,
  type RelayAccount,
  type RelayDevice,
  uploadTo,
} from "../../support/accounts.ts";
import { type TestDatabase, testStores } from "../../support/postgres.ts";
import {
  connectDevice,
  postJson,
  postUpload,
  registerAccount,
  startRelay,
} from "../../support/relay.ts";

const nowMs = systemClock.nowMs();

/** The renewal of an account, with some of its devices. */
function renewalOf(account: RelayAccount, entries: readonly DeviceEntry[]) {
  const aik = newSigningKey(systemRng);
  const list = signDeviceList(
    {
      aik: aik.publicKey,
      version: 1,
      issuedMs: BigInt(nowMs),
      prevHash: new Uint8Array(32),
      entries,
    },
    aik.privateKey,
  );
  const old = { oldListVersion: account.list.version, oldListHash: account.list.hash };
  const renewal = signRenewal({ ...old, issuedMs: BigInt(nowMs) }, account.aik, aik);
  const request: RenewRequest = {
    renewal: toBase64Url(renewal.record),
    device_list: toBase64Url(list.record),
  };
  return { renewed: { ...account, aik, list }, request };
}

describe.each(testStores())("an identity key on $name", ({ open }) => {
  let db: TestDatabase;
  let relay: Relay;
  beforeAll(async () => {
    db = await open();
    relay = await startRelay({ databaseUrl: db.url });
  });
  afterAll(async () => {
    await relay.close();
    await db.drop();
  });

  const beginOf = (account: RelayAccount, signedAtMs = nowMs, origin = relay.origin) => ({
    aik: toBase64Url(account.aik.publicKey),
    signed_at: String(signedAtMs),
    signature: toBase64Url(
      signRecoverAsk(
        { originDigest: originHash(origin), timeMs: BigInt(signedAtMs) },
        account.aik.privateKey,
      ),
    ),
  });
  const begin = (body: object) => postJson(relay, "/v1/accounts/recover/begin", body);
  const recoverOf = (
    account: RelayAccount,
    device: RelayDevice,
    change: Partial<RecoverRequest> = {},
    entries: readonly DeviceEntry[] = account.list.entries,
  ): RecoverRequest => {
    const list = nextList(account, [...entries, entryFor(device, deviceState.admin, nowMs)]);
    const accessKey = systemRng(32);
    const claim = { originDigest: originHash(relay.origin), listHash: list.hash, accessKey };
    return {
      device_list: toBase64Url(list.record),
      prekey: toBase64Url(prekeyFor(account, device, nowMs).record),
      access_key: toBase64Url(accessKey),
      signature: toBase64Url(signRecovery(claim, account.aik.privateKey)),
      ...change,
    };
  };
  const recover = (body: object) => postJson(relay, "/v1/accounts/recover", body);
  const renew = (body: object) => postJson(relay, "/v1/accounts/renew", body);
  it("learns its mailbox and whole chain; nobody else does", async () => {
    const bob = await registerAccount(relay, nowMs);
    expect(await begin(beginOf(bob))).toMatchObject({
      status: 200,
      body: {
        account_mailbox: toBase64Url(bob.accountMailbox),
        device_lists: [toBase64Url(bob.list.record)],
      },
    });
    const refusals = await Promise.all([
      begin({ ...beginOf(bob), aik: beginOf(newAccount(nowMs)).aik }),
      begin(beginOf(bob, nowMs, "https://other.example")),
      begin(beginOf(newAccount(nowMs))),
      begin(beginOf(bob, nowMs - 400_000)),
      begin(beginOf(bob, nowMs + 400_000)),
    ]);
    expect(refusals.map(({ status, body }) => [status, body.error])).toEqual([
      [401, "unauthorised"],
      [401, "unauthorised"],
      [401, "unauthorised"],
      [409, "clock-skew"],
      [409, "clock-skew"],
    ]);
  });

  it("lets a new device in, retires the access key to the reserve, and says so again", async () => {
    const bob = await registerAccount(relay, nowMs);
    const [lost] = bob.devices;
    const waiting = uploadTo(bob, [lost!.mailbox], { origin: relay.origin, nowMs });
    expect((await postUpload(relay, waiting)).status).toBe(202);
    const phone = newDevice();
    const gone = { ...bob.list.entries[0]!, state: deviceState.revoked };
    const request = recoverOf(bob, phone, {}, [gone]);
    const connection = await connectDevice(relay, lost!);
    expect((await recover(request)).status).toBe(200);
    expect((await recover(request)).status).toBe(200);
    // The lost device's connection ends, and its mailbox with what waited there.
    expect(await connection.frame("refused")).toMatchObject({ error: "unauthorised" });
    const fresh = await connectDevice(relay, phone);
    expect(fresh.ready.queued).toBe(0);
    await fresh.cut();
    const accessKey = Buffer.from(request.access_key, "base64url");
    const now = { origin: relay.origin, nowMs };
    const bundle = await postJson(
      relay,
      "/v1/bundles",
      bundleRequestOf({ ...bob, accessKey }, now),
    );
    expect(bundle.body["prekeys"]).toEqual([request.prekey]);
    expect(bundle.body["device_lists"]).toHaveLength(2);
    const send = async (key: Uint8Array, bucket: number) =>
      (await postUpload(relay, uploadTo(bob, [phone.mailbox], { ...now, key, bucket }))).status;
    expect(await send(accessKey, 1)).toBe(202);
    expect(await send(bob.accessKey, 0)).toBe(202);
    expect(await send(bob.accessKey, 1)).toBe(401);
  });

  it("refuses a recovery that is forged, adds two devices or none, or builds on an old list", async () => {
    const bob = await registerAccount(relay, nowMs);
    const phone = newDevice();
    const good = recoverOf(bob, phone);
    const two = recoverOf(bob, phone, {}, [
      ...bob.list.entries,
      entryFor(newDevice(), deviceState.active, nowMs),
    ]);
    const stranger = await registerAccount(relay, nowMs);
    const used = recoverOf(bob, { ...phone, mailbox: stranger.devices[0]!.mailbox });
    const refusals = [
      await recover({ ...good, access_key: toBase64Url(systemRng(32)) }),
      await recover({ ...good, prekey: toBase64Url(prekeyFor(bob, newDevice(), nowMs).record) }),
      await recover(two),
      await recover(recoverOf(newAccount(nowMs), phone)),
      await recover(used),
    ];
    expect(refusals.map(({ status, body }) => [status, body.error])).toEqual([
      [401, "unauthorised"],
      [400, "malformed"],
      [400, "malformed"],
      [401, "unauthorised"],
      [409, "conflict"],
    ]);
    const chain = (await begin(beginOf(bob))).body["device_lists"];
    expect(chain).toEqual([toBase64Url(bob.list.record)]);
    const both = await Promise.all([recover(good), recover(recoverOf(bob, newDevice()))]);
    expect(both.map(({ status }) => String(status)).toSorted()).toEqual(["200", "409"]);
  });

  it("hands the account over: the old key has no say, old prekeys go, devices publish anew", async () => {
    const bob = await registerAccount(relay, nowMs);
    const [phone] = bob.devices;
    const connection = await connectDevice(relay, phone!);
    const { renewed, request } = renewalOf(bob, bob.list.entries);
    expect((await renew(request)).status).toBe(200);
    expect((await renew(request)).status).toBe(200);
    expect((await begin(beginOf(bob))).status).toBe(401);
    expect((await recover(recoverOf(bob, newDevice()))).body.error).toBe("unauthorised");
    expect((await begin(beginOf(renewed))).body["device_lists"]).toEqual([request.device_list]);
    const now = { origin: relay.origin, nowMs };
    const empty = await postJson(relay, "/v1/bundles", bundleRequestOf(bob, { ...now, since: 1 }));
    expect(empty.body).toMatchObject({ device_lists: [request.device_list], prekeys: [] });
    // On the connection that stood all along.
    const prekey = (account: RelayAccount) =>
      toBase64Url(prekeyFor(account, phone!, nowMs + 1).record);
    const old = await connection.request({ type: "publish-prekey", prekey: prekey(bob) });
    expect(old.error?.code).toBe("malformed");
    const fresh = await connection.request({ type: "publish-prekey", prekey: prekey(renewed) });
    expect(fresh.error).toBeUndefined();
    const list = nextList(bob, [
      ...bob.list.entries,
      entryFor(newDevice(), deviceState.active, nowMs),
    ]);
    const refused = await connection.request({
      type: "update-device-list",
      expected_version: 1,
      expected_hash: toBase64Url(bob.list.hash),
      device_list: toBase64Url(list.record),
    });
    expect(refused.error?.code).toBe("unauthorised");
    await connection.cut();
  });

  it("drops devices that a renewal leaves out, and refuses one that adds or changes some", async () => {
    const bob = await registerAccount(relay, nowMs);
    const laptop = newDevice();
    const added = recoverOf(bob, laptop);
    expect((await recover(added)).status).toBe(200);
    const entries = [...bob.list.entries, entryFor(laptop, deviceState.admin, nowMs)];
    const now = { ...bob, list: nextList(bob, entries) };
    const [phoneEntry, laptopEntry] = entries;
    const { request } = renewalOf(now, [{ ...laptopEntry!, state: deviceState.admin }]);
    const stranger = entryFor(newDevice(), deviceState.admin, nowMs);
    const wrong = [
      renewalOf(now, [laptopEntry!, stranger]).request,
      renewalOf(now, [{ ...laptopEntry!, mailbox: systemRng(16) }]).request,
      renewalOf(bob, [phoneEntry!]).request,
      { ...request, device_list: toBase64Url(bob.list.record) },
    ];
    const codes = [];
    for (const each of wrong) codes.push((await renew(each)).body.error);
    expect(codes).toEqual(["malformed", "malformed", "conflict", "malformed"]);
    const phone = await connectDevice(relay, bob.devices[0]!);
    expect((await renew(request)).status).toBe(200);
    expect(await phone.frame("refused")).toMatchObject({ error: "unauthorised" });
    const late = uploadTo(bob, [bob.devices[0]!.mailbox], {
      origin: relay.origin,
      nowMs,
      key: Buffer.from(added.access_key, "base64url"),
    });
    expect((await postUpload(relay, late)).body.error).toBe("device-list-mismatch");
    await (await connectDevice(relay, laptop)).cut();
  });
});
