/** The data folder: created closed, and refused before anything in it changes. */
import type fs from "node:fs";
import {
  chmodSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statfsSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";

import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

import { prepareDataFolder } from "../../../src/device/store/data-folder.ts";

vi.mock("node:fs", async (original) => {
  const real = await original<typeof fs>();
  return { ...real, statfsSync: vi.fn<typeof fs.statfsSync>(real.statfsSync) };
});

let root: string;
beforeEach(() => {
  root = mkdtempSync(path.join(tmpdir(), "pixie-folder-"));
});
afterEach(() => {
  vi.restoreAllMocks();
  vi.mocked(statfsSync).mockReset();
  rmSync(root, { recursive: true, force: true });
});

const modeOf = (file: string): number => statSync(file).mode & 0o777;

describe("prepareDataFolder", () => {
  it("creates the folder and its parents, closed to others", () => {
    const folder = path.join(root, "a", "b");
    expect(prepareDataFolder(folder)).toEqual({ ok: true, value: undefined });
    expect(modeOf(folder)).toBe(0o700);
    expect(modeOf(path.join(root, "a"))).toBe(0o700);
  });

  it("closes an empty folder that is open to others", () => {
    chmodSync(root, 0o755);
    expect(prepareDataFolder(root).ok).toBe(true);
    expect(modeOf(root)).toBe(0o700);
  });

  it("refuses a used folder that is open to others, and changes nothing", () => {
    writeFileSync(path.join(root, "notes.txt"), "mine");
    chmodSync(root, 0o750);
    const prepared = prepareDataFolder(root);
    expect(prepared).toMatchObject({ ok: false, error: { type: "folder-permissions" } });
    expect(prepared).toMatchObject({ error: { message: expect.stringMatching(/0700, got 0750/) } });
    expect(modeOf(root)).toBe(0o750);
    expect(readdirSync(root)).toEqual(["notes.txt"]);
  });

  it("refuses a file where the folder should be", () => {
    const file = path.join(root, "file");
    writeFileSync(file, "");
    expect(prepareDataFolder(file)).toMatchObject({ error: { type: "folder-not-a-folder" } });
    expect(prepareDataFolder(path.join(file, "below"))).toMatchObject({
      error: { type: "folder-not-a-folder" },
    });
  });

  it.runIf(process.platform === "linux")("refuses where no folder can be made, and ends", () => {
    expect(prepareDataFolder("/proc/pixie/device")).toMatchObject({
      ok: false,
      error: { type: "folder-missing-parent", message: expect.stringMatching(/ENOENT/) },
    });
  });

  it("refuses a folder of another user by number", () => {
    const folder = path.join(root, "other");
    expect(prepareDataFolder(folder).ok).toBe(true);
    vi.spyOn(process, "getuid").mockReturnValue(65_534);
    expect(prepareDataFolder(folder)).toMatchObject({
      error: { type: "folder-owner", message: expect.stringContaining("65534") },
    });
  });

  it.runIf(process.platform === "linux").each([
    ["NFS", 0x6969],
    ["CIFS", 0xff534d42],
    ["9P", 0x01021997],
    ["Ceph", 0x00c36400],
  ])("O25: refuses a folder on %s, and says which setting to change", (name, type) => {
    vi.mocked(statfsSync).mockReturnValue(Object.assign(statfsSync(root), { type }));
    expect(prepareDataFolder(root)).toEqual({
      ok: false,
      error: {
        type: "folder-network",
        message: `${root} is on a network file system (${name}): choose a local folder with --data-dir`,
      },
    });
    expect(readdirSync(root)).toEqual([]);
  });
});
