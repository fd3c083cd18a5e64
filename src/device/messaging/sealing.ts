/**
 * Seals the queued copies of one entry that are due: chooses the devices, seals to the prekeys that
 * are known now, and stores the sealed bytes with the new state in one transaction, before a byte
 * of them is posted.
 *
 * Spec: docs/protocol.md "Sender state": seal at upload time, never at compose time.
 */
import { dayOf } from "../../shared/clock.ts";
import { type DeviceList, liveEntries } from "../../shared/crypto/device-list.ts";
import { originHash } from "../../shared/crypto/origin.ts";
import { idFromText, idText } from "../../shared/ids.ts";
import { tokenLifetimeMs } from "../../shared/limits.ts";
import { assertNever } from "../../shared/result.ts";
import type { Rng } from "../../shared/rng.ts";
import { type SealedUpload, type SealRequest, sealUpload } from "../crypto/seal.ts";
import { type OwnIdentity, ownIdentity } from "../identity/keys.ts";
import type { OutboxRow } from "../store/outbox.ts";
import { otherCertificateOf } from "../store/renewals.ts";
import { addSealedUpload } from "../store/sealed-uploads.ts";
import type { ReadTx, WriteTx } from "../store/sqlite.ts";
import { type FanOut, type FanOutTarget, fanOutTo, type Route } from "./fan-out.ts";
import { isOpen, type Entry, type Moment, type OutboxEvent } from "./outbox-entry.ts";
import { applyEvents, loadEntry } from "./outbox-rows.ts";
import { prekeyAskMs } from "./retry-times.ts";

/** What sealing needs besides the store. */
export interface SealingContext {
  readonly route: Route;
  /** Units: ms on the clock of the route's relay. */
  readonly relayNowMs: number;
  readonly moment: Moment;
  readonly rng: Rng;
}

/** Seals what is due. Returns the slot to post, or `undefined` when there is nothing to post now. */
export function sealDueCopies(
  tx: WriteTx,
  row: OutboxRow,
  context: SealingContext,
): string | undefined {
  const own = ownIdentity(tx);
  const entry = loadEntry(tx, row);
  // Own devices that have not heard of the renewal yet open only what was sealed to the old key.
  const under = context.route.ownAccount ? row.senderAik : null;
  const fanOut = fanOutTo(tx, row.recipientAik, context.relayNowMs, under ?? row.recipientAik);
  if (own === undefined || entry?.state !== "open") return undefined;
  const untilMs = context.moment.nowMs + prekeyAskMs;
  if (fanOut === undefined) {
    const reason = "their devices are not known yet";
    applyEvents(tx, row, [{ type: "waits", reason, untilMs }], context.moment);
    return undefined;
  }
  if (context.route.ownAccount && isAlone(fanOut, own)) {
    applyEvents(tx, row, [{ type: "nobody" }], context.moment);
    return undefined;
  }
  const chosen = chooseTargets(entry, row, fanOut, context.moment.nowMs);
  if (chosen.targets.length + chosen.events.length === 0) {
    const reason = "no device is left to send it to";
    applyEvents(tx, row, [{ type: "waits", reason, untilMs }], context.moment);
    return undefined;
  }
  const sealing = sealTo(tx, row, { ...chosen, sender: senderOf(tx, row, own), fanOut, context });
  applyEvents(tx, row, [...chosen.events, ...sealing.events], context.moment);
  return sealing.slot;
}

/** This device under the key that the row is bound to, or else under the present one. */
function senderOf(tx: ReadTx, { senderAik }: OutboxRow, own: OwnIdentity): SealRequest["sender"] {
  const earlier = senderAik === null ? undefined : otherCertificateOf(tx, senderAik);
  return {
    dskPrivateKey: own.dsk.privateKey,
    certificate: earlier?.certificate ?? own.certificate.record,
  };
}

/** Copies whose device is no longer in the account's list. */
export function revokedCopies(entry: Entry, list: DeviceList): readonly OutboxEvent[] {
  const live = new Set(liveEntries(list).map((device) => idText(device.deviceId)));
  const deviceIds = entry.copies
    .filter((copy) => isOpen(copy) && !live.has(copy.deviceId))
    .map((copy) => copy.deviceId);
  return deviceIds.length === 0 ? [] : [{ type: "revoked", deviceIds }];
}

interface Chosen {
  readonly targets: readonly FanOutTarget[];
  readonly events: readonly OutboxEvent[];
}

/**
 * Before the first acceptance every device of the newest list belongs to the entry; afterwards only
 * those that have a copy. What is for one device is sealed to no other.
 */
function chooseTargets(
  entry: Entry,
  { onlyDevice }: OutboxRow,
  fanOut: FanOut,
  nowMs: number,
): Chosen {
  const copies = new Map(entry.copies.map((copy) => [copy.deviceId, copy]));
  const isWanted = (deviceId: string): boolean => {
    if (onlyDevice !== null && deviceId !== onlyDevice) return false;
    const copy = copies.get(deviceId);
    if (copy === undefined) return entry.acceptedMs === null;
    return copy.state === "queued" && copy.nextMs <= nowMs;
  };
  const missing = fanOut.withoutPrekey.filter(isWanted);
  return {
    targets: fanOut.targets.filter((target) => isWanted(target.deviceIdText)),
    events: missing.length === 0 ? [] : [{ type: "no-prekey", deviceIds: missing }],
  };
}

interface Sealing {
  readonly slot: string | undefined;
  readonly events: readonly OutboxEvent[];
}

interface SealingParts extends Chosen {
  readonly sender: SealRequest["sender"];
  readonly fanOut: FanOut;
  readonly context: SealingContext;
}

function sealTo(tx: WriteTx, row: OutboxRow, parts: SealingParts): Sealing {
  if (parts.targets.length === 0) return { slot: undefined, events: [] };
  const sealed = sealUpload(requestFor(row, parts), parts.context.rng);
  if (sealed.ok) return keepSealed(tx, row, parts, sealed.value);
  switch (sealed.error.type) {
    case "no-prekey": {
      // Keys that the primitive refuses count as none; the others are sealed to all the same.
      const refused = new Set(sealed.error.deviceIds.map(idText));
      const targets = parts.targets.filter((target) => !refused.has(target.deviceIdText));
      const rest = sealTo(tx, row, { ...parts, targets });
      return {
        slot: rest.slot,
        events: [{ type: "no-prekey", deviceIds: [...refused] }, ...rest.events],
      };
    }
    case "too-large": {
      const { contentBytes, limitBytes } = sealed.error;
      const reason = `expected at most ${limitBytes} bytes of content, got ${contentBytes}`;
      return { slot: undefined, events: [{ type: "impossible", reason }] };
    }
    default:
      return assertNever(sealed.error);
  }
}

function requestFor(row: OutboxRow, parts: SealingParts): SealRequest {
  const { sender, fanOut, context } = parts;
  const { route, relayNowMs } = context;
  return {
    sender,
    recipient: {
      aik: fanOut.list.aik,
      accountMailbox: route.accountMailbox,
      listVersion: fanOut.list.version,
      listHash: fanOut.list.hash,
      targets: parts.targets,
    },
    message: {
      typeTag: row.typeTag,
      flags: row.flags,
      messageId: idFromText(row.messageId),
      sentAtMs: BigInt(row.sentMs),
      content: row.content,
      ...(row.bucket === null ? {} : { bucket: row.bucket }),
    },
    token: {
      keyKind: route.keyKind,
      key: route.key,
      expiryMs: BigInt(Math.floor(relayNowMs + tokenLifetimeMs)),
      originDigest: originHash(route.relayOrigin),
    },
    slotDay: dayOf(relayNowMs),
  };
}

function keepSealed(
  tx: WriteTx,
  row: OutboxRow,
  parts: SealingParts,
  sealed: SealedUpload,
): Sealing {
  const slot = idText(sealed.slot);
  addSealedUpload(tx, {
    slot,
    messageId: row.messageId,
    recipientAik: row.recipientAik,
    relayOrigin: parts.context.route.relayOrigin,
    upload: sealed.upload,
    expiresMs: parts.context.relayNowMs + tokenLifetimeMs,
  });
  const targets = parts.targets.map((target) => ({
    deviceId: target.deviceIdText,
    notBeforeMs: target.notBeforeMs,
  }));
  return { slot, events: [{ type: "sealed", slot, targets }] };
}

function isAlone(fanOut: FanOut, own: OwnIdentity): boolean {
  return fanOut.devices.every((device) => idText(device.deviceId) === idText(own.deviceId));
}
