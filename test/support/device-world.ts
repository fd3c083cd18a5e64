/**
 * One real device in memory (store, inbox, outbox, dispatch) with a relay that a test plays by
 * hand (played-relay.ts): every delivery is handed in. Time stands still until the test moves it.
 */
import { encodeReceipt } from "../../src/device/crypto/payload.ts";
import type { Delays, DeliveryView, DeviceEvent } from "../../src/device/device.ts";
import { type DeviceParts, joinRooms } from "../../src/device/parts.ts";
import { ownIdentity } from "../../src/device/identity/keys.ts";
import { deliveryView } from "../../src/device/messaging/conversation.ts";
import { sendMessage } from "../../src/device/messaging/send.ts";
import { type NewContact, putContact } from "../../src/device/store/contacts.ts";
import {
  addOwnPrekey,
  markPrekeyPublished,
  putOwnAccount,
  putOwnDevice,
} from "../../src/device/store/identity.ts";
import { addDeviceList, markBundleFetched, putPeerPrekey } from "../../src/device/store/lists.ts";
import { openInMemory } from "../../src/device/store/open-folder.ts";
import type { WriteTx } from "../../src/device/store/sqlite.ts";
import { utf8 } from "../../src/shared/bytes.ts";
import { idFromText, idText } from "../../src/shared/ids.ts";
import type { Upload } from "../../src/shared/wire/envelope.ts";
import { createManualClock, type ManualClock } from "./manual-clock.ts";
import {
  at,
  requestOf,
  sealItem,
  testNowMs,
  testOrigin,
  type TestPerson,
  valueOf,
} from "./people.ts";
import { type PlayedRelay, playRelay, storesAll, type UploadAnswer } from "./played-relay.ts";
import { seededRng } from "./seeded-rng.ts";

export interface DeviceWorld extends PlayedRelay {
  readonly parts: DeviceParts;
  readonly clock: ManualClock;
  readonly events: DeviceEvent[];
  readonly notices: string[];
  /** How uploads are answered from now on. */
  answer: (upload: Upload) => UploadAnswer;
  /** Hands items in as one burst and waits until they are journalled. */
  readonly deliver: (...items: readonly Uint8Array[]) => Promise<void>;
  /** Lets the pump look and everything that is ready run. */
  readonly turn: () => Promise<void>;
  readonly close: () => void;
}

/** Builds the device that is `me`'s device at that index. */
export function deviceWorld(
  me: TestPerson,
  options: { readonly deviceIndex?: number; readonly delays?: Delays } = {},
): DeviceWorld {
  const clock = createManualClock(testNowMs);
  const open = valueOf(openInMemory());
  const events: DeviceEvent[] = [];
  const notices: string[] = [];
  let seq = 0n;

  const relay = playRelay(clock, (upload) => world.answer(upload));
  const parts = joinRooms({
    store: open.store,
    transport: relay.transport,
    clock,
    rng: seededRng("device world"),
    delays: options.delays ?? { echoMs: [0, 0], receiptMs: [0, 0], resendMs: [0, 0] },
    emit: (event) => void events.push(event),
    notice: (notice) => void notices.push(notice),
  });
  open.store.write((tx) => becomeDevice(tx, me, options.deviceIndex ?? 0));
  const own = open.store.read(ownIdentity);
  if (own === undefined) throw new Error("the device has no identity");
  parts.connection.start(own);
  const turn = async (): Promise<void> => {
    parts.pump.wake();
    for (let i = 0; i < 200; i++) await Promise.resolve();
  };
  const world: DeviceWorld = {
    ...relay,
    parts,
    clock,
    events,
    notices,
    answer: storesAll,
    deliver: async (...items) => {
      for (const item of items) parts.inbox.deliver({ seq: ++seq, redelivered: false, item });
      await turn();
    },
    turn,
    close: open.close,
  };
  return world;
}

/** Makes a person known: their relation, list and prekeys, fetched just now. */
export function know(
  world: DeviceWorld,
  person: TestPerson,
  fields: Partial<NewContact> = {},
): void {
  const aik = idText(person.aik.publicKey);
  world.parts.store.write((tx) => {
    putContact(tx, {
      aik,
      name: `person ${aik.slice(0, 4)}`,
      relation: "contact",
      relayOrigin: testOrigin,
      accountMailbox: idText(person.accountMailbox),
      accessKey: person.accessKey,
      addedMs: testNowMs,
      ...fields,
    });
    keepBundle(tx, person);
  });
  world.served.set(idText(person.accountMailbox), person);
}

/** The identity key of a person as text. */
export function aikOf(person: TestPerson): string {
  return idText(person.aik.publicKey);
}

/** Queues a message of the device to a person; nothing is posted yet. Returns its id. */
export function queue(world: DeviceWorld, person: TestPerson, text = "hello"): string {
  const nowMs = world.clock.nowMs();
  const messageId = world.parts.store.write((tx) =>
    sendMessage(tx, aikOf(person), utf8(text), {
      nowMs,
      relayNowMs: nowMs,
      echoDelay: [0, 0],
      rng: world.parts.rng,
    }),
  );
  return messageId;
}

/** Sends a message of the device to a person. Returns its id. */
export async function send(
  world: DeviceWorld,
  person: TestPerson,
  text = "hello",
): Promise<string> {
  const messageId = queue(world, person, text);
  await world.turn();
  return messageId;
}

/** How far a message has come. */
export function view(world: DeviceWorld, messageId: string): DeliveryView | undefined {
  return world.parts.store.read((tx) => deliveryView(tx, messageId));
}

/** Uploads for that account, oldest first. */
export function uploadsFor(world: DeviceWorld, person: TestPerson): readonly Upload[] {
  return world.uploads
    .map(({ upload }) => upload)
    .filter((upload) => idText(upload.accountMailbox) === idText(person.accountMailbox));
}

/** Mailboxes that an upload addresses. */
export function mailboxes(upload: Upload): readonly string[] {
  return upload.entries.map(({ mailbox }) => idText(mailbox));
}

/** Moves time in steps, letting the pump work after each. */
export async function pass(world: DeviceWorld, totalMs: number, stepMs = totalMs): Promise<void> {
  for (let passed = 0; passed < totalMs; passed += stepMs) {
    await world.clock.advance(stepMs);
    await world.turn();
  }
}

/** A receipt by the first device of `from`. */
export function receiptOf(
  from: TestPerson,
  owner: TestPerson,
  ...ids: readonly string[]
): Uint8Array {
  const content = encodeReceipt(ids.map((text) => idFromText(text)));
  return sealItem(
    requestOf(from, owner, { typeTag: 1, messageId: receiptRng(16), content }),
    receiptRng,
  );
}

const receiptRng = seededRng("receipts");

function becomeDevice(tx: WriteTx, me: TestPerson, index: number): void {
  const device = at(me.devices, index);
  putOwnAccount(tx, {
    aik: aikOf(me),
    aikSeed: index === 0 ? me.aik.seed : null,
    accountMailbox: idText(me.accountMailbox),
    accessKey: me.accessKey,
    relayOrigin: testOrigin,
    name: "Me",
  });
  putOwnDevice(tx, {
    deviceId: idText(device.deviceId),
    dskSeed: device.dsk.seed,
    mailbox: idText(device.mailbox),
    name: "mine",
    certificate: device.certificate.record,
    createdMs: testNowMs,
  });
  addOwnPrekey(tx, {
    prekeyId: idText(device.prekey.id),
    seed: device.xwingSeed,
    publicKey: device.prekey.publicKey,
    aik: aikOf(me),
    record: device.prekey.record,
    notBeforeMs: testNowMs,
    publishedMs: null,
    supersededMs: null,
  });
  markPrekeyPublished(tx, idText(device.prekey.id), testNowMs);
  keepBundle(tx, me);
}

function keepBundle(tx: WriteTx, person: TestPerson): void {
  const aik = aikOf(person);
  const { version, hash, record } = person.list;
  addDeviceList(tx, { aik, version, hash: idText(hash), record });
  for (const { deviceId, prekey } of person.devices) {
    putPeerPrekey(tx, {
      aik,
      deviceId: idText(deviceId),
      notBeforeMs: Number(prekey.notBeforeMs),
      record: prekey.record,
    });
  }
  markBundleFetched(tx, aik, testNowMs);
}
