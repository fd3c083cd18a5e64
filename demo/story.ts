/**
 * The main job, told from beginning to end. Each chapter is one function; what must hold is stated
 * where it happens. This is also the integration test of the whole system (test/e2e runs it).
 */
import path from "node:path";
import type { Device, MessageView } from "../src/device/device.ts";
import type { Narrator } from "./narrator.ts";
import { openDevice, until, valueOf } from "./people.ts";
import { freePort, type RelayProcess, startRelayProcess } from "./relay-process.ts";
import { askAboutTheWeekend } from "./weekend.ts";
import { aliceMeetingPrep, aliceWeeklyReview, bobMeetingPrep } from "./skills.ts";

/** Everyone in the story, and the relay between them. */
interface Cast {
  relay: RelayProcess;
  readonly phone: Device;
  readonly laptop: Device;
  bob: Device;
}

/** Tells the whole story in `folder`. Throws at the first expectation that does not hold. */
export async function tellStory(narrator: Narrator, folder: string): Promise<void> {
  const port = await freePort();
  await using cleanup = new AsyncDisposableList();
  narrator.chapter("An operator starts a relay, with nothing configured");
  const relay = await startRelayProcess(path.join(folder, "relay"), port);
  narrator.say(`The relay listens at ${relay.url}, with its own Postgres (process ${relay.pid}).`);
  const phone = await openDevice(folder, "alice-phone");
  const laptop = await openDevice(folder, "alice-laptop");
  const bob = await openDevice(folder, "bob");
  const cast: Cast = { relay, phone, laptop, bob };
  cleanup.add(() => cast.relay.stop());
  cleanup.add(() => cast.bob.close());
  cleanup.add(() => cast.laptop.close());
  cleanup.add(() => cast.phone.close());

  await register(narrator, cast);
  await meet(narrator, cast);
  await link(narrator, cast);
  const shared = await shareAcrossACrash(narrator, cast, folder, port);
  await reviewAndImport(narrator, cast, shared);
  await seeTheEcho(narrator, cast, shared);
  await shareAgain(narrator, cast);
  await askAboutTheWeekend(narrator, cast.bob, folder);
}

async function register(narrator: Narrator, cast: Cast): Promise<void> {
  narrator.chapter("Alice and Bob each set up a device");
  const { phone, bob, relay } = cast;
  const alice = valueOf(
    await phone.register({
      relayUrl: relay.url,
      accountName: "Alice",
      deviceName: "Alice's phone",
    }),
  );
  valueOf(
    await bob.register({ relayUrl: relay.url, accountName: "Bob", deviceName: "Bob's device" }),
  );
  valueOf(phone.start());
  valueOf(bob.start());
  narrator.say(`Alice's recovery code begins with ${alice.recoveryCode.slice(0, 9)}…, shown once.`);
  narrator.expect(
    phone.skills
      .list()
      .map((skill) => skill.id)
      .join(" ") === "search-info check-schedule fetch-file",
    "a fresh device has the three built-in skills",
  );
  valueOf(bob.skills.save(bobMeetingPrep));
  narrator.say("Bob writes a skill of his own, @meeting-prep.");
}

async function meet(narrator: Narrator, cast: Cast): Promise<void> {
  narrator.chapter("Alice invites Bob");
  const { phone, bob } = cast;
  const invite = valueOf(await phone.invite());
  narrator.say(`She hands him ${invite.link.slice(0, 32)}… as text or QR code.`);
  valueOf(await bob.acceptInvite(invite.link));
  await contactNamed(phone, "Bob");
  await contactNamed(bob, "Alice");
  narrator.expect(true, "both know each other, with keys that the relay could not have swapped");
}

async function link(narrator: Narrator, cast: Cast): Promise<void> {
  narrator.chapter("Alice links her laptop");
  const { phone, laptop, relay } = cast;
  const offer = valueOf(
    await laptop.offerLink({ relayUrl: relay.url, deviceName: "Alice's laptop" }),
  );
  const grant = valueOf(await phone.grantLink(offer.code));
  valueOf(await offer.admitted);
  narrator.say(`The phone shows ${grant.digits}; she types that on the laptop.`);
  valueOf(await offer.enterDigits(grant.digits));
  valueOf(laptop.start());
  valueOf(await grant.completed);
  await contactNamed(laptop, "Bob");
  narrator.expect(
    phone.devices().length === 2 && laptop.identity()?.admin === false,
    "the account has two devices, and the linked one is not admin",
  );
  narrator.expect(true, "the laptop learned about Bob from the phone");
}

async function shareAcrossACrash(
  narrator: Narrator,
  cast: Cast,
  folder: string,
  port: number,
): Promise<string> {
  narrator.chapter("Alice shares a skill while Bob is away, and the relay dies");
  const { phone } = cast;
  valueOf(phone.skills.save(aliceMeetingPrep));
  valueOf(phone.skills.save(aliceWeeklyReview));
  await cast.bob.close();
  narrator.say("Bob's device is switched off.");
  const { messageId } = valueOf(phone.skills.share("weekly-review", "Bob"));
  await until(phone, "the relay accepts the share", () =>
    phone.delivery(messageId)?.state === "accepted" ? true : undefined,
  );
  narrator.say("The relay accepted the share of @weekly-review: it is on disk there.");
  await cast.relay.kill();
  narrator.say("kill -9. Nothing is running any more.");
  cast.relay = await startRelayProcess(path.join(folder, "relay"), port);
  narrator.say(`A new relay process ${cast.relay.pid} serves the same folder.`);
  cast.bob = await openDevice(folder, "bob");
  valueOf(cast.bob.start());
  await until(cast.bob, "the share arrives", () => messageOf(cast.bob, messageId));
  narrator.expect(true, "what the relay had accepted reached Bob after the crash");
  await until(phone, "Bob's device confirms", () =>
    phone.delivery(messageId)?.state === "confirmed" ? true : undefined,
  );
  narrator.expect(true, "Alice's phone knows that it arrived, end to end");
  return messageId;
}

async function reviewAndImport(narrator: Narrator, cast: Cast, shared: string): Promise<void> {
  narrator.chapter("Bob reads all of it, then imports");
  const { bob } = cast;
  const card = messageOf(bob, shared)?.card;
  narrator.say(`Bob sees a card: ${card?.name} — ${card?.shortDescription} ${card?.linked}`);
  narrator.expect(card?.linked === "+ 2 linked skills", "the card counts what travels along");
  const before = JSON.stringify(bob.skills.list());
  const review = valueOf(bob.skills.review(shared));
  for (const item of review.items) {
    const { id, name, detailedBody } = item.resulting;
    narrator.say(`@${id} — ${name} (${item.kind})\n${detailedBody}`);
  }
  narrator.expect(JSON.stringify(bob.skills.list()) === before, "reviewing stored nothing");
  const { lines } = valueOf(bob.skills.accept(shared, review.acceptHash));
  narrator.say(lines.join("\n"));
  narrator.expect(
    lines.includes("@meeting-prep was taken — imported as @meeting-prep-2."),
    "the other @meeting-prep got another name",
  );
  narrator.expect(lines.includes("You already had @fetch-file."), "what Bob had was skipped");
  const skills = bob.skills.list();
  narrator.expect(
    JSON.stringify(skills.slice(0, 4)) === before,
    "Bob's own skills are untouched, byte for byte",
  );
  const review1 = skills.find((skill) => skill.id === "weekly-review");
  narrator.expect(
    review1?.detailedBody.includes("follow @meeting-prep-2") === true,
    "Alice's skill still calls Alice's @meeting-prep, under its new name",
  );
  narrator.expect(
    review1?.enabled === true && !review1.advertised,
    "it landed off the planner's menu",
  );
  valueOf(bob.skills.setFlags("weekly-review", { advertised: true }));
  narrator.expect(
    bob.skills.menu().some((entry) => entry.handle === "weekly-review"),
    "Bob promoted it himself, in a step of its own",
  );
  const tools = bob.skills.toolsFor("weekly-review");
  narrator.say(`Following it binds exactly: ${tools.join(", ")}.`);
  narrator.expect(
    tools.join(" ") ===
      "current_date grep_memory check_notebook queryCalendar list_devices find_file",
    "its mentions are its tools",
  );
}

async function seeTheEcho(narrator: Narrator, cast: Cast, shared: string): Promise<void> {
  narrator.chapter("Alice looks at her laptop");
  const echo = await until(cast.laptop, "the self-echo", () => messageOf(cast.laptop, shared));
  narrator.expect(echo.fromMe, "the laptop shows what the phone sent, as the same message");
  narrator.expect(echo.card?.inert === true, "her own copy of the card does nothing");
  const refused = cast.laptop.skills.review(shared);
  narrator.expect(
    !refused.ok,
    "and reviewing it says that there is nothing to import from oneself",
  );
}

async function shareAgain(narrator: Narrator, cast: Cast): Promise<void> {
  narrator.chapter("Alice shares the same skill a second time");
  const { messageId } = valueOf(cast.phone.skills.share("weekly-review", "Bob"));
  await until(cast.bob, "the second share", () => messageOf(cast.bob, messageId));
  const review = valueOf(cast.bob.skills.review(messageId));
  const count = cast.bob.skills.list().length;
  const { lines } = valueOf(cast.bob.skills.accept(messageId, review.acceptHash));
  narrator.say(lines.join("\n"));
  narrator.expect(
    lines.join("\n") === "Nothing new — you already had all of this.",
    "the second import is a no-op, although one part has another name here",
  );
  narrator.expect(cast.bob.skills.list().length === count, "no skill was added");
  const { messageId: thanks } = valueOf(cast.bob.send("Alice", "Thank you, this is great."));
  await until(cast.laptop, "Bob's thanks on the laptop", () => messageOf(cast.laptop, thanks));
  await until(cast.phone, "Bob's thanks on the phone", () => messageOf(cast.phone, thanks));
  narrator.expect(true, "Bob's answer reached both of Alice's devices, once each");
}

function contactNamed(device: Device, name: string): Promise<true> {
  return until(device, `${name} becomes a contact`, () =>
    device
      .contacts()
      .some((one) => one.name === name && one.relation === "contact" && one.reachable)
      ? true
      : undefined,
  );
}

function messageOf(device: Device, messageId: string): MessageView | undefined {
  const found = valueOf(device.messages()).filter((one) => one.messageId === messageId);
  if (found.length > 1) throw new Error("a message is shown twice");
  return found[0];
}

/** Closes what was opened, last first, even when the story breaks off. */
class AsyncDisposableList implements AsyncDisposable {
  readonly #closers: (() => Promise<void>)[] = [];

  add(close: () => Promise<void>): void {
    this.#closers.push(close);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const close of this.#closers.toReversed()) await close();
  }
}
