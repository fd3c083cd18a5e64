/** Who is told, who looks, and when neither is needed; words travel through a scripted messenger. */
import { expect, it } from "vitest";

import {
  createNeighbours,
  type Neighbours,
  type Topic,
} from "../../../src/relay/delivery/neighbours.ts";
import { pingIntervalMs } from "../../../src/shared/limits.ts";
import { createManualClock, type ManualClock } from "../../support/manual-clock.ts";

interface Side {
  readonly name: string;
  readonly neighbours: Neighbours;
}

/** Processes that hear each other and themselves, and a log of what they did. */
function neighbourhood(): {
  readonly clock: ManualClock;
  readonly log: string[];
  readonly join: (name: string) => Side;
  readonly leave: (side: Side) => void;
  reach: boolean;
} {
  const clock = createManualClock();
  const log: string[] = [];
  const sides: Side[] = [];
  const world = {
    clock,
    log,
    reach: true,
    join: (name: string): Side => {
      const neighbours = createNeighbours({
        tell: async (topic) => {
          log.push(`${name} tells ${topic}`);
          if (!world.reach) return false;
          for (const side of sides) side.neighbours.heard(topic);
          return true;
        },
        look: async () => void log.push(`${name} looks`),
        forget: () => void log.push(`${name} forgets`),
        clock,
        onFailure: (cause) => log.push(`${name} failed: ${String(cause)}`),
      });
      const side = { name, neighbours };
      sides.push(side);
      neighbours.connected();
      return side;
    },
    leave: (side: Side) => {
      side.neighbours.close();
      sides.splice(sides.indexOf(side), 1);
    },
  };
  return world;
}

it("a relay that is alone says nothing but its beat, and does not answer its own words", async () => {
  const world = neighbourhood();
  const a = world.join("a");
  await world.clock.advance(0);
  expect(world.log).toEqual(["a forgets", "a tells mailboxes", "a looks"]);
  world.log.length = 0;
  for (let batch = 0; batch < 100; batch++) a.neighbours.announce("mailboxes");
  await world.clock.advance(0);
  expect(world.log).toEqual([]);
  await world.clock.advance(pingIntervalMs);
  expect(world.log).toEqual(["a tells mailboxes", "a looks"]);
});

it("a newcomer is answered once, and each looks at what the other did before", async () => {
  const world = neighbourhood();
  world.join("a");
  await world.clock.advance(0);
  world.log.length = 0;
  world.join("b");
  await world.clock.advance(0);
  expect(world.log.filter((line) => line.includes("tells")).toSorted()).toEqual([
    "a tells mailboxes",
    "b tells mailboxes",
    "b tells mailboxes",
  ]);
  expect(world.log).toContain("a looks");
  expect(world.log.filter((line) => line === "b looks").length).toBeGreaterThanOrEqual(2);
});

it("many batches in one go become one word, one more, and a look at the other side only", async () => {
  const world = neighbourhood();
  const a = world.join("a");
  world.join("b");
  await world.clock.advance(0);
  world.log.length = 0;
  for (let batch = 0; batch < 100; batch++) a.neighbours.announce("mailboxes");
  await world.clock.advance(0);
  expect(world.log.filter((line) => line === "a tells mailboxes")).toHaveLength(2);
  expect(world.log).toContain("b looks");
  expect(world.log).not.toContain("a looks");
});

it("a change of recipients makes the others forget, and only them", async () => {
  const world = neighbourhood();
  const a = world.join("a");
  world.join("b");
  await world.clock.advance(0);
  world.log.length = 0;
  a.neighbours.announce("recipients");
  await world.clock.advance(0);
  expect(world.log).toEqual(["a tells recipients", "b forgets"]);
});

it("a lost word costs no more than the time to the next beat", async () => {
  const world = neighbourhood();
  const a = world.join("a");
  const b = world.join("b");
  await world.clock.advance(0);
  world.reach = false;
  a.neighbours.announce("mailboxes");
  await world.clock.advance(0);
  world.log.length = 0;
  await world.clock.advance(pingIntervalMs);
  expect(world.log).toContain("b looks");
  // A word that was not told is not waited for: the next foreign one leads to a look at once.
  world.reach = true;
  world.log.length = 0;
  b.neighbours.announce("mailboxes");
  await world.clock.advance(0);
  expect(world.log).toContain("a looks");
});

it("whoever is silent for three beats is gone, and batches are not told any more", async () => {
  const world = neighbourhood();
  const a = world.join("a");
  const b = world.join("b");
  await world.clock.advance(0);
  world.leave(b);
  await world.clock.advance(3 * pingIntervalMs);
  world.log.length = 0;
  a.neighbours.announce("mailboxes");
  await world.clock.advance(0);
  expect(world.log).toEqual(["a tells mailboxes"]);
  await world.clock.advance(pingIntervalMs);
  world.log.length = 0;
  a.neighbours.announce("mailboxes");
  await world.clock.advance(0);
  expect(world.log).toEqual([]);
});

it("a look that fails is told and does not end the neighbourhood", async () => {
  const clock = createManualClock();
  let looks = 0;
  const failures: unknown[] = [];
  const topics: Topic[] = [];
  const neighbours = createNeighbours({
    tell: async (topic) => {
      topics.push(topic);
      return true;
    },
    look: async () => {
      looks += 1;
      throw new Error("gone");
    },
    forget: () => {},
    clock,
    onFailure: (cause) => failures.push(cause),
  });
  neighbours.connected();
  await clock.advance(pingIntervalMs);
  expect([looks, failures.length]).toEqual([2, 2]);
  neighbours.close();
  await clock.advance(10 * pingIntervalMs);
  expect(looks).toBe(2);
});
