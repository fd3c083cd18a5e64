/**
 * The device's rows of the walls table: pure engines and ports below, what joins them above, and
 * nothing of the relay. How a row is read stands in room.ts, what reads it in check.ts.
 */
import type { Room } from "./room.ts";

const deviceGround = ["src/device/config", "src/device/log"];
const deviceRooms = [
  ...deviceGround,
  "src/device/sentinel.ts",
  "src/device/crypto/",
  "src/device/identity/",
  "src/device/messaging/",
  "src/device/transport/",
  "src/device/store/",
  "src/device/skills/",
  "src/device/library/",
  "src/device/homebase/",
  "src/device/agent/",
  "src/device/model/",
  "src/device/weights/",
  "src/device/router/",
  "src/device/tools/",
  "src/device/sources/",
  "src/device/mcp/",
];
const deviceCore = [...deviceRooms, "src/device/device.ts"];
const keysAndNetwork = /\/(crypto|transport)\/$/;

/** The device's rooms, lowest first. */
export const deviceTable: readonly Room[] = [
  {
    path: "src/device/config",
    why: "settings are read before anything is opened",
    imports: [],
    packages: ["node:*", "smol-toml"],
  },
  {
    path: "src/device/log",
    why: "the log stands below every room of the device",
    imports: [],
    packages: ["node:*", "node:module", "pino", "pino-pretty"],
  },
  {
    path: "src/device/skills/",
    why: "skills is pure: prose in, names out, no I/O",
    imports: [],
    packages: [],
  },
  {
    path: "src/device/sentinel.ts",
    why: "the sentinel only tells which payload a text is",
    imports: ["src/device/skills/"],
    packages: [],
  },
  {
    path: "src/device/crypto/",
    why: "crypto seals and opens, nothing else, and does no I/O",
    imports: [],
    packages: ["libsodium-wrappers"],
  },
  {
    path: "src/device/store/",
    why: "store is below everything",
    imports: deviceGround,
    packages: ["node:*", "better-sqlite3", "better-sqlite3-12", "drizzle-orm", "@napi-rs/keyring"],
  },
  {
    path: "src/device/library/",
    why: "the library joins skills and store; what it sends is passed in",
    imports: [
      ...deviceGround,
      "src/device/device.ts",
      "src/device/sentinel.ts",
      "src/device/skills/",
      "src/device/store/",
    ],
    packages: ["typebox"],
  },
  {
    path: "src/device/transport/",
    why: "transport moves bytes; the signer is passed in",
    imports: deviceGround,
    packages: ["node:*", "typebox", "ws"],
  },
  {
    path: "src/device/identity/",
    why: "identity needs crypto and store only",
    imports: [...deviceGround, "src/device/device.ts", "src/device/crypto/", "src/device/store/"],
    packages: ["node:*", "typebox"],
  },
  {
    path: "src/device/messaging/",
    why: "messaging moves opaque payloads; dispatch.ts gives them meaning",
    imports: [
      ...deviceGround,
      "src/device/device.ts",
      "src/device/sentinel.ts",
      "src/device/crypto/",
      "src/device/identity/",
      "src/device/store/",
      "src/device/transport/",
    ],
    packages: ["node:*"],
  },
  {
    path: "src/device/model/",
    why: "model is a port: it never sees skills' meaning, keys or the network",
    imports: [...deviceGround, "src/device/store/"],
    packages: ["node:*", "node-llama-cpp"],
  },
  {
    path: "src/device/weights/",
    why: "weights brings files that its owner asked for; it sees no key, skill or message",
    imports: deviceGround,
    packages: ["node:*"],
  },
  {
    path: "src/device/router/",
    why: "the router picks among skills; it holds no keys and sends nothing",
    imports: [...deviceGround, "src/device/skills/", "src/device/model/"],
    packages: ["node:*", "node-llama-cpp"],
  },
  {
    path: "src/device/sources/",
    why: "sources read a person's own records and nothing else",
    imports: [...deviceGround, "src/device/store/", "src/device/model/"],
    // tsx: in a checkout, the document worker runs from its source and has no loader of its own.
    packages: ["node:*", "ical.js", "timezones-ical-library", "unpdf", "mammoth", "tsx"],
  },
  {
    path: "src/device/mcp/",
    why: "mcp speaks to programs that the owner configured; what their words mean is decided above",
    imports: deviceGround,
    packages: ["node:*", "@modelcontextprotocol/*"],
  },
  {
    path: "src/device/tools/",
    why: "tools reach the world only through what the runtime passes in",
    imports: [...deviceGround, "src/device/skills/", "src/device/sources/", "src/device/store/"],
    packages: ["node:*"],
  },
  {
    path: "src/device/agent/",
    why: "the agent reaches the world only through the tools it is handed",
    imports: [
      ...deviceGround,
      "src/device/skills/",
      "src/device/tools/",
      "src/device/model/",
      "src/device/router/",
    ],
    packages: [],
  },
  {
    path: "src/device/homebase/",
    why: "homebase acts through messaging, agent and skills",
    imports: [
      ...deviceGround,
      "src/device/sentinel.ts",
      "src/device/messaging/",
      "src/device/agent/",
      "src/device/skills/",
      "src/device/store/",
    ],
    packages: ["node:*"],
  },
  {
    path: "src/device/device.ts",
    why: "the device's contract is types only, over the ports that it names",
    imports: [
      "src/device/skills/",
      "src/device/transport/",
      "src/device/store/key-source.ts",
      "src/device/agent/port.ts",
      "src/device/sources/port.ts",
      "src/device/mcp/port.ts",
      "src/device/weights/port.ts",
      "src/device/homebase/port.ts",
    ],
    packages: [],
  },
  {
    path: "src/device/cli/",
    why: "the command line speaks to the local API; it opens no store and holds no keys",
    imports: [
      ...deviceGround,
      "src/device/api/",
      "src/device/device.ts",
      "src/device/main.ts",
      "src/device/skills/",
      "src/device/agent/",
    ],
    packages: ["node:*", "commander", "uqr", "cli-progress"],
  },
  {
    path: "src/device/api/",
    why: "the local API is an edge over the runtime: no keys, no network of its own",
    imports: [...deviceCore.filter((path) => !keysAndNetwork.test(path)), "src/device/runtime.ts"],
    packages: ["node:*", "fastify", "@fastify/*", "typebox", "uqr"],
  },
  {
    path: "src/device/dispatch.ts",
    why: "dispatch gives an opened payload its meaning; it seals and sends nothing itself",
    imports: deviceCore.filter((path) => !keysAndNetwork.test(path)),
    packages: [],
  },
  {
    path: "src/device/*",
    why: "the device's composition imports its own rooms, never the relay",
    imports: [...deviceCore, "src/device/dispatch.ts", "src/device/api/"],
    packages: ["node:*", "commander", "pino"],
  },
];
