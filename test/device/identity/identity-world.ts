/** Registered devices on stores in memory, and bundles as a relay would serve them. */
import type { SealMessage } from "../../../src/device/crypto/seal.ts";
import { contactView } from "../../../src/device/identity/contacts.ts";
import {
  drawAccount,
  keepAccount,
  type NewAccount,
  type OwnIdentity,
  ownIdentity,
} from "../../../src/device/identity/keys.ts";
import { getContact, putContact } from "../../../src/device/store/contacts.ts";
import { allMessageRows } from "../../../src/device/store/messages.ts";
import { type DeviceStore, openDeviceStore } from "../../../src/device/store/sqlite.ts";
import type { ContactView } from "../../../src/device/device.ts";
import { toBase64Url } from "../../../src/shared/bytes.ts";
import {
  type DeviceEntry,
  type DeviceList,
  signDeviceList,
} from "../../../src/shared/crypto/device-list.ts";
import { parsePrekey } from "../../../src/shared/crypto/prekey.ts";
import { idText } from "../../../src/shared/ids.ts";
import type { BundleReply } from "../../../src/shared/wire/http.ts";
import {
  requestOf,
  sealItem,
  testNowMs,
  testOrigin,
  type TestPerson,
  valueOf,
} from "../../support/people.ts";
import { seededRng } from "../../support/seeded-rng.ts";

/** A device that is registered. */
export interface Registered {
  readonly store: DeviceStore;
  readonly own: OwnIdentity;
  readonly created: NewAccount;
}

/** An empty store in memory. */
export function memoryStore(): DeviceStore {
  return valueOf(openDeviceStore({ path: ":memory:", key: new Uint8Array(32) }));
}

/** Registers a device of that name, without a relay. */
export function registered(
  name = "Alice",
  options: { readonly relayOrigin?: string; readonly nowMs?: number } = {},
): Registered {
  const store = memoryStore();
  const nowMs = options.nowMs ?? testNowMs;
  const wishes = {
    relayOrigin: options.relayOrigin ?? testOrigin,
    accountName: name,
    deviceName: `${name}'s laptop`,
  };
  const created = drawAccount(wishes, nowMs, seededRng(`account ${name}`));
  store.write((tx) => keepAccount(tx, created, nowMs));
  const own = store.read(ownIdentity);
  if (own === undefined) throw new Error("an account that was kept is not there");
  return { store, own, created };
}

/** Seals a message of a person to a registered device, as the item that arrives there. */
export function sealItemTo(
  { own, created }: Registered,
  from: TestPerson,
  message: Partial<SealMessage>,
): Uint8Array {
  const prekey = valueOf(parsePrekey(created.prekey.record, { ...own, dsk: own.dsk.publicKey }));
  const request = {
    ...requestOf(from, from, message),
    recipient: {
      aik: own.aik,
      accountMailbox: own.accountMailbox,
      listVersion: created.list.version,
      listHash: created.list.hash,
      targets: [{ deviceId: own.deviceId, mailbox: own.mailbox, prekey }],
    },
  };
  return sealItem(request, seededRng("seal"));
}

/** Makes a person a contact, as their profile would. */
export function befriend({ store }: Registered, person: TestPerson, name = "Bob"): string {
  const aik = idText(person.aik.publicKey);
  store.write((tx) =>
    putContact(tx, {
      aik,
      name,
      relation: "contact",
      relayOrigin: testOrigin,
      accountMailbox: idText(person.accountMailbox),
      accessKey: person.accessKey,
      addedMs: testNowMs,
    }),
  );
  return aik;
}

/** The answer of an honest relay. */
export function bundleOf(
  lists: readonly DeviceList[],
  prekeys: readonly Uint8Array[],
): BundleReply {
  return {
    time: String(testNowMs),
    device_lists: lists.map((list) => toBase64Url(list.record)),
    prekeys: prekeys.map(toBase64Url),
  };
}

/** Signs any list of a person: whatever a dishonest one could. */
export function listOf(
  person: TestPerson,
  change: {
    readonly version: number;
    readonly prevHash?: Uint8Array;
    readonly entries?: readonly DeviceEntry[];
    readonly issuedMs?: number;
  },
): DeviceList {
  return signDeviceList(
    {
      aik: person.aik.publicKey,
      version: change.version,
      issuedMs: BigInt(change.issuedMs ?? testNowMs + change.version),
      prevHash: change.prevHash ?? person.list.hash,
      entries: change.entries ?? person.list.entries,
    },
    person.aik.privateKey,
  );
}

/** A chain of versions 1 to `length`: each adds or revokes nothing but grows by its date. */
export function chainOf(person: TestPerson, length: number): readonly DeviceList[] {
  const chain = [person.list];
  for (let version = 2; version <= length; version++) {
    const previous = chain.at(-1);
    if (previous === undefined) throw new Error("an empty chain");
    chain.push(listOf(person, { version, prevHash: previous.hash }));
  }
  return chain;
}

/** How a device shows one person. */
export function viewOf(
  { store }: Registered,
  aik: string,
  nowMs: number = testNowMs,
): ContactView | undefined {
  return store.read((tx) => {
    const row = getContact(tx, aik);
    return row === undefined ? undefined : contactView(tx, row, () => nowMs);
  });
}

/** Contents of all conversations, as texts. */
export function textsOf({ store }: Registered): readonly string[] {
  return store.read(allMessageRows).map((row) => new TextDecoder().decode(row.content));
}
