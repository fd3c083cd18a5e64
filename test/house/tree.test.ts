/**
 * What holds for every file of the repository, whoever wrote it: size, no path of anybody's
 * machine, a lock file that any registry can serve, one version.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

import { describe, expect, it } from "vitest";

import { softwareVersion } from "../../src/shared/wire/version.ts";

const codeFolders = ["src", "test", "demo", "bench", "scripts"];
const otherFolders = ["docs", "migrations", "stubs", ".ci"];
/** A source file longer than this owns more than one thing. Units: lines. */
const maxLines = 300;
/** Top folders of machines that this was written on; spelled so that this line is no finding. */
const machinePath = new RegExp(
  `(^|[^A-Za-z0-9_.])/(${["work", "farm", "root", "tmp"].join("|")})/`,
);

describe("the tree", () => {
  it(`has no source file over ${maxLines} lines`, () => {
    const sources = filesOf(codeFolders).filter((path) => /\.[cm]?[jt]sx?$/.test(path));
    const long = sources.filter((path) => read(path).split("\n").length - 1 > maxLines);
    expect(sources.length).toBeGreaterThan(20);
    expect(long).toEqual([]);
  });

  it("names no path of a machine that it was written on", () => {
    const found = [...filesOf([...codeFolders, ...otherFolders]), ...rootFiles()].flatMap((path) =>
      read(path)
        .split("\n")
        .flatMap((line, index) => (machinePath.test(line) ? [`${path}:${index + 1}`] : [])),
    );
    expect(found).toEqual([]);
  });

  it("tells the machine paths apart from others", () => {
    const root = ["", "root", ""].join("/");
    expect([`"${root}x"`, `at ${root}x`].filter((line) => !machinePath.test(line))).toEqual([]);
    expect([`src${root}x`, `.${root}x`].filter((line) => machinePath.test(line))).toEqual([]);
  });
});

describe("the lock file", () => {
  it("names no download host, so that any registry can serve it", () => {
    const resolved = [...read("package-lock.json").matchAll(/"resolved": "([^"]*)"/g)];
    expect(resolved.map(([, where]) => where).filter((where) => where?.includes(":"))).toEqual([]);
    expect(read(".npmrc")).not.toContain("://");
  });

  it("holds every package that its packages name, for each platform", () => {
    // npm leaves out an optional package that it cannot find, and npm ci then refuses the lock.
    const packages = readLock();
    const missing = [...packages].flatMap(([path, entry]) =>
      Object.keys({ ...entry.dependencies, ...entry.optionalDependencies })
        .filter((name) => !isLocked(packages, path, name))
        .map((name) => `${name}, named by ${path}`),
    );
    expect(packages.size).toBeGreaterThan(100);
    expect(missing).toEqual([]);
  });

  it("describes this version of this package", () => {
    const [manifest, lock] = ["package.json", "package-lock.json"].map(readVersion);
    expect(lock).toBe(manifest);
  });
});

it("says one version everywhere", () => {
  expect(softwareVersion).toBe(readVersion("package.json"));
});

function read(path: string): string {
  return readFileSync(path, "utf8");
}

function readVersion(path: string): unknown {
  const manifest: { readonly version?: unknown } = JSON.parse(read(path));
  return manifest.version;
}

interface Locked {
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

function readLock(): ReadonlyMap<string, Locked> {
  const lock: { readonly packages: Readonly<Record<string, Locked>> } = JSON.parse(
    read("package-lock.json"),
  );
  return new Map(Object.entries(lock.packages));
}

/** Looks a name up as Node does: beside the one who names it, then outwards. */
function isLocked(packages: ReadonlyMap<string, Locked>, from: string, name: string): boolean {
  const found = packages.has(`${from === "" ? "" : `${from}/`}node_modules/${name}`);
  if (found || from === "") return found;
  const outwards = from.slice(0, Math.max(0, from.lastIndexOf("node_modules/") - 1));
  return isLocked(packages, outwards, name);
}

function rootFiles(): string[] {
  return readdirSync(".", { withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name !== "package-lock.json")
    .map((entry) => entry.name);
}

/** Files below the folders that exist; a folder may be missing only while nothing needs it. */
function filesOf(folders: readonly string[]): string[] {
  const present = new Set(readdirSync("."));
  return folders
    .filter((folder) => present.has(folder))
    .flatMap((folder) =>
      readdirSync(folder, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map((entry) => join(entry.parentPath, entry.name)),
    );
}
