/**
 * The one table of allowed directions: which room of src may import which, and which packages.
 *
 * A room is a path prefix; the longest prefix that fits a file is its room, and a file that fits
 * none is refused until someone decides where it belongs. A room may always import itself and
 * `src/shared/`. Everything that is not listed is refused, type-only imports included.
 * The programs' rows are relay-rooms.ts and device-rooms.ts. It does not look at files: check.ts
 * does. Spec: CONTRIBUTING.md, "Walls".
 */
import { deviceTable } from "./device-rooms.ts";
import { relayTable } from "./relay-rooms.ts";
import type { Room } from "./room.ts";

/** Every room, lowest first. */
export const rooms: readonly Room[] = [
  {
    path: "src/shared/",
    why: "shared is a leaf and platform-free",
    imports: [],
    packages: ["libsodium-wrappers", "typebox"],
  },
  ...relayTable,
  ...deviceTable,
  {
    path: "src/cli.ts",
    why: "the command line joins the two programs' command groups and nothing else",
    imports: ["src/relay/cli.ts", "src/device/cli/"],
    packages: ["node:*", "commander"],
  },
];
