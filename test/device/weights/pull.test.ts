/**
 * Pulling a model from a server on the loopback that breaks off, lies, stops or moves: what is kept,
 * what is refused, and that only the pinned bytes ever stand under the model's name.
 */
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";

import { afterEach, beforeEach, describe, expect, it } from "vitest";

import { pullModel, type PullParts, type PullProgress } from "../../../src/device/weights/pull.ts";
import {
  cut,
  entryFor,
  type Hub,
  stall,
  startHub,
  status,
  whole,
  withoutRanges,
} from "../../support/hub.ts";

const content = Uint8Array.from({ length: 200_000 }, (_, index) => (index * 31) % 251);
const entry = entryFor(content);
let folder = "";
let hub: Hub;

beforeEach(async () => {
  folder = mkdtempSync(path.join(tmpdir(), "pixie-pull-"));
  hub = await startHub(content);
});
afterEach(async () => {
  await hub[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
});

/** A clock whose timers fire at once but for the stall, which the test moves. */
function parts(changed: Partial<PullParts> = {}): PullParts {
  return {
    folder,
    env: { PIXIE_MODEL_MIRROR: hub.url },
    clock: { nowMs: () => 0, schedule: immediately },
    signal: new AbortController().signal,
    stallMs: 60_000,
    ...changed,
  };
}

function immediately(delayMs: number, run: () => void): () => void {
  if (delayMs >= 60_000) return () => undefined;
  const timer = setImmediate(run);
  return () => clearImmediate(timer);
}

const target = (): string => path.join(folder, entry.file);
const part = (): string => `${target()}.part`;
const installed = (): boolean => existsSync(target()) && readFileSync(target()).equals(content);

describe("a pull that succeeds", () => {
  it("brings the file under its name and leaves nothing beside it", async () => {
    const seen: PullProgress[] = [];
    const pulled = await pullModel(entry, parts({ onProgress: (step) => void seen.push(step) }));
    expect(pulled).toEqual({ ok: true, value: target() });
    expect(installed()).toBe(true);
    expect(readdirSync(folder)).toEqual([entry.file]);
    expect(seen.at(-1)).toEqual({ doneBytes: content.length, totalBytes: content.length });
    expect(hub.requests[0]?.path).toBe("/someone/tiny/resolve/main/tiny.gguf");
  });

  it("asks nobody when the file is there", async () => {
    await pullModel(entry, parts());
    expect((await pullModel(entry, parts())).ok).toBe(true);
    expect(hub.requests).toHaveLength(1);
  });

  it("goes on where a connection broke", async () => {
    hub.next(cut(content, 70_000), cut(content, 50_000));
    expect((await pullModel(entry, parts())).ok).toBe(true);
    expect(installed()).toBe(true);
    expect(hub.requests.map(({ ranged }) => ranged)).toEqual([false, true, true]);
    expect(hub.requests.at(-1)?.from).toBeGreaterThan(0);
  });

  it("goes on from what an earlier run kept", async () => {
    writeFileSync(part(), content.subarray(0, 150_000));
    expect((await pullModel(entry, parts())).ok).toBe(true);
    expect(hub.requests.map(({ from }) => from)).toEqual([150_000]);
    expect(installed()).toBe(true);
  });

  it("begins anew where the server has no ranges", async () => {
    writeFileSync(part(), content.subarray(0, 150_000));
    hub.next(withoutRanges(content));
    expect((await pullModel(entry, parts())).ok).toBe(true);
    expect(installed()).toBe(true);
  });

  it("begins anew where more was kept than there is", async () => {
    writeFileSync(part(), new Uint8Array(content.length + 5));
    expect((await pullModel(entry, parts())).ok).toBe(true);
    expect(installed()).toBe(true);
  });

  it("follows redirects to another path", async () => {
    hub.next(status(302, { location: "/elsewhere" }));
    expect((await pullModel(entry, parts())).ok).toBe(true);
    expect(hub.requests.map(({ path: asked }) => asked).at(-1)).toBe("/elsewhere");
    expect(installed()).toBe(true);
  });

  it("goes through a proxy that the environment names", async () => {
    const env = {
      PIXIE_MODEL_MIRROR: "http://hub.invalid/",
      http_proxy: hub.url.replace("http://", "http://me:secret@"),
    };
    expect((await pullModel(entry, parts({ env }))).ok).toBe(true);
    expect(hub.requests[0]?.path).toBe("http://hub.invalid/someone/tiny/resolve/main/tiny.gguf");
    expect(hub.requests[0]?.headers["proxy-authorization"]).toBe(`Basic ${btoa("me:secret")}`);
  });

  it("tries again after a server's own trouble", async () => {
    hub.next(status(503), status(429));
    expect((await pullModel(entry, parts())).ok).toBe(true);
    expect(installed()).toBe(true);
  });
});

describe("a pull that fails", () => {
  it("deletes a file with the wrong hash and installs nothing", async () => {
    const wrong = content.slice();
    wrong[3] = 77;
    hub.next(whole(wrong));
    expect(await pullModel(entry, parts())).toMatchObject({ error: { type: "wrong-bytes" } });
    expect(readdirSync(folder)).toEqual([]);
  });

  it("refuses a server that has another size, before writing", async () => {
    hub.next(whole(content.subarray(0, 1_000)));
    const pulled = await pullModel(entry, parts());
    expect(pulled).toMatchObject({ error: { type: "refused" } });
    expect(JSON.stringify(pulled)).toContain("expected 200000 bytes, the server has 1000");
    expect(readdirSync(folder)).toEqual([]);
  });

  it("is not asked again after a 404", async () => {
    hub.next(status(404));
    expect(await pullModel(entry, parts())).toMatchObject({ error: { type: "refused" } });
    expect(hub.requests).toHaveLength(1);
  });

  it("gives up where nothing new comes, and keeps what came", async () => {
    hub.next(cut(content, 70_000), ...Array.from({ length: 5 }, () => status(500)));
    expect(await pullModel(entry, parts())).toMatchObject({ error: { type: "unreachable" } });
    expect(hub.requests).toHaveLength(6);
    expect(readFileSync(part()).equals(content.subarray(0, readFileSync(part()).length))).toBe(
      true,
    );
    expect((await pullModel(entry, parts())).ok).toBe(true);
  });

  it("gives up on redirects that go round", async () => {
    hub.next(...Array.from({ length: 6 }, () => status(302, { location: "/again" })));
    expect(await pullModel(entry, parts())).toMatchObject({ error: { type: "refused" } });
  });

  it("does not follow a redirect away from HTTP", async () => {
    hub.next(status(302, { location: "file:///etc/passwd" }));
    expect(await pullModel(entry, parts())).toMatchObject({ error: { type: "refused" } });
  });

  it("says how much room is missing, before asking anybody", async () => {
    const pulled = await pullModel(entry, parts({ freeBytes: async () => 1_048_576 }));
    expect(pulled).toMatchObject({ error: { type: "disk-full" } });
    expect(JSON.stringify(pulled)).toContain("expected 65 MiB free, got 1 MiB");
    expect(hub.requests).toEqual([]);
  });

  it("names the setting of a mirror that is no address", async () => {
    const pulled = await pullModel(entry, parts({ env: { PIXIE_MODEL_MIRROR: "mirror" } }));
    expect(JSON.stringify(pulled)).toContain("PIXIE_MODEL_MIRROR: expected an address");
  });

  it("names the setting of a proxy that is none", async () => {
    const env = { PIXIE_MODEL_MIRROR: hub.url, all_proxy: "socks5://127.0.0.1:1" };
    const pulled = await pullModel(entry, parts({ env }));
    expect(pulled).toMatchObject({ error: { type: "refused" } });
    expect(JSON.stringify(pulled)).toContain("ALL_PROXY");
  });

  it("says when the folder cannot be made", async () => {
    writeFileSync(path.join(folder, "file"), "");
    const pulled = await pullModel(entry, parts({ folder: path.join(folder, "file", "models") }));
    expect(pulled).toMatchObject({ error: { type: "folder" } });
  });
});

describe("a pull that is stopped", () => {
  it("ends at once, keeps what came, and goes on later", async () => {
    const stop = new AbortController();
    hub.next(stall(content, 90_000));
    const onProgress = ({ doneBytes }: PullProgress): void => {
      if (doneBytes >= 90_000) stop.abort();
    };
    const pulled = await pullModel(entry, parts({ signal: stop.signal, onProgress }));
    expect(pulled).toMatchObject({ error: { type: "aborted" } });
    expect(readdirSync(folder)).toEqual([`${entry.file}.part`]);
    expect((await pullModel(entry, parts())).ok).toBe(true);
    expect(hub.requests.at(-1)?.from).toBe(90_000);
  });

  it("asks anew where a server falls silent", async () => {
    hub.next(stall(content, 90_000));
    // The last watch that was set is the one over the silence; it runs out when the test says so.
    let runOut: (() => void) | undefined;
    const schedule = (delayMs: number, run: () => void): (() => void) => {
      if (delayMs === 60_000) runOut = run;
      return immediately(delayMs, run);
    };
    const onProgress = ({ doneBytes }: PullProgress): void => {
      if (doneBytes === 90_000) setImmediate(() => runOut?.());
    };
    const clock = { nowMs: () => 0, schedule };
    expect((await pullModel(entry, parts({ clock, onProgress }))).ok).toBe(true);
    expect(hub.requests.map(({ from }) => from)).toEqual([0, 90_000]);
  });
});
