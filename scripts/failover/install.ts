/** Finds postgres, etcd and patroni, or installs them where that was asked for. */
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import path from "node:path";

import { serverUser } from "../../src/relay/db/embedded-user.ts";
import type { Stage, User } from "./stage.ts";

/** What a run needs. */
export interface Programs {
  /** Folder of Postgres' programs. */
  readonly postgres: string;
  readonly etcd: string;
  readonly patroni: string;
  /** Postgres refuses to run as root. */
  readonly user: User | undefined;
}

const debianPostgres = "/usr/lib/postgresql";

/** Finds them. Throws with what is missing and how to get it. */
export async function findPrograms(stage: Stage, mayInstall: boolean): Promise<Programs> {
  const postgres = findPostgres();
  const etcd = onPath("etcd");
  if (postgres === undefined || etcd === undefined) {
    if (!mayInstall) {
      throw new Error(
        "postgresql 15 or newer and etcd are needed: run with --install, as root on Debian",
      );
    }
    const packages = ["postgresql-15", "etcd-server", "python3-venv"];
    const words = ["install", "-qy", "--no-install-recommends", ...packages];
    execFileSync("/usr/bin/apt-get", words, {
      stdio: "ignore",
      env: { ...process.env, DEBIAN_FRONTEND: "noninteractive" },
    });
    return findPrograms(stage, false);
  }
  const user = serverUser(stage.folder);
  if (!user.ok) throw new Error(user.error.message);
  return { postgres, etcd, patroni: patroniOf(stage, mayInstall), user: user.value };
}

function findPostgres(): string | undefined {
  const majors = existsSync(debianPostgres) ? readdirSync(debianPostgres) : [];
  return majors
    .filter((major) => Number(major) >= 15)
    .map((major) => path.join(debianPostgres, major, "bin"))
    .find((folder) => existsSync(path.join(folder, "postgres")));
}

function patroniOf(stage: Stage, mayInstall: boolean): string {
  const found = onPath("patroni");
  if (found !== undefined) return found;
  if (!mayInstall) throw new Error("patroni is needed: run with --install, or put it on the PATH");
  const venv = path.join(stage.folder, "venv");
  // Debian's own, which every user can run; one below somebody's home is private.
  execFileSync("/usr/bin/python3", ["-m", "venv", venv], { stdio: "ignore" });
  const packages = "patroni[etcd3,psycopg3]==4.1.5";
  execFileSync(path.join(venv, "bin", "pip"), ["install", "-q", packages], { stdio: "ignore" });
  return path.join(venv, "bin", "patroni");
}

function onPath(name: string): string | undefined {
  const { status, stdout } = spawnSync("which", [name], { encoding: "utf8" });
  return status === 0 ? stdout.trim() : undefined;
}
