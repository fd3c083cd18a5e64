/**
 * Payloads as dispatch meets them, and the ones this device answers with. Dispatch seals nothing
 * and holds no keys: it reads opened payloads through these types and queues answers through these
 * functions.
 *
 * Spec: docs/protocol.md "Tags".
 */
import { idText } from "../../shared/ids.ts";
import type { Rng } from "../../shared/rng.ts";
import { encodeProfile } from "../crypto/profile.ts";
import { payloadTag } from "../crypto/type-rules.ts";
import { ownProfile } from "../identity/contacts.ts";
import { ownIdentity } from "../identity/keys.ts";
import { getOwnAccount } from "../store/identity.ts";
import { addOutgoing, type Outgoing } from "../store/outbox.ts";
import type { WriteTx } from "../store/sqlite.ts";

export type { OpenedMessage } from "../crypto/open.ts";
export type { ContactAccept, Payload } from "../crypto/payload.ts";
export type { Profile } from "../crypto/profile.ts";
export { payloadTag } from "../crypto/type-rules.ts";

/** When an answer is made. Units: ms on this device's clock, and on our relay's. */
export interface AnswerMoment {
  readonly nowMs: number;
  readonly relayNowMs: number;
  readonly rng: Rng;
}

/** Queues our profile for an account: our name, and the key that lets them in. */
export function queueProfile(tx: WriteTx, recipientAik: string, moment: AnswerMoment): void {
  const own = ownIdentity(tx);
  if (own === undefined) throw new Error("a profile was asked for before there is an account");
  const content = encodeProfile(ownProfile(own));
  addOutgoing(tx, { ...answer(moment), recipientAik, typeTag: payloadTag.profile, content });
}

/** Queues our newest device list for an account that knows an older one. */
export function queueDeviceList(
  tx: WriteTx,
  recipientAik: string,
  record: Uint8Array,
  moment: AnswerMoment,
): void {
  const typeTag = payloadTag.deviceList;
  addOutgoing(tx, { ...answer(moment), recipientAik, typeTag, content: record });
}

/**
 * Queues a message to our own account that is no part of any conversation: own devices talk to each
 * other with it. Everything that is said of messages holds, so nobody outside can tell it apart.
 */
export function queueOwnMessage(tx: WriteTx, content: Uint8Array, moment: AnswerMoment): void {
  const recipientAik = getOwnAccount(tx)?.aik;
  if (recipientAik === undefined) throw new Error("own devices were told before there are any");
  addOutgoing(tx, { ...answer(moment), recipientAik, typeTag: payloadTag.message, content });
}

function answer({
  nowMs,
  relayNowMs,
  rng,
}: AnswerMoment): Omit<Outgoing, "recipientAik" | "typeTag" | "content"> {
  return {
    messageId: idText(rng(16)),
    flags: 0,
    sentMs: relayNowMs,
    notBeforeMs: nowMs,
    confirmed: true,
  };
}
