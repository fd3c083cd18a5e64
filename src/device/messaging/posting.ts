/**
 * Posts one sealed upload and applies the answer in one transaction. The sealed bytes stay until
 * the relay has answered, so that a retry after a lost answer repeats them exactly and the relay
 * recognises its slot.
 *
 * Spec: docs/protocol.md "Sender state", "Uploads".
 */
import { idText } from "../../shared/ids.ts";
import type { Result } from "../../shared/result.ts";
import type { RefusalCode } from "../../shared/wire/errors.ts";
import type { EnvelopeReply } from "../../shared/wire/http.ts";
import { payloadTag } from "../crypto/type-rules.ts";
import type { DeviceEvent } from "../device.ts";
import { newestList } from "../identity/lists.ts";
import { markBundleStale } from "../store/lists.ts";
import { getOutbox } from "../store/outbox.ts";
import { getSealedUpload, type SealedUploadRow } from "../store/sealed-uploads.ts";
import type { DeviceStore, ReadTx, WriteTx } from "../store/sqlite.ts";
import type { Answer, RelayTransport, TransportError } from "../transport/port.ts";
import type { CopyResult, Moment, OutboxEvent } from "./outbox-entry.ts";
import { applyEvents, loadEntry } from "./outbox-rows.ts";

/** What posting needs. */
export interface PostingParts {
  readonly store: DeviceStore;
  readonly transport: Pick<RelayTransport, "upload">;
  readonly relayTime: { readonly learn: (relayOrigin: string, relayTimeMs: number) => void };
  readonly moment: () => Moment;
  readonly emit: (event: DeviceEvent) => void;
}

/** Posts the upload of a slot. Returns mailboxes that the relay says should have got a copy, too. */
export async function postSealed(parts: PostingParts, slot: string): Promise<readonly string[]> {
  const sealed = parts.store.read((tx) => getSealedUpload(tx, slot));
  if (sealed === undefined) return [];
  const answer = await parts.transport.upload(sealed.relayOrigin, sealed.upload);
  const relayTimeMs = timeOf(answer);
  if (relayTimeMs !== undefined) parts.relayTime.learn(sealed.relayOrigin, relayTimeMs);
  return parts.store.write((tx) => {
    const { messageId, recipientAik } = sealed;
    if (getOutbox(tx, messageId, recipientAik)?.typeTag === payloadTag.message) {
      tx.afterCommit(() => parts.emit({ type: "delivery", messageId, recipientAik }));
    }
    return answer.ok
      ? applyAnswer(tx, sealed, answer.value.reply, parts.moment())
      : applyFailure(tx, sealed, answer.error, parts.moment());
  });
}

function applyAnswer(
  tx: WriteTx,
  sealed: SealedUploadRow,
  reply: EnvelopeReply,
  moment: Moment,
): readonly string[] {
  const deviceByMailbox = devicesByMailbox(tx, sealed.recipientAik);
  const results = new Map<string, CopyResult>();
  for (const { mailbox, state } of reply.results) {
    const deviceId = deviceByMailbox.get(mailbox);
    if (deviceId !== undefined) results.set(deviceId, state);
  }
  // Only the first acceptance fixes who belongs to the entry.
  const first = loadEntry(tx, sealed)?.acceptedMs === null;
  applyEvents(tx, sealed, [{ type: "answered", slot: sealed.slot, results }], moment);
  return first ? reply.unaddressed : [];
}

function applyFailure(
  tx: WriteTx,
  sealed: SealedUploadRow,
  error: TransportError,
  moment: Moment,
): readonly string[] {
  const { slot } = sealed;
  if (error.type !== "refused") {
    applyEvents(tx, sealed, [{ type: "unanswered", slot, reason: error.reason }], moment);
    return [];
  }
  const { code, retryAfterMs = 0 } = error.refusal;
  const event: OutboxEvent = { type: "refused", slot, code, retryAfterMs };
  applyEvents(tx, sealed, [event], moment);
  if (asksForFreshBundle.has(code)) markBundleStale(tx, sealed.recipientAik);
  return [];
}

const asksForFreshBundle: ReadonlySet<RefusalCode> = new Set(["device-list-mismatch"]);

/** Device ids of an account by device mailbox: neither ever changes. */
export function devicesByMailbox(tx: ReadTx, aik: string): ReadonlyMap<string, string> {
  const entries = newestList(tx, aik)?.entries ?? [];
  return new Map(entries.map((device) => [idText(device.mailbox), idText(device.deviceId)]));
}

function timeOf(answer: Result<Answer<unknown>, TransportError>): number | undefined {
  if (answer.ok) return answer.value.relayTimeMs;
  return answer.error.type === "refused" ? answer.error.relayTimeMs : undefined;
}
