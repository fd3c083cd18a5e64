/**
 * kill -9 of a device in the middle of renewing its account: the next start finishes it, with the key that
 * was drawn before, and nobody is asked twice.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { startChild } from "../support/child.ts";
import { expectOk, openDevice, type Pair, settled, startPair, until } from "../support/pair.ts";

const passphrase = "crash test";

describe.each(["before", "after"])("a device killed just %s the relay took its renewal", (when) => {
  let folder: string;
  let pair: Pair;
  beforeAll(async () => {
    folder = mkdtempSync(path.join(tmpdir(), "pixie-crash-"));
    pair = await startPair({ bobFolder: folder, bobKey: passphrase });
  });
  afterAll(async () => {
    await pair.close();
    rmSync(folder, { recursive: true, force: true });
  });

  it("finishes it at the next start, and is heard under the new key", async () => {
    const { alice } = pair;
    const before = pair.bob.identity()?.aik;
    const { messageId } = expectOk(pair.bob.send("Alice", "on its way"));
    await until(pair.bob, "confirmed", () => pair.bob.delivery(messageId)?.state === "confirmed");
    await pair.bob.close();
    const child = startChild("test/crash/children/device-renewing.ts", [folder, when]);
    const { signal } = await child.ended;
    expect({ signal, stderr: child.stderr() }).toMatchObject({ signal: "SIGKILL" });

    const notices: string[] = [];
    const storeKey = { type: "passphrase", passphrase } as const;
    const onNotice = (notice: string): void => void notices.push(notice);
    const bob = await openDevice({ dataDir: folder, storeKey, onNotice });
    expectOk(bob.start());
    await until(bob, "renewed", () => bob.identity()?.aik !== before);
    await settled(bob, alice);
    expect(notices.join()).toContain("pixie device recovery-code");
    expect(bob.identity()).toMatchObject({ admin: true, listVersion: 1 });
    const { recoveryCode } = expectOk(bob.recoveryCode());
    expect(recoveryCode).toMatch(/^[0-9A-Z-]+$/);
    const aik = bob.identity()?.aik;
    await until(alice, "Alice follows", () => alice.contacts()[0]?.aik === aik);
    const sent = expectOk(bob.send("Alice", "still me"));
    await until([bob, alice], "confirmed", () => {
      return bob.delivery(sent.messageId)?.state === "confirmed";
    });
    expect(alice.contacts()).toHaveLength(1);
    await bob.close();
  }, 60_000);
});
