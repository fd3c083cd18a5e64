/**
 * The three skills that a fresh device is seeded with, and the memory of their earlier texts.
 *
 * A bundle from a device with another release carries that release's texts; knowing their hashes
 * keeps such a copy from landing beside the one that is already here.
 * Spec: docs/skills.md "Built-ins".
 */
import { itemHash } from "./item-hash.ts";
import type { Skill, SkillItem } from "./skill.ts";

/** The built-in skills in stored order. fetch-file stays off the menu: search-info wraps it. */
export const builtinSkills: readonly Skill[] = [
  {
    id: "search-info",
    name: "Search Info",
    shortDescription:
      "Choose this to find out anything the owner may have kept: it looks through every place in turn before giving up.",
    detailedBody: [
      "Find what the owner asks for, and do not stop at the first empty place.",
      "",
      "1. Ask @check-notebook first: short facts are kept there.",
      "2. No answer yet? Use @fetch-file to look for a document that holds it.",
      "3. Still none? Search everything ever logged with @grep-memory.",
      "",
      "Answer with what was found and say where it came from. If all three places are empty, say that plainly; never guess.",
    ].join("\n"),
    enabled: true,
    advertised: true,
    nameIsSet: true,
  },
  {
    id: "check-schedule",
    name: "Check Schedule",
    shortDescription:
      "Choose this for meetings, appointments, free time or anything else on the calendar, on a given day or a relative one such as tomorrow.",
    detailedBody: [
      "Tell the owner what their calendar holds.",
      "",
      "1. Words like today, Friday or next week mean nothing without the date: start with @current-date and turn the question into a first and a last day.",
      "2. Read the events between those days with @calendar.",
      "",
      "Give a short summary in the order of the day. An empty calendar is an answer, too.",
    ].join("\n"),
    enabled: true,
    advertised: true,
    nameIsSet: true,
  },
  {
    id: "fetch-file",
    name: "Fetch File",
    shortDescription: "Finds one file on any of the owner's devices from a description of it.",
    detailedBody: [
      "Find a file that belongs to the owner.",
      "",
      "1. Use @list-devices to learn which devices there are.",
      "2. Use @find-file with a description of the file, on the device that was named or on all of them.",
      "",
      "Report the file's name and the device it is on. When several fit, list them and ask which one is meant.",
    ].join("\n"),
    enabled: true,
    advertised: false,
    nameIsSet: true,
  },
];

// Every text that a release has ever shipped, by id. A release that changes a text adds a hash here.
const knownHashesById: ReadonlyMap<string, ReadonlySet<string>> = new Map([
  ["search-info", new Set(["tEtccyTH-feWCJ3PrUmPFjvZGAkH6iFNmVCtkBGav6w"])],
  ["check-schedule", new Set(["66XduL32ulFfN7FQ_QkhrUY9dn2QjmpdbGKzMSYIh_g"])],
  ["fetch-file", new Set(["oRkwW6TiYvHbUd7SmIb_tZ7zgvVZpaFYrEbJnqKR9qg"])],
]);

/** Whether this is a text that some release shipped as the built-in of that id. */
export function isBuiltinText(item: SkillItem): boolean {
  return knownHashesById.get(item.id)?.has(itemHash(item)) ?? false;
}
