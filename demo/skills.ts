/**
 * The skills of the story. Alice and Bob both have a `@meeting-prep`, written independently, so the
 * import has to find another name for one of them.
 */

/** What `Device.skills.save` takes. */
interface SkillText {
  readonly handle: string;
  readonly shortDescription: string;
  readonly detailedBody: string;
}

/** Alice's own meeting preparation. */
export const aliceMeetingPrep: SkillText = {
  handle: "meeting-prep",
  shortDescription: "Prepare one meeting: agenda, people, and what was agreed last time.",
  detailedBody: [
    "Find the meeting with @calendar, after @current-date has told you what day it is.",
    "Then look in @check-notebook for what is known about the people in it.",
    "Finish with three lines: purpose, open questions, what to bring.",
  ].join("\n"),
};

/** The skill that Alice gives away. It needs the one above and a built-in one. */
export const aliceWeeklyReview: SkillText = {
  handle: "weekly-review",
  shortDescription: "Look back at the week and get ready for the next one.",
  detailedBody: [
    "Ask @current-date which week this is.",
    "List what happened, using @grep-memory for anything that is not in @check-notebook.",
    "For every meeting of next week, follow @meeting-prep.",
    "When a document is missing, get it with @fetch-file.",
  ].join("\n"),
};

/** Bob's, under the same handle and quite another procedure. */
export const bobMeetingPrep: SkillText = {
  handle: "meeting-prep",
  shortDescription: "Tidy the desk and make tea before people arrive.",
  detailedBody: "Look at @calendar for who comes, and make that many cups of tea.",
};
