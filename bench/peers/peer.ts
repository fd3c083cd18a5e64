/**
 * Peers: other systems with the same promise, started by the bench as children in private folders on
 * loopback ports, and stopped by it. One that is not installed is named in the result, never invented.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { accessSync, constants, mkdtempSync, rmSync } from "node:fs";
import { connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";

import type { LoadTarget } from "../load/load-process.ts";

/** A peer that runs. */
export interface RunningPeer {
  readonly target: LoadTarget;
  readonly stop: () => Promise<void>;
}

/** A peer that may be had. */
export interface Peer {
  /** As results name it. */
  readonly label: string;
  /** How to have it, said where it is missing. */
  readonly install: string;
  /** Undefined when it is not installed. */
  readonly start: () => Promise<RunningPeer | undefined>;
}

/** What a peer is started as. */
export interface PeerProcess {
  readonly program: string;
  readonly words: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly port: number;
  readonly folder: string;
}

/** A peer may take this long from start to its first connection. Units: ms. */
const startMs = 120_000;

/** A private folder; the peer's stop removes it. */
export function peerFolder(): string {
  return mkdtempSync(path.join(tmpdir(), "pixie-peer-"));
}

/** The first of some paths that can be executed. */
export function findProgram(candidates: readonly string[]): string | undefined {
  return candidates.find((candidate) => {
    try {
      accessSync(candidate, constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}

/** Every place on PATH where a program of that name may lie. */
export function onPath(name: string): readonly string[] {
  return (process.env["PATH"] ?? "").split(":").map((folder) => path.join(folder, name));
}

/** Starts a peer and waits until it takes connections. Its whole process group ends with it. */
export async function startPeer(
  { program, words, env, port, folder }: PeerProcess,
  afterStop: () => Promise<void> = async () => {},
): Promise<() => Promise<void>> {
  const child = spawn(program, words, {
    cwd: folder,
    env: { PATH: process.env["PATH"], HOME: folder, ...env },
    stdio: "ignore",
    detached: true,
  });
  const stop = async (): Promise<void> => {
    await stopGroup(child);
    await afterStop();
    rmSync(folder, { recursive: true, force: true });
  };
  const untilMs = performance.now() + startMs;
  while (!(await accepts(port))) {
    if (performance.now() > untilMs || child.exitCode !== null) {
      await stop();
      throw new Error(`${program} did not start within ${startMs / 1_000} s`);
    }
    await delay(100);
  }
  return stop;
}

/** A free loopback port. */
export async function freePort(): Promise<number> {
  const probe = createServer().listen(0, "127.0.0.1");
  await once(probe, "listening");
  const address = probe.address();
  probe.close();
  await once(probe, "close");
  if (address === null || typeof address === "string") throw new Error("no free port");
  return address.port;
}

async function stopGroup(child: ChildProcess): Promise<void> {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  const { pid } = child;
  const ended = once(child, "exit");
  process.kill(-pid, "SIGTERM");
  const isPatient = new AbortController();
  const cut = delay(20_000, undefined, { signal: isPatient.signal }).then(
    () => process.kill(-pid, "SIGKILL"),
    () => false,
  );
  await ended;
  isPatient.abort();
  await cut;
}

function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1");
    socket.once("connect", () => {
      socket.destroy();
      resolve(true);
    });
    socket.once("error", () => resolve(false));
  });
}
