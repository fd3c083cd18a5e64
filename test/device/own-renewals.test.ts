/** A renewal of the own account as a device hears it that did not draw it. */
import { afterEach, describe, expect, it } from "vitest";

import { encodeOwnKeys } from "../../src/device/crypto/payload.ts";
import { sealUpload } from "../../src/device/crypto/seal.ts";
import { payloadTag } from "../../src/device/crypto/type-rules.ts";
import { type Finished, finishRenewals } from "../../src/device/finish-renewal.ts";
import { ownIdentity } from "../../src/device/identity/keys.ts";
import { beginRenewal } from "../../src/device/identity/renew.ts";
import { adoptRenewal } from "../../src/device/messaging/adopt-renewal.ts";
import { markBundleFetched } from "../../src/device/store/lists.ts";
import { renewalsOf } from "../../src/device/store/renewals.ts";
import { setAsideRows } from "../../src/device/store/set-aside.ts";
import { refusal } from "../../src/shared/wire/errors.ts";
import { err, ok } from "../../src/shared/result.ts";
import { idText } from "../../src/shared/ids.ts";
import {
  aikOf,
  type DeviceWorld,
  deviceWorld,
  know,
  mailboxes,
  uploadsFor,
} from "../support/device-world.ts";
import { answerWith } from "../support/played-relay.ts";
import {
  at,
  createPerson,
  itemsOf,
  renewedPerson,
  requestOf,
  testNowMs,
  type TestPerson,
  valueOf,
} from "../support/people.ts";
import { seededRng } from "../support/seeded-rng.ts";

const rng = seededRng("own renewals");
const alice = createPerson(rng, 2);
const bob = createPerson(rng);
const real = renewedPerson(rng, alice);
const thief = renewedPerson(rng, alice);
let world: DeviceWorld;

afterEach(() => world.close());

/** Alice's tablet, which is no admin and knows Bob. */
function tablet(): DeviceWorld {
  world = deviceWorld(alice, { deviceIndex: 1 });
  know(world, bob);
  return world;
}

/** What the laptop says under the old key, as the tablet gets it. */
function fromLaptop(typeTag: number, content: Uint8Array): Uint8Array {
  const request = requestOf(alice, alice, { typeTag, content, messageId: rng(16) });
  return at(itemsOf(valueOf(sealUpload(request, rng)).upload), 1);
}

async function hear({ renewal, person }: typeof real): Promise<void> {
  const { certificate } = at(person.devices, 1);
  await world.deliver(
    fromLaptop(payloadTag.ownKeys, encodeOwnKeys(certificate.record)),
    fromLaptop(payloadTag.renewal, renewal.record),
  );
}

/** Finishes what was heard, at a relay that has this account and takes that renewal only. */
async function finishAt(served: TestPerson, taken: typeof real): Promise<Finished> {
  world.served.set(idText(alice.accountMailbox), served);
  const record = Buffer.from(taken.renewal.record).toString("base64url");
  return await finishRenewals({
    ...world.parts,
    relayNowMs: () => testNowMs,
    request: () => Promise.resolve(err({ type: "unreachable", reason: "not connected" })),
    onQueued: () => undefined,
    transport: {
      fetchBundle: world.transport.fetchBundle,
      renew: (_origin, { renewal }) =>
        Promise.resolve(
          renewal === record
            ? ok({ reply: { time: String(testNowMs), epoch: "e" }, relayTimeMs: testNowMs })
            : err({
                type: "refused",
                refusal: refusal("unauthorised", "no account has this key"),
                relayTimeMs: testNowMs,
              }),
        ),
    },
  });
}

const ownKey = (): string | undefined => world.parts.store.read(ownIdentity)?.aikText;

describe("a sibling's word of a renewal", () => {
  it("moves this device once the relay has the new key, and is passed on to contacts first", async () => {
    tablet();
    await hear(real);
    expect(ownKey()).toBe(aikOf(alice));
    expect(await finishAt(real.person, real)).toEqual(ok("renewed"));
    expect(ownKey()).toBe(aikOf(real.person));
    expect(world.parts.store.read(ownIdentity)?.aikKey).toBeUndefined();
    await world.turn();
    expect(uploadsFor(world, bob)).toHaveLength(1);
    expect(await finishAt(real.person, real)).toEqual(ok("nothing"));
    expect(world.parts.store.read(setAsideRows)).toEqual([]);
  });

  it("is dropped when the relay took another one: whoever stole a device can sign, too", async () => {
    tablet();
    await hear(thief);
    expect(await finishAt(alice, real)).toEqual(ok("nothing"));
    expect(await finishAt(thief.person, real)).toMatchObject({ ok: false });
    expect(ownKey()).toBe(aikOf(alice));
    expect(world.parts.store.read((tx) => renewalsOf(tx, aikOf(alice)))).toEqual([]);
    await hear(real);
    expect(await finishAt(real.person, real)).toEqual(ok("renewed"));
    await hear(thief);
    expect(ownKey()).toBe(aikOf(real.person));
    expect(world.notices.join()).toContain("ALARM");
  });

  it("keys of another device are set aside", async () => {
    tablet();
    const { certificate } = at(real.person.devices, 0);
    await world.deliver(fromLaptop(payloadTag.ownKeys, encodeOwnKeys(certificate.record)));
    expect(world.parts.store.read(setAsideRows)).toMatchObject([{ reason: "own-keys-foreign" }]);
  });

  it("a seed under the present key makes this device hold it", async () => {
    tablet();
    const { certificate } = at(alice.devices, 1);
    const content = encodeOwnKeys(certificate.record, alice.aik.seed);
    await world.deliver(fromLaptop(payloadTag.ownKeys, content));
    expect(world.parts.store.read(ownIdentity)?.aikKey?.publicKey).toEqual(alice.aik.publicKey);
  });
});

it("what may hold the account's key is sealed to one device, whatever the relay asks for", async () => {
  const owner = createPerson(rng, 3);
  world = deviceWorld(owner);
  world.served.set(idText(owner.accountMailbox), owner);
  const [, phone, pad] = owner.devices.map(({ mailbox }) => idText(mailbox));
  world.answer = (upload) => answerWith(upload, () => "stored", [phone ?? "", pad ?? ""]);
  const moment = { nowMs: testNowMs, relayNowMs: testNowMs, rng };
  world.parts.store.write((tx) => {
    valueOf(beginRenewal(tx, [], moment));
    const row = at(renewalsOf(tx, aikOf(owner)), 0);
    expect(adoptRenewal(tx, row, moment)).toBe(true);
    // The relay has served the new key's list.
    markBundleFetched(tx, row.newAik, testNowMs);
  });
  await world.turn();
  const addressed = uploadsFor(world, owner).map((upload) => mailboxes(upload).length);
  expect(addressed.toSorted((a, b) => a - b)).toEqual([1, 1, 3]);
});
