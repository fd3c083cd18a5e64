import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { befriend, expectOk, settled, texts, until } from "../support/pair.ts";
import { setStage } from "../support/stage.ts";

const stage = setStage();
const { person, sibling } = stage;

describe("two people", () => {
  it("become contacts by an invite, and a message is confirmed end to end", async () => {
    const alice = await person("Alice");
    const bob = await person("Bob");
    await befriend(alice, bob);
    expect(alice.contacts()).toMatchObject([{ name: "Bob", relation: "contact", reachable: true }]);
    expect(bob.contacts()).toMatchObject([{ name: "Alice", relation: "contact", reachable: true }]);

    const { messageId } = expectOk(alice.send("Bob", "hello Bob"));
    await until(alice, "confirmed", () => alice.delivery(messageId)?.state === "confirmed");
    expect(texts(bob, "Alice")).toEqual(["hello Bob"]);
    expect(texts(alice, "Bob")).toEqual(["hello Bob"]);
    await settled(alice, bob);
    expect(alice.status()).toMatchObject({ outboxOpen: 0, setAside: 0 });
    expect(bob.status()).toMatchObject({ outboxOpen: 0, setAside: 0 });
  });

  it("R52: text arrives byte for byte: NUL, emoji, the empty text", async () => {
    const alice = await person("Alice");
    const bob = await person("Bob");
    await befriend(alice, bob);
    const sent = ["a\u0000b", "\ufeffmark", "👩‍👩‍👧‍👦".repeat(300), "", "x".repeat(261_815)];
    for (const text of sent) expectOk(alice.send("Bob", text));
    await settled(alice, bob);
    await until(bob, "all are there", () => texts(bob, "Alice").length === sent.length);
    expect(texts(bob, "Alice")).toEqual(sent);
  });

  it("gets what was sent while a device was away, in order, and once", async () => {
    const alice = await person("Alice");
    const bob = await person("Bob");
    await befriend(alice, bob);
    const folder = mkdtempSync(path.join(tmpdir(), "pixie-e2e-"));
    const storeKey = { type: "key-file" } as const;
    const carol = await person("Carol", { dataDir: folder, storeKey });
    await befriend(alice, carol);
    await carol.close();
    const sent = Array.from({ length: 30 }, (_, i) => `message ${i}`);
    const ids = sent.map((text) => expectOk(alice.send("Carol", text)).messageId);
    await settled(alice);
    expect(ids.map((id) => alice.delivery(id)?.state)).toEqual(ids.map(() => "accepted"));
    const again = await stage.device({ dataDir: folder, storeKey });
    expectOk(again.start());
    await settled(again, alice);
    expect(texts(again, "Alice")).toEqual(sent);
    await until(alice, "all are confirmed", () =>
      ids.every((id) => alice.delivery(id)?.state === "confirmed"),
    );
    await again.close();
    rmSync(folder, { recursive: true, force: true });
  });

  it("refuses what could not arrive as written, and says the limit", async () => {
    const alice = await person("Alice");
    const bob = await person("Bob");
    await befriend(alice, bob);
    expect(alice.send("Bob", "x".repeat(261_816))).toMatchObject({
      ok: false,
      error: { type: "too-large", message: expect.stringContaining("261815") },
    });
    expect(alice.send("Bob", "half \ud83d")).toMatchObject({ error: { type: "lone-surrogate" } });
    const forged = JSON.stringify({ pixie_message_op: { op: "delete" } });
    expect(alice.send("Bob", forged)).toMatchObject({ error: { type: "reserved-text" } });
    expect(alice.send("Nobody", "hi")).toMatchObject({ error: { type: "no-contact" } });
    expect(texts(alice)).toEqual([]);
  });

  it("an invite works once, and a second guest is told why not", async () => {
    const alice = await person("Alice");
    const bob = await person("Bob");
    const carol = await person("Carol");
    const { link } = expectOk(await alice.invite());
    expectOk(await bob.acceptInvite(link));
    await until(alice, "Bob is there", () => alice.contacts().length === 1);
    await settled(alice, bob);
    expect(await carol.acceptInvite(link)).toMatchObject({ error: { type: "invite-closed" } });
    expect(carol.contacts()).toEqual([]);
    expect(await alice.acceptInvite(link)).toMatchObject({ error: { type: "own-invite" } });
  });
});

describe("several devices", () => {
  it("D4, R30: the laptop shows what the phone sent, with the same id, and both get the answer", async () => {
    const phone = await person("Alice");
    const bob = await person("Bob");
    await befriend(phone, bob);
    expectOk(phone.send("Bob", "before the laptop"));
    await settled(phone, bob);
    const laptop = await sibling(phone, "laptop");
    await until(laptop, "Bob is known", () => laptop.contacts().some((row) => row.name === "Bob"));
    await until(laptop, "history is there", () => texts(laptop).length === 1);

    const { messageId } = expectOk(phone.send("Bob", "from the phone"));
    await until(laptop, "the echo is there", () =>
      expectOk(laptop.messages("Bob")).some((message) => message.messageId === messageId),
    );
    expect(texts(laptop, "Bob")).toEqual(["before the laptop", "from the phone"]);
    expect(expectOk(laptop.messages("Bob")).every((message) => message.fromMe)).toBe(true);

    expectOk(bob.send("Alice", "to both"));
    await until([phone, laptop], "the answer is on both", () =>
      [phone, laptop].every((device) => texts(device, "Bob").includes("to both")),
    );
    expectOk(laptop.send("Bob", "from the laptop"));
    await until([bob, phone], "everyone has it", () =>
      [bob.messages("Alice"), phone.messages("Bob")].every((messages) =>
        expectOk(messages).some((message) => message.text === "from the laptop"),
      ),
    );
    await settled(phone, laptop, bob);
    expect(texts(phone, "Bob")).toEqual(texts(laptop, "Bob"));
    for (const device of [phone, laptop, bob]) {
      await until(device, "nothing is open", () => device.status().outboxOpen === 0);
      expect(device.status().setAside).toBe(0);
    }
  });
});
