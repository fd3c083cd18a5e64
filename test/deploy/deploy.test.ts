/** What is shipped for operators agrees with the programs, as far as tools can tell. */
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";

import { describe, expect, it } from "vitest";

import { loadRelayConfig } from "../../src/relay/config.ts";
import { createMetrics } from "../../src/relay/metrics.ts";
import { findTool } from "../support/tools.ts";

const read = (file: string): string => readFileSync(file, "utf8");

/** Every name that /metrics shows. */
async function metricNames(): Promise<ReadonlySet<string>> {
  const metrics = createMetrics();
  metrics.committing(1)();
  const { text } = await metrics.scrape({
    connections: () => 0,
    storage: () => ({ isFull: false, freeBytes: 1 }),
    database: () => Promise.resolve({ tables: [], oldestTransactionSeconds: 0 }),
  });
  metrics.close();
  const declared = [...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].flatMap(([, name = "", type]) =>
    type === "histogram" ? [`${name}_bucket`, `${name}_sum`, `${name}_count`] : [name],
  );
  return new Set(declared);
}

function metricsIn(text: string): readonly string[] {
  return [...text.matchAll(/pixie_relay_[a-z_]+/g)].map(([name]) => name);
}

describe("dashboard and alerts", () => {
  const files = ["deploy/grafana/pixie-relay.json", "deploy/prometheus/alerts.yml"];

  it.each(files)("%s names only metrics that are there", async (file) => {
    const real = await metricNames();
    const named = metricsIn(read(file));
    expect(named.length).toBeGreaterThan(8);
    expect(named.filter((name) => !real.has(name))).toEqual([]);
    expect(real.has("pixie_relay_planted_total")).toBe(false);
  });

  it("between them show every metric", async () => {
    const shown = new Set(files.flatMap((file) => metricsIn(read(file))));
    const missing = [...(await metricNames())].filter(
      (name) => !shown.has(name) && !/_(count|sum|bucket)$/.test(name),
    );
    expect(missing).toEqual([]);
  });

  it("the dashboard has unique panels that fit the grid", () => {
    const { panels } = JSON.parse(read("deploy/grafana/pixie-relay.json"));
    const ids = panels.map((panel: { id: number }) => panel.id);
    expect(new Set(ids).size).toBe(ids.length);
    for (const { gridPos, targets } of panels) {
      expect(gridPos.x + gridPos.w).toBeLessThanOrEqual(24);
      expect(targets.length).toBeGreaterThan(0);
    }
  });

  it("promtool accepts the rules, and would refuse a wrong one", () => {
    const promtool = findTool("promtool");
    if (promtool === undefined) return;
    const check = (file: string) => spawnSync(promtool, ["check", "rules", file]).status;
    expect(check("deploy/prometheus/alerts.yml")).toBe(0);
    const folder = mkdtempSync(path.join(tmpdir(), "pixie-rules-"));
    const planted = path.join(folder, "planted.yml");
    writeFileSync(planted, read("deploy/prometheus/alerts.yml").replace("== 0", "=== 0"));
    expect(check(planted)).not.toBe(0);
    rmSync(folder, { recursive: true });
  });
});

describe("systemd units", () => {
  const units = ["pixie-relay.service", "pixie-relay-backup.service", "pixie-relay-backup.timer"];
  const paths = units.map((unit) => path.resolve("deploy/systemd", unit));

  it("verify, and are shut in", () => {
    const tool = findTool("systemd-analyze");
    if (tool === undefined) return;
    // Programs that are not installed here are no fault of a unit.
    const { stderr } = spawnSync(tool, ["verify", ...paths], { encoding: "utf8" });
    const faults = stderr
      .split("\n")
      .filter((line) => line.includes("pixie-relay") && !/is not executable/.test(line));
    expect(faults).toEqual([]);
    for (const unit of paths.slice(0, 2)) {
      const words = ["security", "--offline=true", "--threshold=20", unit];
      expect([unit, spawnSync(tool, words).status]).toEqual([unit, 0]);
    }
  });

  it("give only flags that the commands have", () => {
    const flags = units
      .flatMap((unit) => [...read(path.join("deploy/systemd", unit)).matchAll(/ (--[a-z-]+)/g)])
      .map(([, flag]) => flag)
      .filter((flag) => flag !== "--now" && flag !== "--" && flag !== "--utc");
    expect(new Set(flags)).toEqual(new Set(["--config", "--data-dir", "--no-hints"]));
  });

  it("a full stop fits the time that systemd gives it", () => {
    const seconds = Number(/TimeoutStopSec=(\d+)/.exec(read(paths[0] ?? ""))?.[1]);
    const loaded = loadRelayConfig({ flags: {}, env: {} });
    if (!loaded.ok) throw new Error("the defaults are wrong");
    // The drain, and 20 s that a database may take to stop.
    expect(seconds * 1000).toBeGreaterThan(loaded.value.config.drainMs + 20_000);
  });
});

describe("containers", () => {
  it("docker compose accepts the file, where its client exists", () => {
    const client = ["docker-compose", "docker"].find(hasCompose);
    if (client === undefined) process.stdout.write("left out: docker compose is not installed\n");
    const words = client === "docker" ? ["compose"] : [];
    const config = [...words, "-f", "docker-compose.yml", "config", "-q"];
    expect(client === undefined ? 0 : spawnSync(client, config).status).toBe(0);
  });

  it("O3, O26: the image copies what there is, compiles nothing, and has every package that the relay loads", () => {
    const image = read("Dockerfile");
    const copied = [...image.matchAll(/^COPY (?!--from)(.+) \S+$/gm)].flatMap(([, names = ""]) =>
      names.split(" "),
    );
    expect(copied).toContain("migrations");
    expect(copied.filter((name) => !existsSync(name))).toEqual([]);
    // glibc, and no install script: there is nothing that a missing compiler could break.
    expect([...image.matchAll(/^FROM (\S+)/gm)].map(([, from]) => from)).toEqual([
      "node:24-bookworm",
      "node:24-bookworm-slim",
      "node:24-bookworm-slim",
    ]);
    const installs = image.match(/^RUN npm ci.*$/gm) ?? [];
    expect(installs.filter((line) => !line.includes("--ignore-scripts"))).toEqual([]);
    const { dependencies } = JSON.parse(read("package.json"));
    const packages = packagesOf("src/relay", "src/shared");
    expect(packages.length).toBeGreaterThan(8);
    expect(packages.filter((name) => !(name in dependencies))).toEqual([]);
    expect(packages).not.toContain("better-sqlite3");
  });

  it("O7: the compose file and the units set only what the relay understands, and nothing is missing", () => {
    const names = read("docker-compose.yml").matchAll(/^ {6}(PIXIE_RELAY_\w+): "?([^"\n]*)"?$/gm);
    const env = Object.fromEntries(
      [...names].map(([, name = "", value = ""]) => [
        name,
        value.replace(/^\$\{.*:-(.*)\}$/, "$1"),
      ]),
    );
    expect(Object.keys(env)).toContain("PIXIE_RELAY_REGISTRATION");
    const loaded = loadRelayConfig({ flags: {}, env });
    expect(loaded.ok ? [] : loaded.error.problems).toEqual([]);
    expect(loadRelayConfig({ flags: {}, env: { ...env, PIXIE_RELAY_GONE: "1" } }).ok).toBe(false);
  });

  it("O22: run without root, read-only, without capabilities, with secrets as files and health asked by number", () => {
    const services = read("docker-compose.yml")
      .split(/^ {2}(?=relay:|postgres:)/m)
      .slice(1);
    expect(services).toHaveLength(2);
    for (const service of services) {
      for (const line of [
        "read_only: true",
        "cap_drop:",
        "no-new-privileges:true",
        "mem_limit:",
        "pids_limit:",
        "secrets:",
      ]) {
        expect(service).toContain(line);
      }
    }
    expect(read("docker-compose.yml")).not.toMatch(/PASSWORD: |localhost/);
    const image = read("Dockerfile");
    expect(image).toMatch(/^USER node$/m);
    expect(image).toContain("--omit=dev --omit=optional");
    expect(image).toMatch(/^HEALTHCHECK .*"relay", "health"/m);
  });
});

/** Packages that the sources of some folders name. */
function packagesOf(...folders: readonly string[]): readonly string[] {
  const specifiers = folders.flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: "utf8" })
      .filter((name) => name.endsWith(".ts"))
      .flatMap((name) => [
        ...read(path.join(folder, name)).matchAll(/(?:from|import\() ?"([^."][^"]*)"/g),
      ])
      .map(([, specifier = ""]) => specifier),
  );
  const packages = specifiers
    .filter((specifier) => !specifier.startsWith("node:"))
    .map((specifier) =>
      specifier
        .split("/")
        .slice(0, specifier.startsWith("@") ? 2 : 1)
        .join("/"),
    );
  return [...new Set(packages)];
}

function hasCompose(client: string): boolean {
  const words = client === "docker" ? ["compose", "version"] : ["version"];
  return spawnSync(client, words).status === 0;
}
