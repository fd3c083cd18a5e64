import { expect, it } from "vitest";
import { addMessage, forgetOldIds, hasSeen, markSeen } from "../../../src/device/store/messages.ts";
import { openInMemory } from "../../../src/device/store/open-folder.ts";
import { messageIdLifeMs } from "../../../src/shared/limits.ts";
import { valueOf } from "../../support/people.ts";

it("an id outlives its message by 90 days, and lives as long as the message is shown", () => {
  const { store, close } = valueOf(openInMemory());
  store.write((tx) => {
    markSeen(tx, "bob", "shown", 0);
    markSeen(tx, "bob", "deleted", 0);
    markSeen(tx, "carol", "shown", 0);
    addMessage(tx, {
      conversation: "bob",
      senderAik: "bob",
      senderDevice: "phone",
      messageId: "shown",
      typeTag: 0,
      content: new Uint8Array(0),
      sentMs: 0,
      arrivedMs: 0,
      clockOff: false,
    });
  });
  const seen = (sender: string, id: string): boolean => store.read((tx) => hasSeen(tx, sender, id));
  expect(store.write((tx) => forgetOldIds(tx, messageIdLifeMs))).toBe(0);
  expect(seen("bob", "deleted")).toBe(true);
  expect(store.write((tx) => forgetOldIds(tx, messageIdLifeMs + 1))).toBe(2);
  expect([seen("bob", "shown"), seen("bob", "deleted"), seen("carol", "shown")]).toEqual([
    true,
    false,
    false,
  ]);
  close();
});
