/** Share → review → accept, with a real store on both sides. */
import { afterEach, beforeEach, describe, expect, it } from "vitest";

import type { Review } from "../../../src/device/skills/review.ts";
import { skillImports } from "../../../src/device/store/skills.ts";
import { contactView, librarian, type Librarian } from "../../support/library.ts";

let ada: Librarian;
let ben: Librarian;
beforeEach(() => {
  ada = librarian("ada", [
    contactView("ben"),
    contactView("cleo", { reachable: false, reason: "their profile has not arrived yet" }),
  ]);
  ben = librarian("ben", [contactView("ada")]);
});
afterEach(() => {
  ada[Symbol.dispose]();
  ben[Symbol.dispose]();
});

function make(owner: Librarian, handle: string, detailedBody: string): void {
  const saved = owner.skills.save({ handle, shortDescription: `About ${handle}.`, detailedBody });
  if (!saved.ok) throw new Error(saved.error.message);
}

/** Shares from one person to the other, as message `id` there. */
function hand(from: Librarian, to: Librarian, skill: string, id: string): void {
  const shared = from.skills.share(skill, to.aik);
  if (!shared.ok) throw new Error(shared.error.message);
  to.receive(from.aik, id, from.sent.at(-1)?.text ?? "");
}

function reviewed(owner: Librarian, messageId: string): Review {
  const review = owner.skills.review(messageId);
  if (!review.ok) throw new Error(review.error.message);
  return review.value;
}

const ids = (owner: Librarian): readonly string[] => owner.skills.list().map((skill) => skill.id);

describe("share", () => {
  it("S1: sends the skill with every skill it mentions, tools left out", () => {
    hand(ada, ben, "search-info", "m1");
    const wire: unknown = JSON.parse(ada.sent[0]?.text ?? "");
    expect(wire).toMatchObject({
      pixie_skill_share: { skill: { id: "search-info" }, closure: [{ id: "fetch-file" }] },
    });
    expect(ada.sent[0]?.aik).toBe("ben");
  });

  it("S3: refuses a contact who cannot be reached, with the reason, and sends nothing", () => {
    expect(ada.skills.share("search-info", "cleo")).toMatchObject({
      error: {
        type: "unreachable-contact",
        message: expect.stringContaining("their profile has not arrived yet"),
      },
    });
    expect(ada.skills.share("search-info", "zoe")).toMatchObject({
      error: { type: "no-such-contact" },
    });
    expect(ada.skills.share("nobody", "ben")).toMatchObject({ error: { type: "no-such-skill" } });
    expect(ada.sent).toEqual([]);
  });
});

describe("review", () => {
  it("S6: shows every item whole and stores nothing", () => {
    make(ada, "agenda", "List the points.");
    make(ada, "meeting", "Use @agenda, then @calendar.");
    hand(ada, ben, "meeting", "m1");
    const before = ben.skills.list();
    const review = reviewed(ben, "m1");
    expect(review.items.map((item) => item.resulting.detailedBody)).toEqual([
      "Use @agenda, then @calendar.",
      "List the points.",
    ]);
    expect(review.tools.map((tool) => tool.slug)).toEqual(["calendar"]);
    expect(review.outcomeLines).toEqual(["Imported @meeting, @agenda."]);
    expect(ben.skills.list()).toEqual(before);
    expect(ben.store.read(skillImports)).toEqual([]);
    expect(ben.changes()).toBe(0);
  });

  it("refuses what is no share, one's own copy, and an id that nobody used", () => {
    hand(ada, ben, "search-info", "m1");
    ben.receive("ada", "m2", "just text");
    ben.receive("ben", "m3", ada.sent[0]?.text ?? "");
    ben.receive("ada", "m4", '{"pixie_skill_share":{"skill":{}}}');
    const typeOf = (id: string): string => {
      const review = ben.skills.review(id);
      return review.ok ? "ok" : review.error.type;
    };
    expect(["m1", "m2", "m3", "m4", "m5"].map(typeOf)).toEqual([
      "ok",
      "not-a-share",
      "own-share",
      "not-a-share",
      "no-such-message",
    ]);
  });

  it("R14: two senders may use one message id: then neither is guessed", () => {
    hand(ada, ben, "search-info", "m1");
    ben.receive("cleo", "m1", ada.sent[0]?.text ?? "");
    expect(ben.skills.review("m1")).toMatchObject({ error: { type: "ambiguous-message" } });
    ben.receive("dan", "m2", "text under the same id");
    ben.receive("ada", "m2", ada.sent[0]?.text ?? "");
    expect(ben.skills.review("m2").ok).toBe(true);
  });
});

describe("accept", () => {
  it("S9: what is imported lands enabled and off the menu, with provenance and an import row", () => {
    make(ada, "meeting", "Use @calendar.");
    hand(ada, ben, "meeting", "m1");
    const accepted = ben.skills.accept("m1", reviewed(ben, "m1").acceptHash);
    expect(accepted).toEqual({
      ok: true,
      value: { lines: ["Imported @meeting."], imported: ["meeting"] },
    });
    expect(ben.skills.list().at(-1)).toMatchObject({
      id: "meeting",
      enabled: true,
      advertised: false,
      detailedBody: "Use @calendar.",
    });
    expect(ben.store.read(skillImports)).toMatchObject([{ senderAik: "ada", messageId: "m1" }]);
    expect(ben.changes()).toBe(1);
  });

  it("S7: re-slugs beside a different local skill and leaves that one alone", () => {
    make(ada, "meeting", "Her way.");
    make(ada, "week", "Use @meeting.");
    make(ben, "meeting", "His way.");
    hand(ada, ben, "week", "m1");
    const accepted = ben.skills.accept("m1", reviewed(ben, "m1").acceptHash);
    expect(accepted).toMatchObject({
      value: {
        lines: ["Imported @week.", "@meeting was taken — imported as @meeting-2."],
        imported: ["week", "meeting-2"],
      },
    });
    const bodies = new Map(ben.skills.list().map((skill) => [skill.id, skill.detailedBody]));
    expect(bodies.get("meeting")).toBe("His way.");
    expect(bodies.get("meeting-2")).toBe("Her way.");
    expect(bodies.get("week")).toBe("Use @meeting-2.");
  });

  it("importing twice is a no-op, also after the re-slug and after a rename", () => {
    make(ada, "meeting", "Her way.");
    make(ben, "meeting", "His way.");
    hand(ada, ben, "meeting", "m1");
    ben.skills.accept("m1", reviewed(ben, "m1").acceptHash);
    ben.skills.rename("meeting-2", "hers");
    const before = ids(ben);
    hand(ada, ben, "meeting", "m2");
    expect(ben.skills.accept("m2", reviewed(ben, "m2").acceptHash)).toEqual({
      ok: true,
      value: { lines: ["Nothing new — you already had all of this."], imported: [] },
    });
    expect(ids(ben)).toEqual(before);
  });

  it("needs the hash of a review, and a new review when something changed in between", () => {
    make(ada, "meeting", "Use @fetch-file.");
    hand(ada, ben, "meeting", "m1");
    const before = ben.skills.list();
    expect(ben.skills.accept("m1", "anything")).toMatchObject({
      error: { type: "review-outdated" },
    });
    const { acceptHash } = reviewed(ben, "m1");
    // A local skill of that name appears after the review: the landing would be another one.
    make(ben, "meeting", "His way.");
    expect(ben.skills.accept("m1", acceptHash)).toMatchObject({
      error: { type: "review-outdated" },
    });
    expect(ids(ben)).toEqual([...before.map((skill) => skill.id), "meeting"]);
    expect(ben.store.read(skillImports)).toEqual([]);
    expect(ben.skills.accept("m1", reviewed(ben, "m1").acceptHash).ok).toBe(true);
  });

  it("a body that the bundle calls may not change unseen either", () => {
    make(ben, "helper", "Harmless.");
    make(ada, "meeting", "First @calendar.");
    ada.skills.save({ handle: "helper", shortDescription: "x", detailedBody: "Harmless." });
    ada.skills.save({
      id: "meeting",
      handle: "meeting",
      shortDescription: "x",
      detailedBody: "Use @helper.",
    });
    hand(ada, ben, "meeting", "m1");
    const { acceptHash } = reviewed(ben, "m1");
    ben.skills.save({
      id: "helper",
      handle: "helper",
      shortDescription: "x",
      detailedBody: "Something else.",
    });
    expect(ben.skills.accept("m1", acceptHash)).toMatchObject({
      error: { type: "review-outdated" },
    });
  });

  it("the reader's choices are part of what was reviewed", () => {
    make(ada, "meeting", "Her way.");
    make(ben, "meeting", "His way.");
    hand(ada, ben, "meeting", "m1");
    const keep = { fill: [], beside: [], keep: [{ wireId: "meeting", localId: "meeting" }] };
    const review = ben.skills.review("m1", keep);
    if (!review.ok) throw new Error(review.error.message);
    expect(ben.skills.accept("m1", review.value.acceptHash)).toMatchObject({
      error: { type: "review-outdated" },
    });
    expect(ben.skills.accept("m1", review.value.acceptHash, keep)).toMatchObject({
      value: { lines: ["Kept your @meeting."], imported: [] },
    });
    expect(ids(ben)).toHaveLength(4);
  });

  it("A10, A6: a name that a local text waits for is not filled by an import", () => {
    make(ben, "meeting", "Soon.");
    make(ben, "week", "Use @meeting.");
    ben.skills.remove("meeting", { confirmed: true });
    make(ada, "meeting", "Her way.");
    hand(ada, ben, "meeting", "m1");
    const review = reviewed(ben, "m1");
    expect(review.items[0]?.fills).toEqual(["week"]);
    ben.skills.accept("m1", review.acceptHash);
    expect(ids(ben).at(-1)).toBe("meeting-2");
  });
});
