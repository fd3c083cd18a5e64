/** The owner's own skills over a real store: seeding, saving, renaming, switching, deleting. */
import { afterEach, beforeEach, describe, expect, it } from "vitest";

import { readCatalogue, writeCatalogue } from "../../../src/device/library/catalogue.ts";
import { parseOrigins } from "../../../src/device/library/origins-json.ts";
import { putSetting } from "../../../src/device/store/settings.ts";
import { librarian, type Librarian, memoryStore } from "../../support/library.ts";

let ada: Librarian;
beforeEach(() => {
  ada = librarian("ada");
});
afterEach(() => {
  ada[Symbol.dispose]();
});

const ids = (owner: Librarian): readonly string[] => owner.skills.list().map((skill) => skill.id);
const bodyOf = (owner: Librarian, id: string): string | undefined =>
  owner.skills.list().find((skill) => skill.id === id)?.detailedBody;

function make(handle: string, detailedBody = "Do it.", shortDescription = "A thing."): string {
  const saved = ada.skills.save({ handle, shortDescription, detailedBody });
  if (!saved.ok) throw new Error(saved.error.message);
  return saved.value.id;
}

describe("seeding", () => {
  it("N2: a fresh device has the three built-ins in stored order, fetch-file off the menu", () => {
    expect(
      ada.skills.list().map(({ id, enabled, advertised }) => [id, enabled, advertised]),
    ).toEqual([
      ["search-info", true, true],
      ["check-schedule", true, true],
      ["fetch-file", true, false],
    ]);
  });

  it("happens once: a deleted built-in stays deleted", () => {
    const store = memoryStore();
    const first = librarian("ada", [], store);
    expect(first.skills.remove("check-schedule", { confirmed: true }).ok).toBe(true);
    expect(ids(librarian("ada", [], store))).toEqual(["search-info", "fetch-file"]);
    store.close();
  });

  it("moves a skill that holds the slug of a tool, with cascade and a notice", () => {
    const store = memoryStore();
    librarian("ada", [], store);
    store.write((tx) => {
      const catalogue = readCatalogue(tx);
      const [first] = catalogue.skills;
      if (first === undefined) throw new Error("no built-ins");
      const older = { ...first, id: "calendar", detailedBody: "Look." };
      writeCatalogue(tx, {
        ...catalogue,
        skills: [older, { ...first, id: "caller", detailedBody: "Use @calendar." }],
      });
    });
    const after = librarian("ada", [], store);
    expect(ids(after)).toEqual(["calendar-2", "caller"]);
    expect(bodyOf(after, "caller")).toBe("Use @calendar-2.");
    expect(after.notices).toHaveLength(1);
    expect(after.notices[0]).toContain("@calendar-2");
    store.close();
  });

  it("throws on damaged provenance instead of guessing", () => {
    expect(() => parseOrigins('{"copies":[{}],"kept":[]}')).toThrow(/damaged/);
  });
});

describe("saving", () => {
  it("mints the slug from the handle, appends the skill, enabled and unadvertised", () => {
    expect(make("Meeting Prep")).toBe("meeting-prep");
    expect(make("Meeting Prep")).toBe("meeting-prep-2");
    expect(make("Find File")).toBe("find-file-2");
    expect(ada.skills.list().at(3)).toMatchObject({
      id: "meeting-prep",
      name: "Meeting Prep",
      enabled: true,
      advertised: false,
    });
    expect(ada.changes()).toBe(3);
  });

  it("A11: a handle keeps ASCII only, so a look-alike letter is no part of a slug", () => {
    expect(make("reаct")).toBe("re-ct");
  });

  it("refuses an unknown mention, names it, and stores nothing", () => {
    const before = ada.skills.list();
    const refused = ada.skills.save({
      handle: "plan",
      shortDescription: "x",
      detailedBody: "Use @whatever and @find-file.",
    });
    expect(refused).toMatchObject({
      ok: false,
      error: { type: "unknown-mentions", message: "@whatever — unknown, remove it to save" },
    });
    expect(ada.skills.list()).toEqual(before);
    expect(ada.changes()).toBe(0);
  });

  it("A15: an e-mail address before two hundred fifty characters is no mention and no crash", () => {
    const address = `bob@calendar.com${"x".repeat(250)}`;
    make("mail", `Write to ${address}.`);
    expect(bodyOf(ada, "mail")).toContain(address);
  });

  it.each([
    ["empty-handle", { handle: " – ", shortDescription: "x", detailedBody: "y" }],
    ["invalid-texts", { handle: "a", shortDescription: " ", detailedBody: "y" }],
    ["invalid-texts", { handle: "a", shortDescription: "x", detailedBody: "y".repeat(8_193) }],
    ["no-such-skill", { id: "nobody", handle: "a", shortDescription: "x", detailedBody: "y" }],
  ])("refuses with %s", (type, edit) => {
    expect(ada.skills.save(edit)).toMatchObject({ ok: false, error: { type } });
    expect(ids(ada)).toHaveLength(3);
  });

  it("N7: a rename cascades over bodies, summaries and the base instructions in one save", () => {
    make("plan", "Step one.");
    make("plan-trip", "Then pack.");
    make("week", "Use @Plan, then @plan-trip.", "Runs @plan.");
    ada.store.write((tx) => putSetting(tx, "base-instructions", "Prefer @plan."));
    const renamed = ada.skills.rename("plan", "Day Plan");
    expect(renamed).toMatchObject({
      ok: true,
      value: { id: "day-plan", notes: ["rewrote the mention in @week"] },
    });
    expect(bodyOf(ada, "week")).toBe("Use @day-plan, then @plan-trip.");
    expect(ada.store.read(readCatalogue).baseInstructions).toBe("Prefer @day-plan.");
    expect(ada.skills.list().find(({ id }) => id === "week")?.shortDescription).toBe(
      "Runs @day-plan.",
    );
    expect(ada.skills.list().find(({ id }) => id === "day-plan")?.name).toBe("Day Plan");
  });

  it("a rename that would burst a body is refused, names the skill and changes nothing", () => {
    make("a", "Short.");
    make("full", `@a ${"x".repeat(8_192 - 3)}`);
    const before = ada.skills.list();
    expect(ada.skills.rename("a", "a much longer handle")).toMatchObject({
      error: { type: "rename-over-cap", message: expect.stringContaining("@full") },
    });
    expect(ada.skills.list()).toEqual(before);
  });

  it("an edit under another handle renames, and a self-mention follows", () => {
    make("loop", "Once.");
    const saved = ada.skills.save({
      id: "loop",
      handle: "ring",
      shortDescription: "x",
      detailedBody: "Again: @loop.",
    });
    expect(saved).toMatchObject({ ok: true, value: { id: "ring" } });
    expect(bodyOf(ada, "ring")).toBe("Again: @ring.");
  });
});

describe("switching and deleting", () => {
  it("N8: each flag is set alone", () => {
    expect(ada.skills.setFlags("fetch-file", { advertised: true }).ok).toBe(true);
    expect(ada.skills.setFlags("search-info", { enabled: false }).ok).toBe(true);
    expect(ada.skills.list().map(({ enabled, advertised }) => [enabled, advertised])).toEqual([
      [false, true],
      [true, true],
      [true, true],
    ]);
    expect(ada.skills.setFlags("nobody", { enabled: false })).toMatchObject({
      error: { type: "no-such-skill" },
    });
  });

  it("deleting names the referrers and waits for a confirmation", () => {
    expect(ada.skills.remove("fetch-file", { confirmed: false })).toMatchObject({
      error: { type: "needs-confirmation", message: expect.stringContaining("@search-info") },
    });
    expect(ids(ada)).toContain("fetch-file");
    expect(ada.skills.remove("fetch-file", { confirmed: true })).toMatchObject({
      ok: true,
      value: { notes: [expect.stringContaining("@search-info")] },
    });
    expect(ids(ada)).not.toContain("fetch-file");
  });

  it("A10: taking a deleted skill's name again tells whose mention it fills", () => {
    ada.skills.remove("fetch-file", { confirmed: true });
    expect(
      ada.skills.save({ handle: "fetch-file", shortDescription: "x", detailedBody: "y" }),
    ).toMatchObject({ ok: true, value: { notes: ["this also changes @search-info"] } });
  });

  it("a hole that a stored body already has does not keep it from being saved", () => {
    ada.skills.remove("fetch-file", { confirmed: true });
    const body = bodyOf(ada, "search-info") ?? "";
    expect(
      ada.skills.save({
        id: "search-info",
        handle: "search-info",
        shortDescription: "Mine.",
        detailedBody: `${body}\nDone.`,
      }),
    ).toMatchObject({ ok: true, value: { notes: ["@fetch-file still names nothing"] } });
  });
});
