/**
 * What arrives at one device of a person with two, and what the device shows of it: the world of the
 * inbox's tests. Items are sealed by Bob, Carol or the other device; nothing else is played.
 */
import { encodeReceipt } from "../../../src/device/crypto/payload.ts";
import { sealUpload } from "../../../src/device/crypto/seal.ts";
import type { MessageView } from "../../../src/device/device.ts";
import { deliveryView, messageViews } from "../../../src/device/messaging/conversation.ts";
import { sendMessage } from "../../../src/device/messaging/send.ts";
import { setAsideRows } from "../../../src/device/store/set-aside.ts";
import { utf8 } from "../../../src/shared/bytes.ts";
import { idFromText } from "../../../src/shared/ids.ts";
import { aikOf, type DeviceWorld, deviceWorld, know } from "../../support/device-world.ts";
import {
  at,
  createPerson,
  itemsOf,
  requestOf,
  sealItem,
  type TestPerson,
  valueOf,
} from "../../support/people.ts";
import { seededRng } from "../../support/seeded-rng.ts";

/** Randomness of the senders. */
export const rng = seededRng("inbox");
/** The person whose device takes in. */
export const me = createPerson(rng, 2);
/** Two who write to them: Bob has two devices, Carol has one. */
export const bob = createPerson(rng, 2);
export const carol = createPerson(rng);
let worlds: DeviceWorld[] = [];

/** Closes what a test opened. Call after each test. */
export function closeWorlds(): void {
  for (const world of worlds) world.close();
  worlds = [];
}

/** A device of mine that knows these people. */
export function newWorld(...contacts: readonly TestPerson[]): DeviceWorld {
  const world = deviceWorld(me);
  worlds.push(world);
  for (const person of contacts) know(world, person);
  return world;
}

/** What a conversation shows, or all of them. */
export function views(world: DeviceWorld, person?: TestPerson): readonly MessageView[] {
  const conversation = person === undefined ? undefined : aikOf(person);
  return world.parts.store.read((tx) => messageViews(tx, conversation, () => undefined));
}

/** The texts in it. */
export function texts(world: DeviceWorld, person?: TestPerson): readonly string[] {
  return views(world, person).map((view) => view.text);
}

/** Why items were set aside, oldest first. */
export function reasons(world: DeviceWorld): readonly string[] {
  return world.parts.store.read(setAsideRows).map((row) => row.reason);
}

/** An item for my device. */
export function item(from: TestPerson, fields: Parameters<typeof requestOf>[2] = {}): Uint8Array {
  return sealItem(requestOf(from, me, fields), rng);
}

/** A message id. */
export const id = (byte: number): Uint8Array => new Uint8Array(16).fill(byte);

/** A message of mine that the relay has accepted. Returns its id. */
export async function sentTo(
  world: DeviceWorld,
  person: TestPerson,
  text = "mine",
): Promise<string> {
  const messageId = world.parts.store.write((tx) =>
    sendMessage(tx, aikOf(person), utf8(text), {
      nowMs: world.clock.nowMs(),
      relayNowMs: world.clock.nowMs(),
      echoDelay: [0, 0],
      rng,
    }),
  );
  await world.turn();
  return messageId;
}

/** A receipt for messages, by the first device of `from`. */
export const receipt = (from: TestPerson, ...ids: readonly string[]): Uint8Array =>
  item(from, {
    typeTag: 1,
    messageId: rng(16),
    content: encodeReceipt(ids.map((text) => idFromText(text))),
  });

/** How far the copies of a message have come. */
export const copies = (world: DeviceWorld, messageId: string): readonly string[] =>
  world.parts.store.read(
    (tx) => deliveryView(tx, messageId)?.copies.map((copy) => copy.state) ?? [],
  );

/** An item by my other device. */
export const fromSibling = (fields: Parameters<typeof requestOf>[2]): Uint8Array => {
  const laptop = at(me.devices, 1);
  const request = requestOf(me, me, fields);
  const sender = {
    dskPrivateKey: laptop.dsk.privateKey,
    certificate: laptop.certificate.record,
  };
  return at(itemsOf(valueOf(sealUpload({ ...request, sender }, rng)).upload), 0);
};
