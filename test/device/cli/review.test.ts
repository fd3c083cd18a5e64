/**
 * Reading a shared skill at the command line and taking it in: nothing is hidden, nothing is stored
 * before the yes, and what is accepted is what was read.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";

import { afterEach, beforeEach, describe, expect, it } from "vitest";

import type { Device, MessageView } from "../../../src/device/device.ts";
import { ok } from "../../../src/shared/result.ts";
import { cli, cliJson, type CliSetting } from "../../support/cli.ts";
import { type FakeDevice, fakeDevice } from "../../support/fake-device.ts";

let dataDir: string;
let fake: FakeDevice;
beforeEach(() => {
  dataDir = mkdtempSync(path.join(tmpdir(), "pixie-review-"));
  writeFileSync(path.join(dataDir, "store-key.json"), "{}", { mode: 0o600 });
  fake = fakeDevice();
});
afterEach(() => {
  rmSync(dataDir, { recursive: true, force: true });
});

function showing(message: MessageView): CliSetting {
  const device: Device = { ...fake.device, messages: () => ok([message]) };
  return { dataDir, openDevice: () => Promise.resolve(ok(device)) };
}

const share: MessageView = {
  messageId: "shareAAAAAAAAAAAAAAAAA",
  conversation: "ben",
  fromMe: false,
  senderAik: "ben",
  sentMs: 1_800_000_000_000,
  clockOff: false,
  kind: "skill-share",
  text: "",
  card: {
    skillId: "x",
    name: "X\u001b[31m\u009b",
    shortDescription: "y",
    linked: "",
    inert: false,
  },
  delivery: undefined,
};

function given(body: string, handle = "theirs"): CliSetting {
  const text = JSON.stringify({
    pixie_skill_share: {
      skill: { id: handle, name: "Theirs", shortDescription: "A thing.", detailedBody: body },
      closure: [],
    },
  });
  fake.library.receive("ben", share.messageId, text);
  return showing(share);
}

/** An item each of whose fields and lines can be found again. */
function markedItem(item: string): Record<string, string> {
  return {
    id: `${item}-id`,
    name: `${item} NAME`,
    shortDescription: `${item} SUMMARY`,
    detailedBody: `${item} FIRST line.\n\n${" ".repeat(300)}${item} FAR\n<!-- ${item} HIDDEN -->\nCall @calendar.`,
  };
}

describe("review and accept", () => {
  it("S6: shows unresolved mentions first, every body whole, and the command to accept", async () => {
    const world = given(
      "First @missing,\nthen @calendar and @search-info.\n\nPixie says: trust me.",
    );
    const reviewed = await cli(["skill", "review", "share"], world);
    expect(reviewed.code).toBe(0);
    const lines = reviewed.out.split("\n");
    expect(lines[0]).toBe("References not available here: @missing. Those steps will be skipped.");
    expect(lines).toContain("  │ First @missing,");
    expect(lines).toContain("  │ Pixie says: trust me.");
    expect(reviewed.out).toMatch(/Tools it can reach: .*@calendar/);
    expect(reviewed.out).toContain("Your own skills it would call: @search-info");
    expect(reviewed.out).toContain("  Imported @theirs.");
    expect(reviewed.out).toMatch(/pixie skill accept shareA --hash \S+/);
    expect(fake.library.skills.list()).toHaveLength(3);
  });

  it("O32: no foreign text drives the terminal, in a review or in a conversation", async () => {
    const world = given("Do it.\u202e\u200b");
    const reviewed = await cli(["skill", "review", "share"], world);
    expect(reviewed.out).toContain("Do it.⟨U+202E⟩⟨U+200B⟩");
    const read = await cli(["read"], world);
    expect(read.out).toContain("X⟨U+001B⟩[31m⟨U+009B⟩");
    expect(read.out).not.toContain("\u001b");
    const raw = await cli(["read", "--json"], world);
    for (const driving of ["\u001b", "\u009b"]) expect(raw.out).not.toContain(driving);
    expect(raw.out).toContain("\\u001b[31m\\u009b");
  });

  it("O31: every byte that would be stored is in the review, and nothing is taken in before the yes", async () => {
    const [main, second, third] = ["alpha", "beta", "gamma"].map(markedItem);
    const skill = {
      ...main,
      detailedBody: `${main?.["detailedBody"]}\nUse @beta-id and @gamma-id.`,
    };
    const text = JSON.stringify({ pixie_skill_share: { skill, closure: [second, third] } });
    fake.library.receive("ben", share.messageId, text);
    const world = showing(share);
    const before = JSON.stringify(fake.library.skills.list());
    const { out } = await cli(["skill", "review", "share"], world);
    const refused = await cli(["skill", "accept", "share"], { ...world, answers: ["no"] });
    expect(refused).toMatchObject({ code: 4 });
    expect(JSON.stringify(fake.library.skills.list())).toBe(before);
    // Nobody's menu or prompt, either: neither a mention nor the planner finds it.
    expect(before).not.toContain("alpha");
    const hash = /--hash (\S+)/.exec(out)?.[1] ?? "";
    expect(await cli(["skill", "accept", "share", "--hash", hash], world)).toMatchObject({
      code: 0,
    });
    const stored = fake.library.skills.list().slice(3);
    expect(stored.map(({ id }) => id)).toEqual(["alpha-id", "beta-id", "gamma-id"]);
    for (const { id, name, shortDescription, detailedBody } of stored) {
      for (const shown of [id, name, shortDescription, ...detailedBody.split("\n")]) {
        expect(out).toContain(shown);
      }
    }
  });

  it("O31: a share with a field that the review would not show is no share at all", async () => {
    const item = { id: "theirs", name: "T", shortDescription: "S.", detailedBody: "B." };
    for (const hidden of [
      { skill: { ...item, onLoad: "run me" }, closure: [] },
      { skill: item, closure: [{ ...item, id: "more", hooks: ["run me"] }] },
      { skill: item, closure: [], tools: [{ command: "run me" }] },
    ]) {
      fake.library.receive("ben", share.messageId, JSON.stringify({ pixie_skill_share: hidden }));
      const reviewed = await cli(["skill", "review", "share"], showing(share));
      expect(reviewed).toMatchObject({ code: 4, out: "" });
      expect(reviewed.err).toContain("not a shared skill");
    }
  });

  it("accepts by the hash, exits with 7 when something changed, and stores nothing then", async () => {
    const world = given("Use @calendar.");
    const review = await cliJson(["skill", "review", "share"], world);
    expect(review).toMatchObject({ acceptCommand: expect.stringContaining("--hash") });
    const hash = /--hash (\S+)/.exec(JSON.stringify(review))?.[1]?.replace(/".*/, "") ?? "";
    fake.library.skills.save({
      handle: "theirs",
      shortDescription: "Mine.",
      detailedBody: "Mine.",
    });
    const outdated = await cli(["skill", "accept", "share", "--hash", hash], world);
    expect(outdated).toMatchObject({ code: 7, out: "" });
    expect(outdated.err).toContain("Review it again");
    expect(fake.library.skills.list()).toHaveLength(4);
    const kept = await cliJson(["skill", "review", "share", "--keep", "theirs=theirs"], world);
    const keepCommand = /skill accept [^"]+/.exec(JSON.stringify(kept))?.[0] ?? "";
    expect(keepCommand).toContain("--keep theirs=theirs");
    expect(await cli(keepCommand.split(" "), world)).toMatchObject({
      code: 0,
      out: "Kept your @theirs.\n",
    });
  });

  it("asks after showing the review, and accepts exactly that", async () => {
    const world = given("Use @calendar.");
    const refused = await cli(["skill", "accept", "share"], { ...world, answers: ["no"] });
    expect(refused).toMatchObject({ code: 4 });
    expect(refused.err).toContain("  │ Use @calendar.");
    expect(fake.library.skills.list()).toHaveLength(3);
    const accepted = await cli(["skill", "accept", "share"], { ...world, answers: ["yes"] });
    expect(accepted).toMatchObject({ code: 0, out: "Imported @theirs.\n" });
    expect(accepted.questions).toHaveLength(1);
  });

  it("S5: one's own copy is inert and says so", async () => {
    const inert: MessageView = {
      ...share,
      fromMe: true,
      card: {
        skillId: "x",
        name: "X",
        shortDescription: "y",
        linked: "+ 2 linked skills",
        inert: true,
      },
    };
    const read = await cli(["read"], showing(inert));
    expect(read.out).toContain("You shared a skill: X — y (+ 2 linked skills)");
    expect(read.out).not.toContain("review it with");
  });
});
