/**
 * Where a daemon's socket lies: in the data folder, or, when that path is too long for a socket
 * address, in a short private folder that a pointer file in the data folder names.
 *
 * Only files here; listening is in server.ts. Spec: docs/operating.md "Local API".
 */
import { lstatSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";

/** A place for a socket, and how to leave nothing behind. */
export interface SocketPlace extends Disposable {
  readonly path: string;
}

const socketFile = "device.sock";
const pointerFile = "device.sock.path";
// sun_path holds 104 bytes on macOS and 108 on Linux, its end included.
const maxPathBytes = 100;

/** Prepares a fresh place. Only whoever holds the folder's lock may ask for one. */
export function claimSocketPlace(dataDir: string): SocketPlace {
  clear(dataDir);
  const direct = path.join(path.resolve(dataDir), socketFile);
  if (Buffer.byteLength(direct) < maxPathBytes) {
    return { path: direct, [Symbol.dispose]: () => clear(dataDir) };
  }
  const folder = mkdtempSync(path.join(shortTmp(), "pixie-"));
  const place = path.join(folder, socketFile);
  writeFileSync(path.join(dataDir, pointerFile), `${place}\n`, { mode: 0o600 });
  return { path: place, [Symbol.dispose]: () => clear(dataDir) };
}

/** Where the daemon of that folder listens, if one does; the socket may be a dead one's. */
export function findSocket(dataDir: string): string | undefined {
  const pointed = readPointer(dataDir);
  const place = pointed ?? path.join(path.resolve(dataDir), socketFile);
  return lstatSync(place, { throwIfNoEntry: false })?.isSocket() === true ? place : undefined;
}

function readPointer(dataDir: string): string | undefined {
  const file = path.join(dataDir, pointerFile);
  if (lstatSync(file, { throwIfNoEntry: false })?.isFile() !== true) return undefined;
  const place = readFileSync(file, "utf8").trim();
  return path.isAbsolute(place) && path.basename(place) === socketFile ? place : undefined;
}

/** Removes the socket of a daemon that is gone, and its short folder. */
function clear(dataDir: string): void {
  const pointed = readPointer(dataDir);
  if (pointed !== undefined && path.basename(path.dirname(pointed)).startsWith("pixie-")) {
    rmSync(path.dirname(pointed), { recursive: true, force: true });
  }
  rmSync(path.join(dataDir, pointerFile), { force: true });
  rmSync(path.join(dataDir, socketFile), { force: true });
}

// TMPDIR itself may be long (it is on macOS, and in build sandboxes).
function shortTmp(): string {
  const preferred = tmpdir();
  return Buffer.byteLength(preferred) < maxPathBytes - 32 ? preferred : "/tmp";
}
