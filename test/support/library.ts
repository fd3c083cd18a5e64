/**
 * A person's library over a store in memory, without relay or keys: shares are handed over as rows,
 * exactly as the inbox would write them.
 */
import { utf8 } from "../../src/shared/bytes.ts";
import type { Clock } from "../../src/shared/clock.ts";
import { err, ok } from "../../src/shared/result.ts";
import type { ContactView, DeviceSkills } from "../../src/device/device.ts";
import { createLibrary } from "../../src/device/library/library.ts";
import { putOwnAccount } from "../../src/device/store/identity.ts";
import { addMessage } from "../../src/device/store/messages.ts";
import { type DeviceStore, openDeviceStore } from "../../src/device/store/sqlite.ts";

/** One person with skills. */
export interface Librarian extends Disposable {
  readonly aik: string;
  readonly store: DeviceStore;
  readonly skills: DeviceSkills;
  /** Texts that were sent: recipient's key and text. */
  readonly sent: { readonly aik: string; readonly text: string }[];
  readonly changes: () => number;
  readonly notices: readonly string[];
  /** Puts a received text into the conversation. */
  readonly receive: (senderAik: string, messageId: string, text: string) => void;
}

const clock: Clock = { nowMs: () => 1_800_000_000_000, schedule: () => () => undefined };

/** A store in memory. Throws when it does not open. */
export function memoryStore(): DeviceStore {
  const store = openDeviceStore({ path: ":memory:", key: new Uint8Array(32) });
  if (!store.ok) throw new Error(store.error.message);
  return store.value;
}

/** Opens a person's library; everyone in `contacts` is reachable unless the view says otherwise. */
export function librarian(
  aik: string,
  contacts: readonly ContactView[] = [],
  store: DeviceStore = memoryStore(),
): Librarian {
  const sent: { readonly aik: string; readonly text: string }[] = [];
  const notices: string[] = [];
  let changes = 0;
  store.write((tx) =>
    putOwnAccount(tx, {
      aik,
      aikSeed: null,
      accountMailbox: "mailbox",
      accessKey: Buffer.alloc(32),
      relayOrigin: "https://relay.example",
      name: aik,
    }),
  );
  const library = createLibrary({
    store,
    clock,
    findContact: (name) => {
      const found = contacts.find((contact) => contact.name === name || contact.aik === name);
      return found === undefined
        ? err({ type: "no-such-contact", message: `there is no contact ${name}` })
        : ok(found);
    },
    sendText: (recipient, text) => {
      sent.push({ aik: recipient, text });
      return ok({ messageId: `message-${sent.length}` });
    },
    onChange: () => (changes += 1),
    onNotice: (notice) => notices.push(notice),
  });
  if (!library.ok) throw new Error(library.error.message);
  const receive = (senderAik: string, messageId: string, text: string): void =>
    store.write((tx) => {
      addMessage(tx, {
        conversation: senderAik,
        senderAik,
        senderDevice: "device",
        messageId,
        typeTag: 0,
        content: Buffer.from(utf8(text)),
        sentMs: 0,
        arrivedMs: 0,
        clockOff: false,
      });
    });
  return {
    aik,
    store,
    skills: library.value,
    sent,
    changes: () => changes,
    notices,
    receive,
    [Symbol.dispose]: () => store.close(),
  };
}

/** A contact as a device lists it. */
export function contactView(aik: string, change: Partial<ContactView> = {}): ContactView {
  return {
    aik,
    name: aik,
    relation: "contact",
    reachable: true,
    renewedMs: undefined,
    reason: undefined,
    relayOrigin: "https://relay.example",
    devices: 1,
    ...change,
  };
}
