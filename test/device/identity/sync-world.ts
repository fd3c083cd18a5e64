/** Notes between siblings: queued on one device, carried to another as sealing and opening would. */
import { expect } from "vitest";
import { parsePayload, type Payload } from "../../../src/device/crypto/payload.ts";
import { applySync, type SyncOutcome } from "../../../src/device/identity/sync-records.ts";
import { addMessage, markSeen } from "../../../src/device/store/messages.ts";
import type { OutboxRow } from "../../../src/device/store/outbox.ts";
import { outbox } from "../../../src/device/store/schema.ts";
import type { ReadTx } from "../../../src/device/store/sqlite.ts";
import { utf8 } from "../../../src/shared/bytes.ts";
import { idText } from "../../../src/shared/ids.ts";
import { createPerson, testNowMs, valueOf } from "../../support/people.ts";
import { seededRng } from "../../support/seeded-rng.ts";
import type { Registered } from "./identity-world.ts";

/** A contact. */
export const bob = createPerson(seededRng("bob"));
/** Their identity key. */
export const bobAik = idText(bob.aik.publicKey);
/** When notes are made. */
export const moment = { nowMs: testNowMs, rng: seededRng("moment") };
/** What a device has queued, in order. */
export function queued(tx: ReadTx): readonly OutboxRow[] {
  return tx.select().from(outbox).orderBy(outbox.row).all();
}

/** Carries every note that a device queued to a sibling, as sealing and opening would. */
export function carry(from: Registered, to: Registered): readonly (SyncOutcome | undefined)[] {
  return from.store.read(queued).map((row) => {
    expect(row).toMatchObject({ typeTag: 10, recipientAik: from.own.aikText, confirmed: true });
    const payload: Payload = valueOf(parsePayload(row.typeTag, row.content, from.own.aik));
    if (payload.kind !== "sync") throw new Error(payload.kind);
    const origin = { nowMs: testNowMs, senderDevice: idText(from.own.deviceId) };
    return to.store.write((tx) => applySync(tx, payload.topic, payload.json, origin));
  });
}
/** Takes in a note of these records. */
export function apply(
  { store }: Registered,
  topic: string,
  ...items: readonly unknown[]
): SyncOutcome | undefined {
  return store.write((tx) =>
    applySync(
      tx,
      topic,
      { kind: topic, items },
      { nowMs: testNowMs, senderDevice: "A".repeat(22) },
    ),
  );
}

/** Journals a message of Bob. */
export function say({ store, own }: Registered, text: string | Uint8Array, seed: string): void {
  store.write((tx) => {
    const messageId = idText(seededRng(seed)(16));
    markSeen(tx, bobAik, messageId, testNowMs);
    addMessage(tx, {
      conversation: bobAik,
      senderAik: bobAik,
      senderDevice: idText(own.deviceId),
      messageId,
      typeTag: 0,
      content: typeof text === "string" ? utf8(text) : text,
      sentMs: testNowMs,
      arrivedMs: testNowMs,
      clockOff: false,
    });
  });
}
