/**
 * A disk that fills up: a small tmpfs under the embedded database, and a file that takes the room
 * away. Mounting needs root, which the gate has; without it the test says that it was left out.
 */
import { execFileSync } from "node:child_process";
import { appendFileSync, chmodSync, mkdtempSync, rmSync, statfsSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";

import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { createRelay, defaultConfig, type Relay } from "../../src/relay/index.ts";
import { createLog } from "../../src/relay/log.ts";
import { systemClock } from "../../src/shared/clock.ts";
import { type RelayAccount, uploadTo } from "../support/accounts.ts";
import { connectDevice, postUpload, registerAccount } from "../support/relay.ts";

const mebibyte = 1_048_576;
const folder = mkdtempSync(path.join(tmpdir(), "pixie-disk-"));
const mounted = mount();

function mount(): boolean {
  try {
    execFileSync("mount", ["-t", "tmpfs", "-o", "size=420m,mode=755", "tmpfs", folder], {
      stdio: "ignore",
    });
    return true;
  } catch {
    process.stderr.write("disk-full: left out, a tmpfs cannot be mounted here\n");
    rmSync(folder, { recursive: true });
    return false;
  }
}

describe.runIf(mounted)("a disk that fills up", () => {
  const ballast = path.join(folder, "ballast");
  let relay: Relay;
  let bob: RelayAccount;
  beforeAll(async () => {
    chmodSync(folder, 0o755);
    const started = await createRelay({
      config: {
        ...defaultConfig,
        port: 0,
        dataDir: path.join(folder, "relay"),
        storageReserveMb: 100,
        mailboxUploadsPerMinute: 1_000_000,
        addressRequestsPerMinute: 1_000_000,
      },
      clock: systemClock,
      log: createLog({ level: "silent" }),
    });
    if (!started.ok) throw new Error(started.error.message);
    relay = started.value;
    bob = await registerAccount(relay, systemClock.nowMs());
  });
  afterAll(async () => {
    await relay.close();
    execFileSync("umount", [folder]);
    rmSync(folder, { recursive: true });
  });

  let stored = 0;
  const post = async (): Promise<number> => {
    const nowMs = systemClock.nowMs();
    const upload = uploadTo(bob, [bob.devices[0]!.mailbox], { origin: relay.origin, nowMs });
    const { status, body } = await postUpload(relay, upload);
    // A mailbox that has its fill is told apart from a disk that has.
    if (body.results?.[0]?.state === "stored") stored += 1;
    return status;
  };
  async function postUntil(status: number): Promise<void> {
    for (;;) {
      const answer = await post();
      if (answer === status) return;
      expect([202, 507]).toContain(answer);
    }
  }
  const freeBytes = (): number => {
    const { bavail, bsize } = statfsSync(folder);
    return bavail * bsize;
  };

  it(
    "O20: stops accepting before it is full, keeps delivering, and takes up again",
    { timeout: 120_000 },
    async () => {
      await postUntil(202);
      while (freeBytes() > 60 * mebibyte) appendFileSync(ballast, Buffer.alloc(4 * mebibyte));
      await postUntil(507);
      expect(freeBytes()).toBeGreaterThan(20 * mebibyte);

      const device = await connectDevice(relay, bob.devices[0]!);
      for (let taken = 0; taken < stored; taken += 1) device.ack((await device.delivery()).seq);
      await device.frame("drained");
      expect((await device.request({ type: "mailbox-status" })).ok).toMatchObject({ queued: 0 });
      expect(await post()).toBe(507);

      rmSync(ballast);
      await postUntil(202);
      await device.delivery();
      expect(device.deliveries).toHaveLength(stored);
      await device.cut();
    },
  );
});
