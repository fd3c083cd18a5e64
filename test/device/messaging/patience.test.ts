import { afterEach, describe, expect, it } from "vitest";
import { countOpenOutbox } from "../../../src/device/store/outbox.ts";
import { dayMs } from "../../../src/shared/clock.ts";
import {
  type DeviceWorld,
  deviceWorld,
  know,
  pass,
  receiptOf,
  send,
  uploadsFor,
  view,
} from "../../support/device-world.ts";
import { at, createPerson, type TestPerson } from "../../support/people.ts";
import { refuses, storesAll } from "../../support/played-relay.ts";
import { seededRng } from "../../support/seeded-rng.ts";

const rng = seededRng("patience");
const alone = createPerson(rng);
const bob = createPerson(rng, 2);
const minuteMs = 60_000;
let worlds: DeviceWorld[] = [];

afterEach(() => {
  for (const world of worlds) world.close();
  worlds = [];
});

function newWorld(owner: TestPerson, ...contacts: readonly TestPerson[]): DeviceWorld {
  const world = deviceWorld(owner);
  worlds.push(world);
  for (const person of contacts) know(world, person);
  return world;
}

describe("patience", () => {
  it("seals again what a device overtook, under the same id, at most 8 times, then says so", async () => {
    const solo = { ...bob, devices: [at(bob.devices, 0)] };
    const one: TestPerson = { ...solo, list: bob.list };
    const world = newWorld(alone, one);
    const lost = await send(world, one, "lost");
    for (let round = 0; round < 12; round++) {
      const newer = await send(world, one, `newer ${round}`);
      await world.deliver(receiptOf(one, alone, newer));
      await pass(world, 7 * 60 * minuteMs, 60 * minuteMs);
    }
    const again = view(world, lost);
    expect(again?.state).toBe("accepted");
    expect(again?.reason).toContain("sealed 8 times more");
    const sealings = uploadsFor(world, one).length - 12;
    expect(sealings).toBe(9);
  });

  it("leaves alone what is simply not read yet", async () => {
    const world = newWorld(alone, bob);
    await send(world, bob);
    await pass(world, 2 * dayMs, 60 * minuteMs);
    expect(world.uploads).toHaveLength(1);
  });

  it("ends after 30 days, and says so", async () => {
    const world = newWorld(alone, bob);
    const messageId = await send(world, bob);
    await pass(world, 30 * dayMs, dayMs);
    expect(view(world, messageId)).toMatchObject({ state: "expired" });
    expect(world.parts.store.read(countOpenOutbox)).toBe(0);
  });

  it("with a key that is no longer right: keeps trying, seldom, and tells why", async () => {
    const world = newWorld(alone, bob);
    world.answer = () => refuses("token-invalid");
    const messageId = await send(world, bob);
    await pass(world, dayMs, 30 * minuteMs);
    expect(view(world, messageId)).toMatchObject({
      state: "queued",
      reason: expect.stringContaining("key has changed"),
    });
    // An hour at most between tries, half of it on average.
    expect(world.uploads.length).toBeGreaterThan(15);
    expect(world.uploads.length).toBeLessThan(120);
    await pass(world, 7 * dayMs, 12 * 60 * minuteMs);
    expect(view(world, messageId)?.reason).toContain("new invite");
  });

  it("waits as long as the relay asks", async () => {
    const world = newWorld(alone, bob);
    world.answer = () => refuses("overloaded", 90_000);
    await send(world, bob);
    await pass(world, 89_000, 1_000);
    expect(world.uploads).toHaveLength(1);
    world.answer = storesAll;
    await pass(world, 10_000, 1_000);
    expect(world.uploads).toHaveLength(2);
    expect(at(world.uploads, 1).bytes).toEqual(at(world.uploads, 0).bytes);
  });
});
