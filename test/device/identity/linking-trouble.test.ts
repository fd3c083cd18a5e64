import { describe, expect, it } from "vitest";
import { deviceViews } from "../../../src/device/identity/devices.ts";
import { grantLink } from "../../../src/device/identity/grant-link.ts";
import { offerLink } from "../../../src/device/identity/offer-link.ts";
import { getOwnAccount } from "../../../src/device/store/identity.ts";
import { createManualClock } from "../../support/manual-clock.ts";
import { at, failureOf, testOrigin, valueOf } from "../../support/people.ts";
import {
  adminWith,
  fakeRendezvous,
  type FakeRendezvous,
  newcomer,
  until,
  wishes,
} from "./linking-world.ts";

/** The box of the one linking that goes on. */
function boxNames(rendezvous: FakeRendezvous): readonly string[] {
  return [...rendezvous.boxes.keys()].map((name) => name.split(" ")[1] ?? "");
}
function boxName(rendezvous: FakeRendezvous, box: number): string {
  const [id] = at([...rendezvous.boxes.keys()], 0).split(" ");
  return `${id} ${box}`;
}
describe("what waits at the relay is not what the code says", () => {
  it("another bundle under the code's id is refused, and nothing is answered", async () => {
    const rendezvous = fakeRendezvous();
    const [real, foreign] = [newcomer(rendezvous), newcomer(rendezvous)];
    const offer = valueOf(await offerLink(real, wishes));
    valueOf(await offerLink(foreign, wishes));
    const [mine, other] = [...rendezvous.boxes.keys()];
    rendezvous.boxes.set(mine ?? "", rendezvous.boxes.get(other ?? "") ?? new Uint8Array());
    const alice = adminWith(rendezvous);
    expect(failureOf(await grantLink(alice.parts, offer.code))).toBe("link-foreign");
    expect(boxNames(rendezvous)).toEqual(["1", "1"]);
    await offer.cancel();
  });

  it("a code with another hash is refused", async () => {
    const rendezvous = fakeRendezvous();
    const offer = valueOf(await offerLink(newcomer(rendezvous), wishes));
    const last = offer.code.slice(-2) === "AA" ? "BA" : "AA";
    const alice = adminWith(rendezvous);
    const outcome = await grantLink(alice.parts, offer.code.slice(0, -2) + last);
    expect(["link-foreign", "link-code"]).toContain(failureOf(outcome));
    expect(boxNames(rendezvous)).toEqual(["1"]);
    await offer.cancel();
  });

  it("a code at another relay is told apart from a slow one, after 20 s", async () => {
    const [here, elsewhere] = [fakeRendezvous(), fakeRendezvous()];
    const clock = createManualClock(Date.now());
    const offer = valueOf(await offerLink(newcomer(elsewhere, clock), wishes));
    const granted = grantLink(adminWith(here, { clock }).parts, offer.code);
    await clock.advance(20_000);
    expect(await granted).toMatchObject({
      ok: false,
      error: { type: "link-absent", message: expect.stringContaining(testOrigin) },
    });
    await offer.cancel();
  });

  it("text that is no code is refused before anything is asked", async () => {
    const rendezvous = fakeRendezvous();
    const alice = adminWith(rendezvous);
    for (const code of ["", "pixie-link:", "pixie-link:AAAA", "pixie-invite:AAAA"]) {
      expect(failureOf(await grantLink(alice.parts, code))).toBe("link-code");
    }
    expect(rendezvous.calls).toEqual([]);
  });
});

describe("somebody between the two devices", () => {
  it("an old last box is not believed: it was made for other digits and another device", async () => {
    const rendezvous = fakeRendezvous();
    const alice = adminWith(rendezvous, {
      refreshOwnBundle: () => Promise.reject(new Error("not reached")),
    });
    const clock = createManualClock(Date.now());
    const tablet = newcomer(rendezvous, clock);
    const offer = valueOf(await offerLink(tablet, wishes));
    const grant = valueOf(
      await grantLink({ ...alice.parts, clock: createManualClock(Date.now()) }, offer.code),
    );
    await until(clock, () => rendezvous.calls.filter((call) => call === "get 2").length > 1);
    await offer.admitted;
    rendezvous.boxes.set(boxName(rendezvous, 4), new Uint8Array(2_000).fill(1));
    expect(failureOf(await offer.enterDigits(grant.digits))).toBe("link-refused");
    expect(tablet.store.read(getOwnAccount)).toBeUndefined();
  });

  it("a box 2 that no admin made is refused before any digits leave the device", async () => {
    const rendezvous = fakeRendezvous();
    const tablet = newcomer(rendezvous);
    const offer = valueOf(await offerLink(tablet, wishes));
    rendezvous.boxes.set(boxName(rendezvous, 2), new Uint8Array(100));
    expect((await offer.admitted).ok).toBe(true);
    expect(failureOf(await offer.enterDigits("12345678"))).toBe("link-stranger");
    expect(boxNames(rendezvous)).toEqual(["1", "2"]);
  });

  it("a second admin's answer is not taken for a lost one of its own", async () => {
    const rendezvous = fakeRendezvous();
    const offer = valueOf(await offerLink(newcomer(rendezvous), wishes));
    const grant = valueOf(await grantLink(adminWith(rendezvous).parts, offer.code));
    expect(failureOf(await grantLink(adminWith(rendezvous).parts, offer.code))).toBe("link-taken");
    await grant.cancel();
    expect(failureOf(await grant.completed)).toBe("link-cancelled");
    await offer.cancel();
  });

  it("the digits may be proved once, whatever came back", async () => {
    const rendezvous = fakeRendezvous();
    const offer = valueOf(await offerLink(newcomer(rendezvous), wishes));
    const grant = valueOf(await grantLink(adminWith(rendezvous).parts, offer.code));
    await offer.admitted;
    await grant.cancel();
    expect(failureOf(await offer.enterDigits(grant.digits))).toBe("link-refused");
    expect(failureOf(await offer.enterDigits(grant.digits))).toBe("link-burned");
    await grant.completed;
  });

  it("a proof is tried once: a box 3 from elsewhere burns the rendezvous", async () => {
    const rendezvous = fakeRendezvous();
    const alice = adminWith(rendezvous);
    const offer = valueOf(await offerLink(newcomer(rendezvous), wishes));
    const grant = valueOf(await grantLink(alice.parts, offer.code));
    rendezvous.boxes.set(boxName(rendezvous, 3), new Uint8Array(72));
    expect(failureOf(await grant.completed)).toBe("link-burned");
    expect(rendezvous.boxes.get(boxName(rendezvous, 4))).toEqual(Uint8Array.of(0));
    expect(alice.store.read(deviceViews)).toHaveLength(1);
    await offer.cancel();
  });
});

describe("what a person does", () => {
  it("digits that are no eight digits may be typed again", async () => {
    const rendezvous = fakeRendezvous();
    const alice = adminWith(rendezvous);
    const tablet = newcomer(rendezvous);
    const offer = valueOf(await offerLink(tablet, wishes));
    expect(failureOf(await offer.enterDigits("12345678"))).toBe("link-not-admitted");
    const grant = valueOf(await grantLink(alice.parts, offer.code));
    await offer.admitted;
    expect(failureOf(await offer.enterDigits("1234"))).toBe("link-digits");
    expect(failureOf(await offer.enterDigits("abcdefgh"))).toBe("link-digits");
    expect((await offer.enterDigits(grant.digits)).ok).toBe(true);
    await grant.cancel();
    await grant.completed;
  });

  it("cancelling on the admin's side ends the other side too", async () => {
    const rendezvous = fakeRendezvous();
    const alice = adminWith(rendezvous);
    const offer = valueOf(await offerLink(newcomer(rendezvous), wishes));
    const grant = valueOf(await grantLink(alice.parts, offer.code));
    await offer.admitted;
    await grant.cancel();
    expect(failureOf(await grant.completed)).toBe("link-cancelled");
    expect(failureOf(await offer.enterDigits(grant.digits))).toBe("link-refused");
  });

  it("cancelling on the new device ends its waits", async () => {
    const offer = valueOf(await offerLink(newcomer(fakeRendezvous()), wishes));
    await offer.cancel();
    expect(failureOf(await offer.admitted)).toBe("link-cancelled");
  });

  it("only an admin device admits, and only a device of nobody joins", async () => {
    const rendezvous = fakeRendezvous();
    const alice = adminWith(rendezvous);
    const tablet = newcomer(rendezvous);
    const offer = valueOf(await offerLink(tablet, wishes));
    expect(failureOf(await grantLink({ ...alice.parts, store: tablet.store }, offer.code))).toBe(
      "not-admin",
    );
    const joining = { ...tablet, store: alice.store };
    expect(failureOf(await offerLink(joining, wishes))).toBe("already-registered");
    expect(failureOf(await offerLink(tablet, { ...wishes, deviceName: "" }))).toBe("device-name");
    await offer.cancel();
  });
});
