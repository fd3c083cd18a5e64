import { describe, expect, it } from "vitest";
import { learnBundle } from "../../../src/device/identity/bundles.ts";
import { listWithDevice } from "../../../src/device/identity/devices.ts";
import { learnLists, newestList } from "../../../src/device/identity/lists.ts";
import { drawPrekey } from "../../../src/device/identity/prekeys.ts";
import { isOwedSync, oweSync, payOwedSync } from "../../../src/device/identity/sync.ts";
import { allContacts } from "../../../src/device/store/contacts.ts";
import { allMessageRows, markSeen } from "../../../src/device/store/messages.ts";
import { utf8 } from "../../../src/shared/bytes.ts";
import { newSigningKey } from "../../../src/shared/crypto/sodium.ts";
import { idText } from "../../../src/shared/ids.ts";
import { testNowMs, valueOf } from "../../support/people.ts";
import { seededRng } from "../../support/seeded-rng.ts";
import { befriend, bundleOf, registered, type Registered, textsOf } from "./identity-world.ts";
import { bob, bobAik, carry, moment, queued, say } from "./sync-world.ts";

const pay = ({ store, own }: Registered, nowMs: number = testNowMs) =>
  store.write((tx) => payOwedSync(tx, own, nowMs, moment));

describe("a device that joined", () => {
  const rng = seededRng("tablet");
  const dsk = newSigningKey(rng);
  const tablet = { deviceId: rng(16), mailbox: rng(16), dsk: dsk.publicKey };
  const tabletId = idText(tablet.deviceId);
  function joined(): Registered {
    const laptop = registered("Alice");
    befriend(laptop, bob);
    say(laptop, "first", "m1");
    say(laptop, "second", "m2");
    const proposal = valueOf(laptop.store.read((tx) => listWithDevice(tx, tablet, testNowMs)));
    laptop.store.write((tx) => {
      learnLists(tx, laptop.own.aikText, [proposal.list]);
      oweSync(tx, tabletId);
    });
    return laptop;
  }
  function publish(laptop: Registered): void {
    const signer = { aik: laptop.own.aik, deviceId: tablet.deviceId, dsk };
    const list = laptop.store.read((tx) => newestList(tx, laptop.own.aikText));
    if (list === undefined) throw new Error("no list");
    const bundle = bundleOf([list], [drawPrekey(signer, testNowMs, rng).record]);
    valueOf(laptop.store.write((tx) => learnBundle(tx, laptop.own.aikText, bundle, testNowMs)));
  }

  it("gets nothing before it can be sealed to, then everything, once", () => {
    const laptop = joined();
    expect(pay(laptop)).toBe(0);
    expect(laptop.store.read((tx) => isOwedSync(tx, tabletId))).toBe(true);
    expect(laptop.store.read(queued)).toEqual([]);
    publish(laptop);
    expect(pay(laptop)).toBe(1);
    expect(pay(laptop)).toBe(0);
    expect(laptop.store.read((tx) => isOwedSync(tx, tabletId))).toBe(false);
    const sibling = registered("Alice");
    carry(laptop, sibling);
    expect(sibling.store.read(allContacts).map((row) => row.name)).toEqual(["Bob"]);
    expect(textsOf(sibling)).toEqual(["first", "second"]);
    expect(sibling.store.read(allMessageRows)[0]).toMatchObject({
      ...laptop.store.read(allMessageRows)[0],
      row: 1,
    });
  });

  it("gets no message twice, and none that was deleted there", () => {
    const laptop = joined();
    publish(laptop);
    pay(laptop);
    const sibling = registered("Alice");
    const deleted = idText(seededRng("m2")(16));
    sibling.store.write((tx) => markSeen(tx, bobAik, deleted, testNowMs));
    carry(laptop, sibling);
    carry(laptop, sibling);
    expect(textsOf(sibling)).toEqual(["first"]);
  });

  it("is owed nothing once it was revoked", () => {
    const laptop = joined();
    laptop.store.write((tx) => oweSync(tx, idText(seededRng("ghost")(16))));
    publish(laptop);
    expect(pay(laptop)).toBe(1);
    expect(pay(laptop)).toBe(0);
    expect(laptop.store.read((tx) => isOwedSync(tx, idText(seededRng("ghost")(16))))).toBe(false);
  });

  it("gets its history in notes that fit an envelope, newest kept when there is too much", () => {
    const laptop = joined();
    for (let i = 0; i < 30; i++) say(laptop, `${i} ${"x".repeat(190_000)}`, `long ${i}`);
    publish(laptop);
    pay(laptop);
    const rows = laptop.store.read(queued);
    expect(Math.max(...rows.map((row) => row.content.length))).toBeLessThanOrEqual(261_847);
    const sibling = registered("Alice");
    carry(laptop, sibling);
    const texts = textsOf(sibling);
    expect(texts.map((text) => text.split(" ")[0])).toEqual(
      Array.from({ length: 22 }, (_, index) => String(index + 8)),
    );
  });

  it("gets short messages many to a note, and is told how many stayed behind", () => {
    const laptop = joined();
    for (let i = 0; i < 200; i++) say(laptop, `short ${i}`, `short ${i}`);
    say(laptop, '"'.repeat(200_000), "too large as a note");
    publish(laptop);
    pay(laptop);
    const history = laptop.store
      .read(queued)
      .map((row) => new TextDecoder().decode(row.content))
      .filter((text) => text.includes('"kind":"history"'));
    expect(history.length).toBeLessThan(4);
    expect(history.every((text) => text.includes('"left_out":1'))).toBe(true);
    const sibling = registered("Alice");
    carry(laptop, sibling);
    expect(textsOf(sibling)).toHaveLength(202);
  });

  it("R52: gets every byte as it was: NUL, a byte order mark, emoji, and what is no UTF-8", () => {
    const laptop = joined();
    const contents = [
      utf8("\u0000"),
      utf8("\ufeffbom"),
      utf8("👩‍👩‍👧 \ud83d\ude00"),
      utf8(""),
      Uint8Array.of(0xff, 0),
    ];
    contents.forEach((content, i) => say(laptop, content, `bytes ${i}`));
    publish(laptop);
    pay(laptop);
    const sibling = registered("Alice");
    carry(laptop, sibling);
    const arrived = sibling.store.read(allMessageRows).map((row) => row.content);
    expect(arrived.slice(2)).toEqual(contents);
  });
});
