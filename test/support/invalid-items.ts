/**
 * A catalogue of items that must not open, one for every way an item can be wrong, each with the
 * code of the check that has to refuse it. The tests of opening walk through it, and the vectors
 * publish it.
 */
import type { Rng } from "../../src/shared/rng.ts";
import { invalidBytes } from "./invalid-bytes.ts";
import { invalidPayloads } from "./invalid-payloads.ts";
import { createWorld, type InvalidItem } from "./invalid-world.ts";
import type { TestPerson } from "./people.ts";

/** Everything that the catalogue is about. */
export interface InvalidItems {
  readonly alice: TestPerson;
  /** Opens with the first device. */
  readonly bob: TestPerson;
  readonly carol: TestPerson;
  readonly cases: readonly InvalidItem[];
}

/** Builds the catalogue. */
export function invalidItems(rng: Rng): InvalidItems {
  const world = createWorld(rng);
  const { alice, bob, carol } = world;
  return { alice, bob, carol, cases: [...invalidBytes(world), ...invalidPayloads(world)] };
}
