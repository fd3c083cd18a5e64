import { describe, expect, it } from "vitest";
import { grantLink } from "../../../src/device/identity/grant-link.ts";
import { learnLists, newestList } from "../../../src/device/identity/lists.ts";
import { offerLink } from "../../../src/device/identity/offer-link.ts";
import { isOwedSync } from "../../../src/device/identity/sync.ts";
import { getOwnAccount } from "../../../src/device/store/identity.ts";
import { parseDeviceList } from "../../../src/shared/crypto/device-list.ts";
import { err } from "../../../src/shared/result.ts";
import { refusal } from "../../../src/shared/wire/errors.ts";
import { createManualClock } from "../../support/manual-clock.ts";
import { failureOf, valueOf } from "../../support/people.ts";
import {
  adminWith,
  conflict,
  fakeRendezvous,
  lost,
  newcomer,
  until,
  wishes,
} from "./linking-world.ts";

const minuteMs = 60_000;
const rateLimited = {
  type: "refused",
  refusal: refusal("rate-limited", "slower", { retryAfterMs: 10 }),
} as const;

describe("time and networks", () => {
  it("everything ends ten minutes after it began, and no timer stays", async () => {
    const clock = createManualClock(Date.now());
    const rendezvous = fakeRendezvous();
    const offer = valueOf(await offerLink(newcomer(rendezvous, clock), wishes));
    const grant = valueOf(await grantLink(adminWith(rendezvous, { clock }).parts, offer.code));
    await until(clock, () => rendezvous.calls.includes("get 3"));
    const silent = fakeRendezvous();
    const alone = valueOf(await offerLink(newcomer(silent, clock), wishes));
    await clock.advance(10 * minuteMs - 1);
    let ended = false;
    void alone.admitted.then(() => {
      ended = true;
    });
    await clock.advance(0);
    expect(ended).toBe(false);
    await clock.advance(1);
    expect(failureOf(await alone.admitted)).toBe("link-timeout");
    expect(failureOf(await grant.completed)).toBe("link-timeout");
    expect(clock.pending()).toBe(0);
  });

  it("a late step has only what is left of the ten minutes", async () => {
    const clock = createManualClock(Date.now());
    const rendezvous = fakeRendezvous();
    const offer = valueOf(await offerLink(newcomer(rendezvous, clock), wishes));
    const admin = createManualClock(Date.now());
    const granted = adminWith(rendezvous, { clock: admin });
    const grant = valueOf(await grantLink(granted.parts, offer.code));
    await clock.advance(9 * minuteMs);
    await offer.admitted;
    const entered = offer.enterDigits(grant.digits);
    await clock.advance(minuteMs);
    expect(failureOf(await entered)).toBe("link-timeout");
    expect(clock.pending()).toBe(0);
    await grant.cancel();
    await admin.advance(0);
    expect(failureOf(await grant.completed)).toBe("link-cancelled");
  });

  it("a write whose answer got lost counts as done when the box holds it", async () => {
    const rendezvous = fakeRendezvous();
    const alice = adminWith(rendezvous);
    for (let box = 1; box <= 4; box++) rendezvous.failures.set(`put ${box}`, [lost]);
    const offer = valueOf(await offerLink(newcomer(rendezvous), wishes));
    const grant = valueOf(await grantLink(alice.parts, offer.code));
    await offer.admitted;
    expect((await offer.enterDigits(grant.digits)).ok).toBe(true);
    await grant.cancel();
    await grant.completed;
    expect(rendezvous.calls.filter((call) => call === "put 2")).toHaveLength(2);
  });

  it("goes on through a network that comes and goes, and a relay that asks for patience", async () => {
    const rendezvous = fakeRendezvous();
    const alice = adminWith(rendezvous);
    for (let box = 1; box <= 4; box++) {
      rendezvous.failures.set(`get ${box}`, [lost, rateLimited, lost]);
    }
    const offer = valueOf(await offerLink(newcomer(rendezvous), wishes));
    const grant = valueOf(await grantLink(alice.parts, offer.code));
    await offer.admitted;
    expect((await offer.enterDigits(grant.digits)).ok).toBe(true);
    await grant.cancel();
    await grant.completed;
  });

  it("ends at once on an answer that no waiting cures", async () => {
    const rendezvous = fakeRendezvous();
    const noRelay = { type: "protocol", reason: "no pixie relay" } as const;
    rendezvous.failures.set("put 1", [noRelay]);
    expect(failureOf(await offerLink(newcomer(rendezvous), wishes))).toBe("protocol");
    rendezvous.failures.set("get 2", [noRelay]);
    const offer = valueOf(await offerLink(newcomer(rendezvous), wishes));
    expect(failureOf(await offer.admitted)).toBe("protocol");
  });

  it("a list whose acceptance got lost is found in the bundle, and is not signed twice", async () => {
    const rendezvous = fakeRendezvous();
    const proposals: Uint8Array[] = [];
    const alice = adminWith(rendezvous, {
      updateList: ({ deviceList }) => {
        proposals.push(deviceList);
        return Promise.resolve(err(lost));
      },
      refreshOwnBundle: () => {
        const lists = proposals.map((record) => valueOf(parseDeviceList(record)));
        alice.store.write((tx) => learnLists(tx, alice.own.aikText, lists));
        return Promise.resolve();
      },
    });
    const offer = valueOf(await offerLink(newcomer(rendezvous), wishes));
    const grant = valueOf(await grantLink(alice.parts, offer.code));
    await offer.admitted;
    const identity = valueOf(await offer.enterDigits(grant.digits));
    expect(identity.listVersion).toBe(2);
    expect(proposals).toHaveLength(1);
    expect(alice.store.read((tx) => isOwedSync(tx, identity.deviceId))).toBe(true);
    await grant.cancel();
    await grant.completed;
  });

  it("a relay that never takes the list ends it without telling the device anything", async () => {
    const rendezvous = fakeRendezvous();
    const alice = adminWith(rendezvous, { updateList: () => Promise.resolve(err(conflict)) });
    const tablet = newcomer(rendezvous);
    const offer = valueOf(await offerLink(tablet, wishes));
    const grant = valueOf(await grantLink(alice.parts, offer.code));
    await offer.admitted;
    expect(failureOf(await offer.enterDigits(grant.digits))).toBe("link-refused");
    expect(failureOf(await grant.completed)).toBe("conflict");
    expect(alice.store.read((tx) => newestList(tx, alice.own.aikText)?.version)).toBe(1);
    expect(tablet.store.read(getOwnAccount)).toBeUndefined();
  });
});
