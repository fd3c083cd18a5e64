/** The folder of the embedded database: made private, and refused where a database loses what it wrote. */
import type fs from "node:fs";
import { chmodSync, mkdtempSync, rmSync, statfsSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";

import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

import { inspectDataFolder, prepareDataFolder } from "../../../src/relay/db/data-folder.ts";

vi.mock("node:fs", async (original) => {
  const real = await original<typeof fs>();
  return { ...real, statfsSync: vi.fn<typeof fs.statfsSync>(real.statfsSync) };
});

describe("the relay's data folder", () => {
  let root: string;
  beforeEach(() => {
    root = mkdtempSync(path.join(tmpdir(), "pixie-data-folder-"));
  });
  afterEach(() => {
    vi.mocked(statfsSync).mockReset();
    rmSync(root, { recursive: true, force: true });
  });

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

  it.runIf(process.platform === "linux")("is refused where no folder can be made", () => {
    expect(prepareDataFolder("/proc/pixie/relay", undefined)).toMatchObject({
      error: { message: expect.stringMatching(/^cannot use data_dir .*ENOENT/) },
    });
  });

  it.runIf(process.platform === "linux").each([
    ["NFS", 0x6969],
    ["SMB2", 0xfe534d42],
    ["9P", 0x01021997],
  ])("O25: is refused on %s, when it starts and by doctor, with what to do", (name, type) => {
    vi.mocked(statfsSync).mockReturnValue(Object.assign(statfsSync(root), { type }));
    const told = `data_dir ${root} is on ${name}, which loses what a database wrote: use a local disk, or set DATABASE_URL`;
    chmodSync(root, 0o711);
    expect(inspectDataFolder(root)).toBe(told);
    expect(prepareDataFolder(root, undefined)).toEqual({
      ok: false,
      error: { type: "data-folder", message: told },
    });
  });
});
