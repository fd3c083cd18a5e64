/** When nothing new is taken, and when again: by the disk, and by the database's own word. */
import { expect, it } from "vitest";

import { createStoragePressure } from "../../../src/relay/delivery/storage-pressure.ts";
import { createManualClock } from "../../support/manual-clock.ts";

function pressureOver(disk: { free: number | undefined }, reserveBytes = 800) {
  const clock = createManualClock();
  const changes: boolean[] = [];
  const storage = createStoragePressure({
    freeBytes: () => Promise.resolve(disk.free),
    reserveBytes,
    clock,
    onChange: (full) => changes.push(full),
  });
  return { storage, clock, changes };
}

it("O20: is full below the reserve, and has room an eighth above it, told once each", async () => {
  const disk = { free: 800 };
  const { storage, clock, changes } = pressureOver(disk);
  await storage.start();
  expect(storage.isFull()).toBe(false);
  disk.free = 799;
  await clock.advance(5_000);
  expect(storage.isFull()).toBe(true);
  disk.free = 899;
  await clock.advance(5_000);
  expect(storage.isFull()).toBe(true);
  disk.free = 900;
  await clock.advance(5_000);
  expect(storage.isFull()).toBe(false);
  expect(storage.freeBytes()).toBe(900);
  expect(changes).toEqual([true, false]);
  storage.close();
  expect(clock.pending()).toBe(0);
});

it("believes a database that says that its disk is full for 30 s, whatever the disk looks like", async () => {
  const { storage, clock, changes } = pressureOver({ free: undefined });
  await storage.start();
  storage.noteFull();
  await clock.advance(29_999);
  expect(storage.isFull()).toBe(true);
  await clock.advance(5_001);
  expect(storage.isFull()).toBe(false);
  expect(changes).toEqual([true, false]);
  storage.close();
});

it("asks nothing with a reserve of 0", async () => {
  const { storage } = pressureOver({ free: 1 }, 0);
  await storage.start();
  expect(storage.isFull()).toBe(false);
  expect(storage.freeBytes()).toBeUndefined();
  storage.close();
});
