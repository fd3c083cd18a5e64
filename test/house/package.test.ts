/**
 * Builds the package as `npm ci` does and looks at it as someone who installs it would: every
 * target that package.json names exists, and the command starts. Built into a folder of its own,
 * inside node_modules so that imports resolve; the dist of the checkout is left alone.
 */
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";

import { afterAll, beforeAll, expect, it } from "vitest";

interface Manifest {
  readonly version: string;
  readonly bin: Readonly<Record<string, string>>;
  readonly exports: Readonly<Record<string, Readonly<Record<string, string>>>>;
  readonly files: readonly string[];
}

const manifest: Manifest = JSON.parse(readFileSync("package.json", "utf8"));
const cache = join("node_modules", ".cache");
let built = "";

beforeAll(() => {
  mkdirSync(cache, { recursive: true });
  built = mkdtempSync(join(cache, "pixie-package-"));
  run("node_modules/typescript/bin/tsc", "-p", "tsconfig.build.json", "--outDir", built);
});
afterAll(() => rmSync(built, { recursive: true, force: true }));

it("has every target that its exports name", () => {
  const targets = Object.values(manifest.exports).flatMap((entry) => Object.values(entry));
  expect(targets).toHaveLength(4);
  expect(targets.filter((target) => !existsSync(inBuild(target)))).toEqual([]);
});

it("has a command that starts and tells its version", () => {
  const [command] = Object.values(manifest.bin);
  const file = inBuild(command ?? "absent");
  expect(readFileSync(file, "utf8").split("\n")[0]).toBe("#!/usr/bin/env node");
  expect(run(file, "--version").trim()).toBe(manifest.version);
});

it("ships the migrations that the programs apply", () => {
  expect(manifest.files).toContain("migrations");
  for (const program of ["relay", "device"]) {
    expect(existsSync(join("migrations", program, "meta", "_journal.json"))).toBe(true);
  }
});

/** A path of package.json, "./dist/…" or "dist/…", in the build of this test. */
function inBuild(target: string): string {
  return join(built, target.replace(/^(\.\/)?dist\//, ""));
}

/** Runs a program to its end; a failure is told in the program's own words. */
function run(...args: string[]): string {
  const ran = spawnSync(process.execPath, args, { encoding: "utf8" });
  if (ran.status !== 0) throw new Error(`${args.join(" ")}:\n${ran.stdout}${ran.stderr}`);
  return ran.stdout;
}
