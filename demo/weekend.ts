/**
 * The story's last chapters: Bob asks his own agent about the weekend. A real calendar file, the
 * basic brain, and an answer that comes from the file; then a language model, where one was fetched.
 */
import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { cachedModel } from "../scripts/models/cache.ts";
import { type AgentEvent, answerOf, stopOf } from "../src/device/agent/events.ts";
import type { Device } from "../src/device/device.ts";
import type { Narrator } from "./narrator.ts";
import { valueOf } from "./people.ts";

// Every weekend has a Saturday, so the story holds whenever it is told.
const calendar = [
  "BEGIN:VCALENDAR",
  "VERSION:2.0",
  "PRODID:-//pixie demo//EN",
  "BEGIN:VEVENT",
  "UID:market@demo.pixie",
  "DTSTAMP:20260101T000000Z",
  "DTSTART;TZID=Europe/Berlin:20260103T100000",
  "DTEND;TZID=Europe/Berlin:20260103T120000",
  "RRULE:FREQ=WEEKLY;BYDAY=SA",
  "SUMMARY:Flea market with Nora",
  "END:VEVENT",
  "END:VCALENDAR",
  "",
].join("\r\n");

/** Tells the chapter. Throws at the first expectation that does not hold. */
export async function askAboutTheWeekend(
  narrator: Narrator,
  bob: Device,
  folder: string,
): Promise<void> {
  narrator.chapter("Bob asks his agent what is on this weekend");
  const file = path.join(folder, "calendars", "bob.ics");
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, calendar);
  const question = "what is on this weekend?";
  const blind = valueOf(await bob.agent.ask(question));
  narrator.expect(
    answerOf(blind)?.includes("Flea market") === false,
    "what Bob has not granted, his agent cannot read",
  );
  valueOf(bob.sources.grant("calendar", file));
  narrator.say("Bob grants his calendar file to the calendar tool.");
  const events = valueOf(await bob.agent.ask(question));
  for (const event of events) tell(narrator, event);
  narrator.expect(
    events.some((event) => event.type === "plan" && event.handles.includes("check-schedule")),
    "the plan named @check-schedule, chosen by its line on the menu",
  );
  narrator.expect(
    events.some((event) => event.type === "bound" && event.tools.length === 2),
    "its two mentions are all that could be called",
  );
  narrator.expect(
    answerOf(events)?.includes("Flea market with Nora") === true,
    "the answer names the event",
  );
  narrator.expect(bob.agent.runs().length === 2, "both runs are kept, and can be shown again");
  await askTheModel(narrator, bob, question);
}

/** Asks a language model the same. Without one the story is whole, and says how to get it. */
async function askTheModel(narrator: Narrator, bob: Device, question: string): Promise<void> {
  const name = "qwen-coder-1.5b";
  if (cachedModel(name) === undefined) {
    narrator.say(`A language model answers here as well, once npm run models ${name} has run.`);
    return;
  }
  narrator.chapter(`Bob lets ${name} answer the same question, on this machine`);
  valueOf(await bob.models.use(name));
  narrator.say("The file's hash is right, and it plans. An idle laptop answers within seconds.");
  const events = valueOf(await bob.agent.ask(question));
  for (const event of events) tell(narrator, event);
  narrator.expect(
    events.some((event) => event.type === "tool-result" && event.tool === "queryCalendar"),
    "it looked into the calendar",
  );
  narrator.expect(stopOf(events)?.reason === "answered", "and then answered");
}

function tell(narrator: Narrator, event: AgentEvent): void {
  if (event.type === "plan") narrator.say(`Plan: ${event.sentence}`);
  if (event.type === "bound") narrator.say(`Bound: ${event.tools.join(", ")}.`);
  if (event.type === "tool-call") narrator.say(`Call: ${event.tool} ${JSON.stringify(event.args)}`);
  if (event.type === "answer") narrator.say(event.text);
}
