import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { deviceViews } from "../../../src/device/identity/devices.ts";
import { grantLink } from "../../../src/device/identity/grant-link.ts";
import { keepAccount, ownIdentity } from "../../../src/device/identity/keys.ts";
import { newestList } from "../../../src/device/identity/lists.ts";
import { offerLink, type OfferLinkParts } from "../../../src/device/identity/offer-link.ts";
import { isOwedSync } from "../../../src/device/identity/sync.ts";
import { getOwnAccount } from "../../../src/device/store/identity.ts";
import { createRelayTransport } from "../../../src/device/transport/relay-client.ts";
import type { RelayTransport } from "../../../src/device/transport/port.ts";
import type { Relay } from "../../../src/relay/index.ts";
import { idText } from "../../../src/shared/ids.ts";
import { systemRng } from "../../../src/shared/rng.ts";
import { befriend, memoryStore } from "./identity-world.ts";
import { createPerson, failureOf, valueOf } from "../../support/people.ts";
import { createTestDatabase } from "../../support/postgres.ts";
import { startRelay } from "../../support/relay.ts";
import { seededRng } from "../../support/seeded-rng.ts";
import {
  type Admin,
  adminAt,
  comeOnline,
  hastyClock,
  newcomer,
  refreshBundle,
} from "./linking-world.ts";
import { queued } from "./sync-world.ts";

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

let transport: RelayTransport;
const open: AsyncDisposable[] = [];
afterEach(async () => {
  for (const each of open.splice(0)) await each[Symbol.asyncDispose]();
});
async function admin(): Promise<Admin> {
  transport = createRelayTransport({ clock: hastyClock, rng: systemRng });
  open.push(transport);
  return await adminAt(relay, transport);
}
const wishes = () => ({ relayOrigin: relay.origin, deviceName: "Tablet" });

describe("linking over a real relay", () => {
  it("makes the new device one of the account, and serves it people and history", async () => {
    const alice = await admin();
    befriend(alice, createPerson(seededRng("bob")));
    const tablet = newcomer(transport);
    const offer = valueOf(await offerLink(tablet, wishes()));
    expect(offer.code).toMatch(/^pixie-link:/);
    const grant = valueOf(await grantLink(alice.parts, offer.code));
    expect(grant.digits).toMatch(/^\d{8}$/);
    expect(grant.newDeviceName).toBe("Tablet");
    expect((await offer.admitted).ok).toBe(true);
    expect(tablet.store.read(getOwnAccount)).toBeUndefined();
    const typed = `${grant.digits.slice(0, 4)} ${grant.digits.slice(4)}`;
    const identity = valueOf(await offer.enterDigits(typed));
    expect(identity).toEqual({
      aik: alice.own.aikText,
      accountName: alice.own.accountName,
      deviceId: identity.deviceId,
      deviceName: "Tablet",
      admin: false,
      relayOrigin: relay.origin,
      listVersion: 2,
    });
    await comeOnline(transport, tablet.store);
    const view = valueOf(await grant.completed);
    expect(view).toMatchObject({
      deviceId: identity.deviceId,
      state: "active",
      hasPrekey: true,
    });
    const own = tablet.store.read(ownIdentity);
    expect(own).toMatchObject({
      aikKey: undefined,
      accessKey: alice.own.accessKey,
      accountMailbox: alice.own.accountMailbox,
    });
    expect(tablet.store.read((tx) => newestList(tx, alice.own.aikText)?.hash)).toEqual(
      alice.store.read((tx) => newestList(tx, alice.own.aikText)?.hash),
    );
    expect(alice.store.read((tx) => isOwedSync(tx, identity.deviceId))).toBe(false);
    expect(alice.store.read(queued).map((row) => row.typeTag)).toContain(10);
    expect(alice.changes()).toBe(2);
  });

  it("wrong digits burn it: nothing is signed, and the code is used up on both sides", async () => {
    const alice = await admin();
    const tablet = newcomer(transport);
    const offer = valueOf(await offerLink(tablet, wishes()));
    const grant = valueOf(await grantLink(alice.parts, offer.code));
    await offer.admitted;
    const wrong = grant.digits === "00000000" ? "00000001" : "00000000";
    expect(failureOf(await offer.enterDigits(wrong))).toBe("link-refused");
    expect(failureOf(await grant.completed)).toBe("link-burned");
    expect(failureOf(await offer.enterDigits(grant.digits))).toBe("link-burned");
    expect(tablet.store.read(getOwnAccount)).toBeUndefined();
    expect(alice.store.read(deviceViews)).toHaveLength(1);
    expect(failureOf(await grantLink(alice.parts, offer.code))).toBe("link-taken");
  });

  it("a second admin that reads the same code comes too late", async () => {
    const [alice, eve] = [await admin(), await adminAt(relay, transport)];
    const offer = valueOf(await offerLink(newcomer(transport), wishes()));
    const grant = valueOf(await grantLink(alice.parts, offer.code));
    expect(failureOf(await grantLink(eve.parts, offer.code))).toBe("link-taken");
    await grant.cancel();
    expect(failureOf(await grant.completed)).toBe("link-cancelled");
  });

  it("digits of a stranger's code do not admit to the account that one meant", async () => {
    const [alice, eve] = [await admin(), await adminAt(relay, transport)];
    const tablet = newcomer(transport);
    const offer = valueOf(await offerLink(tablet, wishes()));
    // Eve answers first; Alice's user types what Alice's screen would show for another code.
    const grant = valueOf(await grantLink(eve.parts, offer.code));
    await offer.admitted;
    const other = valueOf(await offerLink(newcomer(transport), wishes()));
    const meant = valueOf(await grantLink(alice.parts, other.code));
    expect(failureOf(await offer.enterDigits(meant.digits))).toBe("link-refused");
    expect(failureOf(await grant.completed)).toBe("link-burned");
    expect(tablet.store.read(getOwnAccount)).toBeUndefined();
    await meant.cancel();
    await meant.completed;
  });

  it("builds on the list of another admin device that was faster", async () => {
    const alice = await admin();
    // A second admin's store is a copy that has not seen what the first one signs.
    const late = adminCopy(alice);
    const join = async (parts: Admin["parts"], device: OfferLinkParts): Promise<void> => {
      const offer = valueOf(await offerLink(device, wishes()));
      const grant = valueOf(await grantLink(parts, offer.code));
      await offer.admitted;
      valueOf(await offer.enterDigits(grant.digits));
      await comeOnline(transport, device.store);
      valueOf(await grant.completed);
    };
    const [first, second] = [newcomer(transport), newcomer(transport)];
    await join(alice.parts, first);
    await join(late, second);
    const list = second.store.read((tx) => newestList(tx, alice.own.aikText));
    expect(list).toMatchObject({ version: 3 });
    expect(list?.entries.map((entry) => idText(entry.deviceId))).toContain(
      first.store.read((tx) => idText(ownIdentity(tx)?.deviceId ?? new Uint8Array())),
    );
  });
});

/** Parts of an admin whose store knows the account as it was registered, and nothing since. */
function adminCopy(alice: Admin): Admin["parts"] {
  const store = memoryStore();
  store.write((tx) => keepAccount(tx, alice.created, Date.now()));
  return { ...alice.parts, store, refreshOwnBundle: () => refreshBundle(transport, store) };
}
