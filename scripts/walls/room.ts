/**
 * What one row of the walls table says. The rows are rooms.ts, relay-rooms.ts and device-rooms.ts.
 */

/** One room of src. A path ending with "/" is a folder and all below it, "*" a folder's own files. */
export interface Room {
  readonly path: string;
  /** Why the walls stand, said to whoever runs into one. */
  readonly why: string;
  /** Rooms it may import, besides itself and src/shared/. */
  readonly imports: readonly string[];
  /** Packages it may import; "node:*" is every built-in module but node:module. */
  readonly packages: readonly string[];
}
