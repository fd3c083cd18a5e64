import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { prepareDataFolder } from "../../../src/relay/db/data-folder.ts";

describe("the relay's data folder", () => {
  let root: string;
  beforeEach(() => {
    root = mkdtempSync(path.join(tmpdir(), "pixie-data-folder-"));
  });
  afterEach(() => rmSync(root, { recursive: true, force: true }));

  it("is private, and the folders made on the way to it can be passed through", () => {
    const above = path.join(root, "lib");
    const folder = path.join(above, "pixie", "relay");
    expect(prepareDataFolder(folder, undefined)).toEqual({ ok: true, value: undefined });
    expect(statSync(folder).mode & 0o777).toBe(0o700);
    for (const parent of [above, path.dirname(folder)]) {
      // As far as the umask of whoever runs this allows.
      expect(statSync(parent).mode & 0o777).toBe(0o777 & ~process.umask());
    }
  });
});
