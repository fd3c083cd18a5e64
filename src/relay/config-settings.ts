/**
 * The relay's settings, one table: name, default, meaning, and how a written value is understood.
 * The config file, the environment, the flags, `config dump` and relay.example.toml all follow it.
 *
 * A name is given in the file's form (`data_dir`). The environment says PIXIE_RELAY_DATA_DIR, the
 * command line --data-dir. `config.ts` layers the sources; nothing here reads one. How a kind of value
 * is understood is config-values.ts.
 */
import { homedir } from "node:os";
import path from "node:path";

import { ok, type Result } from "../shared/result.ts";
import {
  databaseUrl,
  flag,
  folder,
  host,
  integer,
  networks,
  oneOf,
  type Parse,
  publicUrl,
  type SettingError,
  text,
} from "./config-values.ts";
import { logLevels, type LogLevel } from "./log-level.ts";

/** Everything the relay can be told. */
export interface RelayConfig {
  readonly dataDir: string;
  readonly host: string;
  /** 0 takes any free port. */
  readonly port: number;
  /** Where metrics and health are served for the operator. */
  readonly adminHost: string;
  /** 0 takes any free port. */
  readonly adminPort: number;
  /** Where clients reach the relay; its origin is what they sign. Default: http://host:port as bound. */
  readonly publicUrl?: string;
  /** External Postgres; the embedded one without it. Secret. */
  readonly databaseUrl?: string;
  readonly databaseConnections: number;
  /** False: an outdated schema is refused, and `pixie relay migrate` is run by another role. */
  readonly databaseMigrate: boolean;
  /** Folder whose disk must keep the reserve; the data folder with the embedded database. */
  readonly storageDir?: string;
  /** Free space under which nothing new is accepted; 0 accepts until the database refuses. Units: MiB. */
  readonly storageReserveMb: number;
  readonly registration: "open" | "codes";
  /** Who runs it, for `/v1/info`. */
  readonly contact?: string;
  /** Networks (CIDR) whose forwarded client address is believed. */
  readonly trustedProxies: readonly string[];
  readonly addressRequestsPerMinute: number;
  readonly mailboxUploadsPerMinute: number;
  /** Bound of a graceful stop. Units: ms. */
  readonly drainMs: number;
  readonly logLevel: LogLevel;
}

/** One setting of the table. */
export interface Setting {
  /** The file's name for it. */
  readonly name: string;
  readonly field: keyof RelayConfig;
  /** The configuration with the written value in place. */
  readonly write: (config: RelayConfig, written: unknown) => Result<RelayConfig, SettingError>;
  readonly about: string;
  /** Shown in the commented file instead of a default. */
  readonly example?: string;
  /** Masked in `config dump`; may also come from a file named by `<name>_file`. */
  readonly secret?: boolean;
  /** Its name in the environment where that is not PIXIE_RELAY_<NAME>. */
  readonly env?: string;
}

interface SettingRow<K extends keyof RelayConfig> extends Omit<Setting, "field" | "write"> {
  readonly field: K;
  readonly parse: Parse<RelayConfig[K]>;
}

function setting<K extends keyof RelayConfig>(row: SettingRow<K>): Setting {
  const { parse, ...rest } = row;
  return {
    ...rest,
    write: (config, written) => {
      const parsed = parse(written);
      if (!parsed.ok) return parsed;
      const next: { -readonly [field in keyof RelayConfig]: RelayConfig[field] } = { ...config };
      next[row.field] = parsed.value;
      return ok(next);
    },
  };
}

// Root gets a folder that the embedded database's unprivileged user can reach; /root is none.
function defaultDataDir(): string {
  if (process.getuid?.() === 0) return "/var/lib/pixie/relay";
  const base = process.env["XDG_DATA_HOME"] ?? path.join(homedir(), ".local", "share");
  return path.join(base, "pixie", "relay");
}

/** The configuration when nothing is written. */
export const defaultConfig: RelayConfig = {
  dataDir: defaultDataDir(),
  host: "127.0.0.1",
  port: 7470,
  adminHost: "127.0.0.1",
  adminPort: 0,
  databaseConnections: 4,
  databaseMigrate: true,
  storageReserveMb: 512,
  registration: "open",
  trustedProxies: [],
  addressRequestsPerMinute: 1_200,
  mailboxUploadsPerMinute: 600,
  drainMs: 10_000,
  logLevel: "info",
};

/** Every setting, in the order in which `config dump` shows them. */
export const settings: readonly Setting[] = [
  setting({
    name: "data_dir",
    field: "dataDir",
    parse: folder,
    example: "/var/lib/pixie/relay",
    about: "Folder for the embedded database and the relay's lock; created with mode 0700.",
  }),
  setting({
    name: "host",
    field: "host",
    parse: host,
    about: "Address to listen on. Anything but loopback needs `registration` to be written.",
  }),
  setting({
    name: "port",
    field: "port",
    parse: integer(0, 65_535),
    about: "Port; 0 takes a free one.",
  }),
  setting({
    name: "admin_host",
    field: "adminHost",
    parse: host,
    about:
      "Address for metrics and health. They name nobody, but belong to the operator: loopback.",
  }),
  setting({
    name: "admin_port",
    field: "adminPort",
    parse: integer(0, 65_535),
    about: "Port for metrics and health; 0 takes a free one, which the ready line names.",
  }),
  setting({
    name: "public_url",
    field: "publicUrl",
    parse: publicUrl,
    example: "https://relay.example.org",
    about:
      "Where clients reach the relay, as they write it. Changing it invalidates what they signed.",
  }),
  setting({
    name: "database_url",
    field: "databaseUrl",
    parse: databaseUrl,
    example: "postgres://relay_app@db.example.org/pixie",
    secret: true,
    env: "DATABASE_URL",
    about:
      "External Postgres, 15 or newer; without it the embedded one runs in data_dir. Or database_url_file.",
  }),
  setting({
    name: "database_connections",
    field: "databaseConnections",
    parse: integer(2, 64),
    about: "Connections of the pool.",
  }),
  setting({
    name: "database_migrate",
    field: "databaseMigrate",
    parse: flag,
    about:
      "Migrate at start. false: an outdated schema is refused; run `pixie relay migrate` with a DDL role.",
  }),
  setting({
    name: "storage_dir",
    field: "storageDir",
    parse: folder,
    example: "/var/lib/postgresql",
    about:
      "Folder whose disk keeps storage_reserve_mb free; data_dir with the embedded database. For an external one on this machine: its folder.",
  }),
  setting({
    name: "storage_reserve_mb",
    field: "storageReserveMb",
    parse: integer(0, 999_999_999),
    about:
      "With less free space, in MiB, nothing new is accepted; what is there is still delivered. 0: never look.",
  }),
  setting({
    name: "registration",
    field: "registration",
    parse: oneOf(["open", "codes"]),
    about:
      "Who may open an account: open = anyone who reaches the relay, codes = who has a code (relay invite).",
  }),
  setting({
    name: "contact",
    field: "contact",
    parse: text,
    example: "admin@example.org",
    about: "How to reach whoever runs it; shown to clients.",
  }),
  setting({
    name: "trusted_proxies",
    field: "trustedProxies",
    parse: networks,
    about: "Networks of reverse proxies whose forwarded client address is believed.",
  }),
  setting({
    name: "address_requests_per_minute",
    field: "addressRequestsPerMinute",
    parse: integer(1, 10_000_000),
    about: "Requests that one client address may make.",
  }),
  setting({
    name: "mailbox_uploads_per_minute",
    field: "mailboxUploadsPerMinute",
    parse: integer(1, 10_000_000),
    about: "Uploads that one account may be sent.",
  }),
  setting({
    name: "drain_ms",
    field: "drainMs",
    parse: integer(0, 600_000),
    about: "How long a stop may take before it is cut short, in milliseconds.",
  }),
  setting({
    name: "log_level",
    field: "logLevel",
    parse: oneOf(logLevels),
    about: `One of ${logLevels.join(", ")}.`,
  }),
];
