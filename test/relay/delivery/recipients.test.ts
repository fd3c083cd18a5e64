/** What is remembered of recipients, for how long, and that nobody is refused from memory. */
import { describe, expect, it } from "vitest";

import { createAdmissions } from "../../../src/relay/delivery/admission.ts";
import { createSubmit } from "../../../src/relay/delivery/submit.ts";
import { createRecipients, maxAgeMs } from "../../../src/relay/delivery/recipients.ts";
import type { Recipient } from "../../../src/relay/store/accounts.ts";
import { originHash } from "../../../src/shared/crypto/origin.ts";
import { keyKind, makeToken } from "../../../src/shared/crypto/token.ts";
import { idText } from "../../../src/shared/ids.ts";
import { ok } from "../../../src/shared/result.ts";
import { systemRng } from "../../../src/shared/rng.ts";
import { newAccount, newDevice, type RelayDevice, uploadTo } from "../../support/accounts.ts";
import { createManualClock } from "../../support/manual-clock.ts";

function recipient(account: string, accessKey: Uint8Array = systemRng(32)): Recipient {
  return { account, accessKey, retiredKeys: [], invites: [], mailboxes: [] };
}

/** A memory over a database that a test changes, and the reads that reached it. */
function memory(maxAccounts?: number) {
  const clock = createManualClock();
  const stored = new Map<string, Recipient>();
  const reads: string[] = [];
  const held: (() => void)[] = [];
  const world = {
    clock,
    stored,
    reads,
    /** While true, a read keeps what it saw until it is released. */
    slow: false,
    release: () => held.splice(0).forEach((go) => go()),
    recipients: createRecipients({
      read: async (account) => {
        reads.push(account);
        const found = stored.get(account);
        if (world.slow) await new Promise<void>((resolve) => held.push(resolve));
        return found;
      },
      clock,
      ...(maxAccounts === undefined ? {} : { maxAccounts }),
    }),
  };
  return world;
}

describe("recipients", () => {
  it("are remembered for less than a second, and not when the clock steps back", async () => {
    const { clock, stored, recipients } = memory();
    stored.set("a", recipient("a"));
    await recipients.read("a");
    await clock.advance(maxAgeMs - 1);
    expect(recipients.remembered("a")).toBe(stored.get("a"));
    await clock.advance(1);
    expect(recipients.remembered("a")).toBeUndefined();
    await recipients.read("a");
    clock.jump(clock.nowMs() - 1);
    expect(recipients.remembered("a")).toBeUndefined();
    await recipients.read("nobody");
    expect(recipients.remembered("nobody")).toBeUndefined();
  });

  it("are forgotten by a change, even one that overtakes a read", async () => {
    const world = memory();
    const { stored, recipients } = world;
    for (const change of [() => recipients.forget("a"), () => recipients.forgetAll()]) {
      world.slow = false;
      stored.set("a", recipient("a"));
      await recipients.read("a");
      change();
      expect(recipients.remembered("a")).toBeUndefined();
      world.slow = true;
      const reading = recipients.read("a");
      change();
      world.release();
      expect(await reading).toBe(stored.get("a"));
      expect(recipients.remembered("a")).toBeUndefined();
    }
  });

  it("stay within their bound: the one used longest ago goes", async () => {
    const { stored, recipients } = memory(2);
    for (const account of ["a", "b", "c"]) stored.set(account, recipient(account));
    await recipients.read("a");
    await recipients.read("b");
    recipients.remembered("a");
    await recipients.read("c");
    expect(["a", "b", "c"].map((each) => recipients.remembered(each)?.account)).toEqual([
      "a",
      undefined,
      "c",
    ]);
  });
});

describe("admissions", () => {
  const input = new TextEncoder().encode("an upload");
  const claimWith = (key: Uint8Array) => ({
    keyKind: keyKind.access,
    input,
    token: makeToken(input, key),
  });

  it("let in from memory, and refuse only after a fresh look", async () => {
    const { stored, reads, recipients } = memory();
    const { admit, admitAfresh } = createAdmissions(recipients);
    const [key, nextKey] = [systemRng(32), systemRng(32)];
    stored.set("a", recipient("a", key));
    expect(await admit("a", claimWith(key))).toMatchObject({ recipient: { account: "a" } });
    expect(await admit("a", claimWith(key))).toMatchObject({ recipient: { account: "a" } });
    expect(reads).toEqual(["a"]);
    // Another process changed the key: whoever has the new one is let in at once.
    stored.set("a", recipient("a", nextKey));
    expect(await admit("a", claimWith(nextKey))).toMatchObject({ recipient: { account: "a" } });
    expect(await admit("a", claimWith(key))).toBeUndefined();
    expect(await admit("nobody", claimWith(key))).toBeUndefined();
    expect(reads).toEqual(["a", "a", "a", "nobody"]);
    expect(await admitAfresh("a", claimWith(nextKey))).toBeDefined();
    expect(reads).toHaveLength(5);
  });

  it("a mailbox that memory does not know is looked up before the upload is refused", async () => {
    const { clock, stored, reads, recipients } = memory();
    const nowMs = clock.nowMs();
    const account = newAccount(nowMs);
    const [phone, tablet] = [newDevice(), newDevice()];
    const name = idText(account.accountMailbox);
    const known = (...devices: readonly RelayDevice[]): Recipient => ({
      ...recipient(name, account.accessKey),
      mailboxes: devices.map(({ box }) => ({ mailbox: box, hasPrekey: true })),
    });
    const origin = "https://relay.example";
    const submit = createSubmit({
      admissions: createAdmissions(recipients),
      acceptFor: () => async (upload) =>
        ok(upload.copies.map(({ mailbox }) => ({ mailbox, state: "stored" }))),
      addressLimit: () => 0,
      mailboxLimit: () => 0,
      originDigest: () => originHash(origin),
      storage: { isFull: () => false, noteFull: () => undefined },
      clock,
    });
    const sendTo = (...devices: readonly RelayDevice[]) => {
      const mailboxes = devices.map(({ mailbox }) => mailbox);
      return submit(uploadTo(account, mailboxes, { origin, nowMs }), "address");
    };
    stored.set(name, known(phone));
    expect(await sendTo(phone)).toMatchObject({ ok: true });
    // Another process added the tablet.
    stored.set(name, known(phone, tablet));
    expect(await sendTo(phone, tablet)).toMatchObject({ ok: true });
    expect(reads).toEqual([name, name]);
    const stranger = newDevice();
    expect(await sendTo(phone, stranger)).toMatchObject({
      ok: false,
      error: { code: "device-list-mismatch", mailboxes: [stranger.box] },
    });
    // And a key that another process replaced is told as that, not as a mailbox that is missing.
    stored.set(name, { ...known(phone), accessKey: systemRng(32) });
    expect(await sendTo(phone, stranger)).toMatchObject({
      ok: false,
      error: { code: "token-invalid" },
    });
  });

  it("never let anybody in with the key that stands for none", async () => {
    const { recipients } = memory();
    const { admit } = createAdmissions(recipients);
    expect(await admit("nobody", claimWith(new Uint8Array(32)))).toBeUndefined();
  });
});
