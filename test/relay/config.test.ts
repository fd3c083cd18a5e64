/** Configuration: which source wins, what is refused and in which words, what a dump shows. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";

import { afterEach, beforeEach, describe, expect, it } from "vitest";

import { defaultConfig, settings } from "../../src/relay/config-settings.ts";
import {
  dumpRelayConfig,
  isLoopback,
  loadRelayConfig,
  type RelayConfig,
} from "../../src/relay/config.ts";

let folder = "";
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), "pixie-config-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function fileWith(content: string, name = "relay.toml"): string {
  const file = path.join(folder, name);
  writeFileSync(file, content);
  return file;
}

function problems(sources: Partial<Parameters<typeof loadRelayConfig>[0]>): readonly string[] {
  const loaded = loadRelayConfig({ flags: {}, env: {}, ...sources });
  return loaded.ok ? [] : loaded.error.problems;
}

function config(sources: Partial<Parameters<typeof loadRelayConfig>[0]>): RelayConfig {
  const loaded = loadRelayConfig({ flags: {}, env: {}, ...sources });
  if (!loaded.ok) throw new Error(loaded.error.problems.join("\n"));
  return loaded.value.config;
}

describe("the sources", () => {
  it("O7: are not needed: everything has a default, so no update can ask for one", () => {
    expect(config({})).toEqual(defaultConfig);
    expect(config({})).toMatchObject({ host: "127.0.0.1", port: 7470, registration: "open" });
  });

  it("rank file < environment < flag, and each value remembers its own", () => {
    const file = fileWith('port = 1\ncontact = "file"\nlog_level = "debug"\n');
    const loaded = loadRelayConfig({
      file,
      env: { PIXIE_RELAY_PORT: "2", PIXIE_RELAY_CONTACT: "env" },
      flags: { port: "3", host: undefined },
    });
    if (!loaded.ok) throw new Error(loaded.error.problems.join("\n"));
    expect(loaded.value.config).toMatchObject({ port: 3, contact: "env", logLevel: "debug" });
    expect(loaded.value.origins).toEqual({
      port: "flag --port",
      contact: "env PIXIE_RELAY_CONTACT",
      logLevel: "file log_level",
    });
  });

  it("include the file that the environment names", () => {
    expect(config({ env: { PIXIE_RELAY_CONFIG: fileWith("port = 9\n") } }).port).toBe(9);
  });

  it("read a secret from the file that is named for it", () => {
    const secret = fileWith("postgres://relay:pw@db/pixie\n", "secret");
    const expected = "postgres://relay:pw@db/pixie";
    expect(config({ env: { DATABASE_URL_FILE: secret } }).databaseUrl).toBe(expected);
    expect(config({ file: fileWith(`database_url_file = "${secret}"\n`) }).databaseUrl).toBe(
      expected,
    );
  });

  it("understand every setting, as the file writes it and as text", () => {
    const written: Readonly<Record<string, unknown>> = {
      data_dir: "/srv/relay",
      host: "::1",
      port: 0,
      admin_host: "127.0.0.2",
      admin_port: 9470,
      public_url: "https://relay.example.org",
      database_url: "postgres://db/pixie",
      database_connections: 8,
      database_migrate: false,
      storage_dir: "/srv/database",
      storage_reserve_mb: 64,
      registration: "open",
      contact: "admin@example.org",
      trusted_proxies: ["10.0.0.0/8", "fd00::/8"],
      address_requests_per_minute: 10,
      mailbox_uploads_per_minute: 11,
      drain_ms: 12,
      log_level: "warn",
    };
    expect(Object.keys(written)).toEqual(settings.map(({ name }) => name));
    const asText = Object.fromEntries(
      Object.entries(written).map(([name, value]) => [
        name === "database_url" ? "DATABASE_URL" : `PIXIE_RELAY_${name.toUpperCase()}`,
        String(value),
      ]),
    );
    const loaded = config({ flags: written });
    expect(config({ env: asText })).toEqual(loaded);
    expect(loaded).toMatchObject({
      databaseMigrate: false,
      trustedProxies: ["10.0.0.0/8", "fd00::/8"],
      port: 0,
    });
  });
});

describe("a refusal", () => {
  it.each([
    [
      { flags: { prot: "1" } },
      /^flag --prot: no such setting; the settings are data_dir, host, port/,
    ],
    [{ flags: { dataDir: "/x" } }, /^flag --dataDir: no such setting; did you mean data_dir\?$/],
    [{ env: { PIXIE_RELAY_PROT: "1" } }, /^env PIXIE_RELAY_PROT: no such setting/],
    [
      { env: { PIXIE_RELAY_DATABASE_URL: "postgres://db/x" } },
      /^env PIXIE_RELAY_DATABASE_URL: no such setting; did you mean database_url \(in the environment: DATABASE_URL\)\?$/,
    ],
    [
      { flags: { port: "70000" } },
      /^flag --port: expected a whole number from 0 to 65535, got "70000"$/,
    ],
    [{ flags: { port: "" } }, /^flag --port: expected a whole number/],
    [
      { env: { PIXIE_RELAY_LOG_LEVEL: "loud" } },
      /^env PIXIE_RELAY_LOG_LEVEL: expected one of silent, .*, got "loud"$/,
    ],
    [{ flags: { public_url: "https://a.example/relay" } }, /without path, query or user/],
    [{ flags: { public_url: "https://me@a.example" } }, /without path, query or user/],
    [{ flags: { public_url: "ftp://a.example" } }, /expected http\(s\)/],
    [{ flags: { trusted_proxies: "10.0.0.1" } }, /expected networks such as 10\.0\.0\.0\/8/],
    [{ flags: { trusted_proxies: "10.0.0.0/33" } }, /expected networks/],
    [{ flags: { host: "127.0.0.1:80" } }, /without a port/],
    [
      { env: { DATABASE_URL_FILE: "/nowhere" } },
      /^env DATABASE_URL_FILE: cannot read \/nowhere \(ENOENT\)/,
    ],
    [
      { env: { DATABASE_URL: "postgres://db/x", DATABASE_URL_FILE: "/x" } },
      /^env DATABASE_URL_FILE: env DATABASE_URL is set too; keep one/,
    ],
  ])("of %j says where, what was expected, and what to do", (sources, text) => {
    const told = problems(sources);
    expect(told).toHaveLength(1);
    expect(told[0]).toMatch(text);
  });

  it("names every problem at once", () => {
    const file = fileWith('port = "many"\nfoo = 1\n');
    expect(problems({ file, flags: { host: "" } })).toHaveLength(3);
  });

  it("of a file that is no TOML or is not there names it", () => {
    expect(problems({ file: fileWith("port = = 1\n") })[0]).toMatch(/relay\.toml: expected TOML/);
    expect(problems({ file: path.join(folder, "none.toml") })[0]).toMatch(/none\.toml \(ENOENT\)/);
  });

  it("never shows a secret", () => {
    const file = fileWith('database_url = "mysql://u:hunter2@db/x"\n');
    expect(problems({ file }).join()).toMatch(/database_url: expected postgres:/);
    expect(problems({ file }).join()).not.toContain("hunter2");
    const broken = fileWith('database_url = "postgres://u:hunter2@db/x\n', "broken.toml");
    expect(problems({ file: broken }).join()).not.toContain("hunter2");
  });
});

describe("an address that others can reach", () => {
  it.each(["0.0.0.0", "::", "192.168.1.2", "relay.example.org"])(
    "%s needs registration to be written",
    (host) => {
      expect(problems({ flags: { host } })[0]).toMatch(/anyone could open an account/);
      expect(problems({ flags: { host, registration: "open" } })).toEqual([]);
    },
  );

  it.each(["127.0.0.1", "127.9.9.9", "::1", "localhost"])("%s is none", (host) => {
    expect(isLoopback(host)).toBe(true);
    expect(problems({ flags: { host } })).toEqual([]);
  });

  it("is not made loopback by its name", () => {
    expect(isLoopback("127.example.org")).toBe(false);
  });
});

describe("a dump", () => {
  it("shows every setting with its origin, secrets masked, and loads again", () => {
    const loaded = loadRelayConfig({
      flags: { port: 1 },
      env: { DATABASE_URL: "postgres://u:hunter2@db/x" },
    });
    if (!loaded.ok) throw new Error("not loaded");
    const dump = dumpRelayConfig(loaded.value);
    expect(dump).toContain("port = 1  # flag --port\n");
    expect(dump).toContain('host = "127.0.0.1"  # default\n');
    expect(dump).toContain('database_url = "***"  # env DATABASE_URL\n');
    expect(dump).not.toContain("hunter2");
    const again = config({ file: fileWith(dump.replace('"***"', '"postgres://u:hunter2@db/x"')) });
    expect(again).toEqual(loaded.value.config);
  });
});

describe("relay.example.toml", () => {
  const example = readFileSync(
    fileURLToPath(new URL("../../relay.example.toml", import.meta.url)),
    "utf8",
  );

  it("says every setting, commented, with its default or an example that loads", () => {
    const names = [...example.matchAll(/^# ([a-z_]+) = /gm)].map(([, name]) => name);
    expect(names).toEqual(settings.map(({ name }) => name));
    const uncommented = example.replaceAll(/^# ([a-z_]+ = )/gm, "$1");
    const loaded = config({ file: fileWith(uncommented) });
    const withDefault = settings.filter((setting) => setting.example === undefined);
    expect(withDefault.map(({ field }) => loaded[field])).toEqual(
      withDefault.map(({ field }) => defaultConfig[field]),
    );
  });

  it("changes nothing as it is", () => {
    expect(config({ file: fileWith(example) })).toEqual(defaultConfig);
  });
});
