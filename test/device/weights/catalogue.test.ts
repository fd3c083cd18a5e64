/**
 * The catalogue as data, and the files that were fetched by it: where the cache has them, they are
 * what it says.
 */
import { expect, it } from "vitest";

import { catalogue, hubUrl } from "../../../src/device/weights/catalogue.ts";
import { hashOf } from "../../../src/device/weights/file-hash.ts";
import { modelFile } from "../../support/model-files.ts";

const { signal } = new AbortController();

it("has one entry a name and a file, with addresses below the hub", () => {
  expect(new Set(catalogue.map(({ name }) => name)).size).toBe(catalogue.length);
  expect(new Set(catalogue.map(({ file }) => file)).size).toBe(catalogue.length);
  const files = catalogue.flatMap(({ origin, ...entry }) =>
    origin.type === "hub"
      ? [{ ...entry, path: origin.path }]
      : [origin.weights, origin.tokenizer, { ...entry, path: "" }],
  );
  for (const { path, bytes, sha256 } of files) {
    expect(new URL(path, hubUrl).href.startsWith(hubUrl)).toBe(true);
    expect(bytes).toBeGreaterThan(100_000);
    expect(sha256).toMatch(/^[0-9a-f]{64}$/);
  }
});

it.each(["minilm", "smollm2"] as const)(
  "pins the bytes of %s as they were fetched",
  async (name) => {
    const file = await modelFile(name, "the catalogue's hashes");
    const pinned = catalogue.find((entry) => entry.name === name);
    // Made by this project's own writer from what its authors publish, or fetched as it is.
    expect(file === undefined ? pinned?.sha256 : await hashOf(file, signal)).toBe(pinned?.sha256);
  },
);
