/**
 * Sending a message: one transaction puts it into the conversation, queues it for its recipient and
 * queues the echo for our other devices. Nothing is sealed here and no network is touched; the pump
 * does the rest, now or in a month.
 *
 * Spec: docs/protocol.md "Metadata rules for the client" (2), "Tags" (echo).
 */
import { liveEntries } from "../../shared/crypto/device-list.ts";
import { idFromText, idText, typeableId } from "../../shared/ids.ts";
import type { Rng } from "../../shared/rng.ts";
import { encodeEcho } from "../crypto/payload.ts";
import { payloadTag } from "../crypto/type-rules.ts";
import { type OwnIdentity, ownIdentity } from "../identity/keys.ts";
import { newestList } from "../identity/lists.ts";
import { addMessage, markSeen } from "../store/messages.ts";
import { addOutgoing } from "../store/outbox.ts";
import type { ReadTx, WriteTx } from "../store/sqlite.ts";
import { type DelayRange, drawDelay } from "./receipts.ts";

/** When and how a message is sent. Units: ms on this device's clock, and on our relay's. */
export interface SendContext {
  readonly nowMs: number;
  readonly relayNowMs: number;
  readonly echoDelay: DelayRange;
  readonly rng: Rng;
}

/** Sends composed text to an account. Returns the message's id. */
export function sendMessage(
  tx: WriteTx,
  recipientAik: string,
  content: Uint8Array,
  context: SendContext,
): string {
  const own = ownIdentity(tx);
  if (own === undefined) throw new Error("a message was sent before there is an account");
  const { nowMs, relayNowMs, rng } = context;
  const messageId = typeableId(rng);
  const sentMs = relayNowMs;
  addMessage(tx, {
    conversation: recipientAik,
    senderAik: own.aikText,
    senderDevice: idText(own.deviceId),
    messageId,
    typeTag: payloadTag.message,
    content,
    sentMs,
    arrivedMs: sentMs,
    clockOff: false,
  });
  // Our own copy comes back with the echo, and is known by then.
  markSeen(tx, own.aikText, messageId, nowMs);
  const common = { messageId, flags: 0, sentMs, confirmed: true };
  addOutgoing(tx, {
    ...common,
    recipientAik,
    typeTag: payloadTag.message,
    content,
    notBeforeMs: nowMs,
  });
  if (recipientAik !== own.aikText && hasSiblings(tx, own)) {
    addOutgoing(tx, {
      ...common,
      recipientAik: own.aikText,
      typeTag: payloadTag.echo,
      content: encodeEcho(idFromText(recipientAik, 32), content),
      notBeforeMs: nowMs + drawDelay(context.echoDelay, rng),
    });
  }
  return messageId;
}

/** Whether anyone is there to hear an echo. */
function hasSiblings(tx: ReadTx, own: OwnIdentity): boolean {
  const list = newestList(tx, own.aikText);
  return list !== undefined && liveEntries(list).length > 1;
}
