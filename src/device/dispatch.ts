/**
 * The one switch that gives an opened payload its meaning. It runs inside the inbox's transaction:
 * effects on rows happen here, whatever reaches outside waits for the commit.
 *
 * Who may send what was judged when the item was opened; nothing is judged again here except what
 * only the store can say: how many strangers may wait, and whether a relay may be followed.
 *
 * Spec: docs/protocol.md "Tags", "Opening", "View mismatch", "Device control".
 */
import { clampU64 } from "../shared/bytes.ts";
import { idText } from "../shared/ids.ts";
import { maxPendingRequests } from "../shared/limits.ts";
import { assertNever } from "../shared/result.ts";
import { randomFraction, type Rng } from "../shared/rng.ts";
import type { DeviceEvent } from "./device.ts";
import { admitGuest, applyProfile } from "./identity/contacts.ts";
import { hasPrekey } from "./identity/bundles.ts";
import { hearControl } from "./homebase/hear.ts";
import type { InviteKeyRequest } from "./identity/invites.ts";
import { ownIdentity } from "./identity/keys.ts";
import { learnLists } from "./identity/lists.ts";
import { oweRecovered, queueContacts, queueInvites } from "./identity/sync.ts";
import { answerView } from "./messaging/answer-view.ts";
import type { Arrival, Dispatch } from "./messaging/inbox.ts";
import {
  type ContactAccept,
  type OpenedMessage,
  type Payload,
  payloadTag,
  type Profile,
  queueProfile,
} from "./messaging/payload.ts";
import { answerResend } from "./messaging/resend.ts";
import { applyReceipt, type DelayRange, drawDelay, queueReceipt } from "./messaging/receipts.ts";
import { takeOwnKeys, takeOwnRenewal } from "./messaging/take-own-keys.ts";
import { takeRenewal } from "./messaging/take-renewal.ts";
import { takeSync } from "./messaging/take-sync.ts";
import { countContacts, getContact, putContact } from "./store/contacts.ts";
import { getOwnAccount, putOwnAccount } from "./store/identity.ts";
import { addMessage, conversationRows } from "./store/messages.ts";
import { wakeRecipient } from "./store/outbox-due.ts";
import { currentKeyOf } from "./store/renewals.ts";
import type { WriteTx } from "./store/sqlite.ts";

/** What happens outside of the store because of a payload, after its commit. */
export interface DispatchEffects {
  readonly emit: (event: DeviceEvent) => void;
  /** Fetch that account's bundle in the background. */
  readonly refresh: (aik: string) => void;
  /** Our own newest list is older than, or another than, what a sender has seen. */
  readonly checkOwnList: (view: OpenedMessage["recipientList"]) => void;
  readonly tellRelay: (request: InviteKeyRequest) => void;
  /** Ask the relay which renewal of our account it took. */
  readonly finishRenewals: () => void;
  readonly notice: (notice: string) => void;
}

export interface DispatchParts {
  readonly effects: DispatchEffects;
  readonly rng: Rng;
  readonly receiptDelay: DelayRange;
}

/** A clock that is off by less than this is not remarked upon. Units: ms. */
const clockToleranceMs = 60_000;

/** Builds the switch. */
export function createDispatch(parts: DispatchParts): Dispatch {
  return (tx, opened, arrival) => {
    const senderAik = currentKeyOf(tx, idText(opened.sender.aik));
    const reason = giveMeaning({ ...parts, tx, opened, arrival, senderAik }, opened.payload);
    if (reason !== undefined) return reason;
    const { effects, rng } = parts;
    if (opened.relation !== "unknown" && answerView(tx, opened, { ...arrival, rng }) === "check") {
      tx.afterCommit(() => effects.checkOwnList(opened.recipientList));
    }
    const deviceId = idText(opened.sender.deviceId);
    const isUnknown = opened.relation === "unknown" || hasPrekey(tx, senderAik, deviceId);
    if (opened.refreshNeeded || !isUnknown) tx.afterCommit(() => effects.refresh(senderAik));
    return undefined;
  };
}

interface Context extends DispatchParts {
  readonly tx: WriteTx;
  readonly opened: OpenedMessage;
  readonly arrival: Arrival;
  readonly senderAik: string;
}

function giveMeaning(context: Context, payload: Payload): string | undefined {
  switch (payload.kind) {
    case "message":
      return takeMessage(context);
    case "receipt":
      return takeReceipt(context, payload.messageIds);
    case "device-list":
      return takeDeviceList(context, payload);
    case "profile":
      return takeProfile(context, payload.profile);
    case "echo":
      keepRow(context, {
        conversation: currentKeyOf(context.tx, idText(payload.recipientAik)),
        typeTag: payloadTag.message,
        content: context.opened.content.slice(payload.recipientAik.length),
      });
      return undefined;
    case "contact-accept":
      return takeAccept(context, payload);
    case "sync":
      return takeSync(context, payload, idText(context.opened.sender.deviceId));
    case "resend-since":
      return takeResend(context, payload.sinceMs);
    case "renewal":
      return takeRenewed(context, payload);
    case "own-keys":
      return takeOwnKeys(context, payload);
    case "unassigned":
      return keepOpaque(context);
    default:
      return assertNever(payload);
  }
}

function takeRenewed(
  context: Context,
  { renewal }: Extract<Payload, { kind: "renewal" }>,
): string | undefined {
  const isOwn = context.opened.relation === "self";
  return isOwn ? takeOwnRenewal(context, renewal) : takeRenewal(context, renewal);
}

/** Of a newer version: kept as it came, and shown as such. */
function keepOpaque(context: Context): undefined {
  const { typeTag, content } = context.opened;
  keepRow(context, { conversation: context.senderAik, typeTag, content });
}

function takeMessage(context: Context): string | undefined {
  const { tx, opened, senderAik, arrival } = context;
  const control = hearControl(tx, opened, { ...arrival, rng: context.rng });
  if (control === "changed") announce(context, { type: "homebase" });
  if (control !== "text") return undefined;
  if (opened.relation === "unknown" && getContact(tx, senderAik) === undefined) {
    // A stranger waits for a decision; their message is no business of the agent, and unconfirmed.
    if (countContacts(tx, "request") >= maxPendingRequests) return "requests-full";
    putContact(tx, {
      aik: senderAik,
      name: `stranger ${senderAik.slice(0, 8)}`,
      relation: "request",
      addedMs: arrival.relayNowMs,
    });
    announce(context, { type: "contact", aik: senderAik });
  }
  keepRow(context, {
    conversation: senderAik,
    typeTag: opened.typeTag,
    content: opened.content,
  });
  return undefined;
}

function takeReceipt(context: Context, ids: readonly Uint8Array[]): undefined {
  const { tx, opened, senderAik, arrival, rng } = context;
  const confirmed = applyReceipt(
    tx,
    { senderAik, deviceId: idText(opened.sender.deviceId), messageIds: ids.map(idText) },
    { nowMs: arrival.nowMs, fraction: randomFraction(rng) },
  );
  for (const messageId of confirmed) {
    announce(context, { type: "delivery", messageId, recipientAik: senderAik });
  }
}

function takeDeviceList(
  context: Context,
  { list }: Extract<Payload, { kind: "device-list" }>,
): undefined {
  const { tx, opened, senderAik, effects, arrival } = context;
  const learned = learnLists(tx, senderAik, [list]);
  if (!learned.ok) {
    if (learned.error.type === "list-gap") tx.afterCommit(() => effects.refresh(senderAik));
    if (learned.error.type === "list-fork" || learned.error.type === "list-chain") {
      tx.afterCommit(() =>
        effects.notice(`sending to ${senderAik} stopped: ${learned.error.type}`),
      );
    }
    return;
  }
  const { added, revoked } = learned.value;
  if (added.length + revoked.length === 0) return;
  if (opened.relation === "self") oweRecovered(tx, added);
  wakeRecipient(tx, senderAik, arrival.nowMs);
  // Prekeys of a device that joined come with the bundle.
  tx.afterCommit(() => effects.refresh(senderAik));
  announce(
    context,
    opened.relation === "self" ? { type: "devices" } : { type: "contact", aik: senderAik },
  );
}

function takeProfile(context: Context, profile: Profile): undefined {
  const { tx, opened, senderAik, effects, arrival } = context;
  if (opened.relation === "self") {
    const own = getOwnAccount(tx);
    if (own !== undefined) {
      putOwnAccount(tx, { ...own, name: profile.name, accessKey: profile.accessKey });
    }
    return;
  }
  const before = getContact(tx, senderAik)?.relation;
  const change = applyProfile(tx, senderAik, profile);
  if (change === undefined) return;
  if (change.otherRelay !== undefined) {
    const { otherRelay } = change;
    tx.afterCommit(() =>
      effects.notice(`${profile.name} says they moved to ${otherRelay}: this is not followed yet`),
    );
  }
  if (change.keyChanged) wakeRecipient(tx, senderAik, arrival.nowMs);
  if (before !== "contact" || change.named || change.keyChanged) tellSiblings(context, senderAik);
  announce(context, { type: "contact", aik: senderAik });
}

/** What may have been lost with a restored relay goes again to the device that asks. */
function takeResend(context: Context, sinceMs: bigint): undefined {
  const { tx, opened, senderAik, arrival, rng } = context;
  const deviceId = idText(opened.sender.deviceId);
  const from = { aik: senderAik, deviceId, sinceMs: clampU64(sinceMs) };
  answerResend(tx, from, { ...arrival, rng });
}

/** A guest with a valid proof becomes a contact at once, and is told our profile. */
function takeAccept(context: Context, accept: ContactAccept): undefined {
  const { tx, opened, senderAik, effects, arrival } = context;
  const waited = getContact(tx, senderAik)?.relation === "request";
  if (opened.relation === "unknown") {
    const closed = admitGuest(tx, senderAik, accept, arrival.relayNowMs);
    if (closed !== undefined) {
      const own = ownIdentity(tx);
      if (own !== undefined) queueInvites(tx, own, { nowMs: arrival.nowMs, rng: context.rng });
      tx.afterCommit(() => effects.tellRelay(closed));
    }
    wakeRecipient(tx, senderAik, arrival.nowMs);
  } else {
    takeProfile(context, accept.profile);
  }
  if (waited) confirmRequests(context);
  queueProfile(tx, senderAik, { ...arrival, rng: context.rng });
  tellSiblings(context, senderAik);
  tx.afterCommit(() => effects.refresh(senderAik));
  announce(context, { type: "contact", aik: senderAik });
}

/** What a stranger wrote before becoming a contact is confirmed now. */
function confirmRequests(context: Context): void {
  const { tx, senderAik, arrival, receiptDelay, rng } = context;
  for (const row of conversationRows(tx, senderAik)) {
    if (row.senderAik !== senderAik) continue;
    const dueMs = arrival.nowMs + drawDelay(receiptDelay, rng);
    queueReceipt(tx, { senderAik, messageId: row.messageId }, dueMs);
  }
}

function tellSiblings(context: Context, aik: string): void {
  const { tx, arrival, rng } = context;
  const own = ownIdentity(tx);
  if (own !== undefined) queueContacts(tx, own, { nowMs: arrival.nowMs, rng }, [aik]);
}

interface RowContent {
  readonly conversation: string;
  readonly typeTag: number;
  readonly content: Uint8Array;
}

function keepRow(context: Context, row: RowContent): void {
  const { tx, opened, arrival, senderAik } = context;
  const claimedMs = clampU64(opened.sentAtMs);
  const messageId = idText(opened.messageId);
  const added = addMessage(tx, {
    ...row,
    senderAik,
    senderDevice: idText(opened.sender.deviceId),
    messageId,
    // A clock that is wrong rejects nothing: it is shown clamped, and marked.
    sentMs: Math.min(claimedMs, arrival.relayNowMs),
    arrivedMs: arrival.relayNowMs,
    clockOff: claimedMs > arrival.relayNowMs + clockToleranceMs,
  });
  if (added) announce(context, { type: "message", conversation: row.conversation, messageId });
}

function announce({ tx, effects }: Context, event: DeviceEvent): void {
  tx.afterCommit(() => effects.emit(event));
}
