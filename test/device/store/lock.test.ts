/** One process per data folder, also when the one before it died without a word. */
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";

import { afterEach, beforeEach, describe, expect, it } from "vitest";

import { lockDataFolder, lockHolder } from "../../../src/device/store/lock.ts";

const lockModule = fileURLToPath(new URL("../../../src/device/store/lock.ts", import.meta.url));
const holderScript = `
  import { lockDataFolder } from ${JSON.stringify(lockModule)};
  const says = (lock) => lock.ok ? "held\\n" : "refused " + lock.error.pid + "\\n";
  const said = says(lockDataFolder(process.argv[1]));
  // Nobody keeps the lock by hand: it is held until the process ends, whatever the collector does.
  for (let round = 0; round < 3; round += 1) {
    globalThis.gc();
    await new Promise(setImmediate);
  }
  process.stdout.write(said);
  setInterval(() => undefined, 1000);
`;

let folder: string;
let children: ChildProcess[];
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), "pixie-lock-"));
  children = [];
});
afterEach(() => {
  for (const child of children) child.kill("SIGKILL");
  rmSync(folder, { recursive: true, force: true });
});

async function holder(): Promise<{ readonly child: ChildProcess; readonly says: string }> {
  const child = spawn(
    process.execPath,
    ["--expose-gc", "--import", "tsx", "--input-type=module", "-e", holderScript, folder],
    { stdio: ["ignore", "pipe", "inherit"] },
  );
  children.push(child);
  const [line] = await once(child.stdout, "data");
  return { child, says: String(line) };
}

describe("lockDataFolder", () => {
  it("O10: a second opener in this process is refused, naming the holder", () => {
    const first = lockDataFolder(folder);
    expect(first.ok).toBe(true);
    expect(lockDataFolder(folder)).toMatchObject({
      ok: false,
      error: { type: "locked", pid: process.pid },
    });
    if (first.ok) first.value.release();
    const again = lockDataFolder(folder);
    expect(again.ok).toBe(true);
    if (again.ok) again.value.release();
  });

  it("O10: another process is refused, names this one, and takes over after a kill -9", async () => {
    const first = await holder();
    expect(first.says).toBe("held\n");
    const refused = lockDataFolder(folder);
    expect(refused).toMatchObject({ error: { pid: first.child.pid } });
    expect(refused).toMatchObject({
      error: { message: expect.stringContaining(`process ${first.child.pid}`) },
    });

    const gone = once(first.child, "exit");
    first.child.kill("SIGKILL");
    await gone;
    expect(existsSync(path.join(folder, "device.pid"))).toBe(true);
    expect(lockHolder(folder)).toBeUndefined();
    using lock = taken();
    expect(lockHolder(folder)).toBe(process.pid);
    lock.release();
  });

  it("does not believe a pid file: a living process that holds no lock is no holder", () => {
    writeFileSync(path.join(folder, "device.pid"), `${process.ppid}\n`);
    using lock = taken();
    expect(lockHolder(folder)).toBe(process.pid);
    lock.release();
  });

  it("survives a pid file that is no number", () => {
    writeFileSync(path.join(folder, "device.pid"), "rubbish");
    expect(lockHolder(folder)).toBeUndefined();
  });

  it("keeps its files to the owner, and releasing twice is harmless", () => {
    const lock = taken();
    expect(statSync(path.join(folder, "device.lock")).mode & 0o077).toBe(0);
    expect(statSync(path.join(folder, "device.pid")).mode & 0o077).toBe(0);
    lock.release();
    const next = taken();
    lock.release();
    expect(lockHolder(folder)).toBe(process.pid);
    next.release();
  });
});

function taken(): Disposable & { readonly release: () => void } {
  const lock = lockDataFolder(folder);
  if (!lock.ok) throw new Error(lock.error.message);
  return lock.value;
}
