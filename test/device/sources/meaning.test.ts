/** Search by meaning, over a store in memory and an embedder that counts words. */
import { expect, it } from "vitest";

import { createMeaning, fuseRanks, type Meaning } from "../../../src/device/sources/meaning.ts";
import { removeNote, saveNote, searchNotes } from "../../../src/device/sources/notebook.ts";
import { createVectorScan, toBytes } from "../../../src/device/sources/vector-scan.ts";
import { openInMemory } from "../../../src/device/store/open-folder.ts";
import type { DeviceStore } from "../../../src/device/store/sqlite.ts";
import { countVectors } from "../../../src/device/store/vectors.ts";
import { expectOk } from "../../support/pair.ts";
import { createWordEmbedder } from "../../support/word-embedder.ts";

const { signal } = new AbortController();

function open(withEmbedder = true): { readonly store: DeviceStore; readonly meaning: Meaning } {
  const { store } = expectOk(openInMemory());
  const embedder = withEmbedder ? createWordEmbedder() : undefined;
  const meaning = createMeaning({
    store,
    embedder: async () => embedder,
    nowMs: () => 0,
    onUnread: () => undefined,
  });
  return { store, meaning };
}

function note(store: DeviceStore, text: string, row?: number): number {
  const written = { text, writer: "owner", ...(row === undefined ? {} : { row }) } as const;
  return expectOk(store.write((tx) => saveNote(tx, written, 1))).row;
}

const vectors = (store: DeviceStore): number => store.read((tx) => countVectors(tx, "notebook"));

it("finds the entries that are nearest, and reads new ones before it looks", async () => {
  const { store, meaning } = open();
  note(store, "the whale swims in the sea");
  const gate = note(store, "gate code of the garden house");
  const [first] = await meaning.nearest("notebook", "garden house gate", signal);
  expect(first?.row).toBe(gate);
  const later = note(store, "garden house gate");
  expect((await meaning.nearest("notebook", "garden house gate", signal))[0]?.row).toBe(later);
});

it("forgets an entry's vector with the entry, and reads an edited one again", async () => {
  const { store, meaning } = open();
  const row = note(store, "gate code of the garden house");
  const other = note(store, "the whale swims in the sea");
  expect(await meaning.read(1_000, signal)).toBe(true);
  expect(vectors(store)).toBe(2);
  note(store, "a blue whale", row);
  expect(vectors(store)).toBe(1);
  expect(await meaning.nearest("notebook", "garden house gate", signal)).toEqual([]);
  store.write((tx) => removeNote(tx, other));
  expect(vectors(store)).toBe(1);
  const rows = (await meaning.nearest("notebook", "blue whale", signal)).map((near) => near.row);
  expect(rows).toEqual([row]);
});

it("works by words alone without an embedder", async () => {
  const { store, meaning } = open(false);
  note(store, "gate code of the garden house");
  expect(await meaning.nearest("notebook", "garden house", signal)).toEqual([]);
  expect(vectors(store)).toBe(0);
  expect(store.read((tx) => searchNotes(tx, "gate", 5))?.total).toBe(1);
});

it("adds entries near in meaning to those that hold the words", async () => {
  const { store } = open();
  const worded = note(store, "gate code");
  const near = note(store, "how to get into the yard");
  note(store, "something else");
  const found = store.read((tx) => searchNotes(tx, "gate", 5, [{ row: near, score: 0.6 }]));
  expect(found?.rows.map(({ row }) => row)).toEqual([worded, near]);
  expect(found?.total).toBe(2);
});

it("a stopped reading stores nothing more", async () => {
  const { store, meaning } = open();
  note(store, "gate code");
  await meaning.read(1_000, AbortSignal.abort());
  expect(vectors(store)).toBe(0);
});

it("fuses ranks: what both find comes first", () => {
  expect(
    fuseRanks([
      [1, 2, 3],
      [4, 3],
    ]),
  ).toEqual([3, 1, 4, 2]);
  expect(fuseRanks([[], [7]])).toEqual([7]);
});

it("the scan agrees with a plain one within the loss of bytes", () => {
  const dimensions = 16;
  const scan = createVectorScan(dimensions);
  const made = Array.from({ length: 3_000 }, (_, at) =>
    unit(Float32Array.from({ length: dimensions }, (_each, dim) => Math.sin(at * 7 + dim * at))),
  );
  made.forEach((vector, row) => {
    const { bytes, scale } = toBytes(vector);
    scan.add(row, new Uint8Array(bytes.buffer), scale);
  });
  const query = made[17] ?? new Float32Array(dimensions);
  const plain = made.map((vector) =>
    vector.reduce((sum, value, dim) => sum + value * (query[dim] ?? 0), 0),
  );
  const nearest = scan.nearest(query, 10);
  expect(nearest[0]?.score).toBeCloseTo(Math.max(...plain), 1);
  for (const { row, score } of nearest)
    expect(Math.abs(score - (plain[row] ?? 0))).toBeLessThan(0.05);
});

function unit(vector: Float32Array): Float32Array {
  const length = Math.hypot(...vector);
  return length === 0 ? vector : vector.map((value) => value / length);
}
