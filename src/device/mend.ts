/**
 * What this device owes its relay beside the daily upkeep: a renewal that is not finished, an access key
 * that was to be replaced, and after the relay was restored from a backup the records that it has lost. All
 * are remembered until they are done, and repeating one changes nothing.
 *
 * Spec: docs/protocol.md "Access keys", "After a restore".
 */
import { parseDeviceList } from "../shared/crypto/device-list.ts";
import type { Rng } from "../shared/rng.ts";
import {
  beginKeyRotation,
  finishKeyRotation,
  nextAccessKey,
  redrawNextKey,
} from "./identity/access-key.ts";
import { type OwnIdentity, ownIdentity } from "./identity/keys.ts";
import { type FinishParts, finishRenewals, renewalRequest } from "./finish-renewal.ts";
import { type AnswerMoment, queueProfile } from "./messaging/payload.ts";
import type { DelayRange } from "./messaging/receipts.ts";
import { askToResend, resendThrough } from "./messaging/resend.ts";
import { allContacts } from "./store/contacts.ts";
import { currentOwnPrekey, getOwnAccount } from "./store/identity.ts";
import { deviceListAt, newestDeviceList } from "./store/lists.ts";
import { replacedBy } from "./store/renewals.ts";
import { deleteSetting, getSetting, putSetting } from "./store/settings.ts";
import type { WriteTx } from "./store/sqlite.ts";

/** What mending acts through. */
export interface MendParts extends FinishParts {
  readonly resendDelay: DelayRange;
}

const epochSetting = "relay-epoch";
const lostSinceSetting = "relay-lost-since";
const drainedSetting = "relay-drained";
/** The last drain proves what had come by then, give or take what was on its way. Units: ms. */
const drainMarginMs = 3_600_000;

/** Everything that waited at that time of the relay is here. */
export function noteDrained(tx: WriteTx, relayNowMs: number): void {
  // While a restore is not mended yet, the time before it is what counts.
  if (getSetting(tx, lostSinceSetting) === undefined) {
    putSetting(tx, drainedSetting, String(relayNowMs));
  }
}

/** Notes the relay's epoch; another one than before means that it was restored from a backup. */
export function noteEpoch(tx: WriteTx, epoch: string): "restored" | "known" {
  const known = getSetting(tx, epochSetting);
  if (known === epoch) return "known";
  putSetting(tx, epochSetting, epoch);
  if (known === undefined) return "known";
  const drainedMs = Number(getSetting(tx, drainedSetting) ?? 0);
  putSetting(tx, lostSinceSetting, String(Math.max(0, drainedMs - drainMarginMs)));
  return "restored";
}

/** Does what is owed, as far as the relay answers. */
export async function mend(parts: MendParts): Promise<void> {
  const finished = await finishRenewals(parts);
  if (finished.ok && finished.value === "renewed") {
    parts.notice(
      "the account has a new identity key, safety numbers changed, and the old recovery code is void: pixie device recovery-code shows the new one on an admin device",
    );
  } else if (!finished.ok && finished.error.type === "refused") {
    parts.notice(`the relay did not take a renewal: ${finished.error.refusal.message}`);
  }
  const own = parts.store.read(ownIdentity);
  if (own === undefined) return;
  await mendRestored(parts, own);
  await replaceKey(parts);
}

async function mendRestored(parts: MendParts, own: OwnIdentity): Promise<void> {
  const { store, request, notice } = parts;
  const lostSince = store.read((tx) => getSetting(tx, lostSinceSetting));
  if (lostSince === undefined) return;
  // Records first: nobody can seal to a device whose prekey the relay has forgotten.
  if (!(await repeatRenewal(parts, own)) || !(await republishLists(parts, own.aikText))) return;
  const prekey = store.read(currentOwnPrekey);
  if (prekey !== undefined) await request({ type: "publish-prekey", prekey: prekey.record });
  await request({ type: "rotate-access-key", key: own.accessKey });
  const resent = store.write((tx) => {
    const moment = momentOf(parts, own);
    deleteSetting(tx, lostSinceSetting);
    askToResend(tx, Number(lostSince), moment, parts.resendDelay);
    const messages = resendThrough(tx, own.relayOrigin, moment);
    tx.afterCommit(parts.onQueued);
    return messages;
  });
  notice(
    `the relay was restored from a backup: ${resent} messages go again, and others are asked to send again`,
  );
}

/** A renewal that the relay has lost is told again, after the lists that it rests on. False: no answer. */
async function repeatRenewal(parts: MendParts, own: OwnIdentity): Promise<boolean> {
  const { store, transport } = parts;
  const oldAik = store.read((tx) => replacedBy(tx, own.aikText));
  if (oldAik === undefined) return true;
  const request = store.read((tx) => renewalRequest(tx, oldAik, own.aikText));
  if (request === undefined) return true;
  if (!(await republishLists(parts, oldAik))) return false;
  const answer = await transport.renew(own.relayOrigin, request);
  return answer.ok || answer.error.type === "refused";
}

/** Tells the relay every list that it has lost, one by one. False: it did not answer. */
async function republishLists({ store, request }: MendParts, aik: string): Promise<boolean> {
  const newest = store.read((tx) => newestDeviceList(tx, aik))?.version ?? 1;
  for (let version = 2; version <= newest; version++) {
    const [before, list] = store.read((tx) =>
      [version - 1, version].map((each) => deviceListAt(tx, aik, each)),
    );
    const known = before && parseDeviceList(before.record);
    // What was pinned at a later version has no predecessor here; the relay keeps what it has.
    if (known?.ok !== true || list === undefined) continue;
    const answer = await request({
      type: "update-device-list",
      expectedVersion: known.value.version,
      expectedHash: known.value.hash,
      deviceList: list.record,
    });
    // A refusal says that the relay has this one, or a later one.
    if (!answer.ok && answer.error.type !== "refused") return false;
  }
  return true;
}

async function replaceKey(parts: MendParts): Promise<void> {
  const { store, rng, request } = parts;
  const key = store.read(nextAccessKey);
  if (key === undefined) return;
  const answer = await request({ type: "rotate-access-key", key });
  if (!answer.ok) {
    const isOld = answer.error.type === "refused" && answer.error.refusal.code === "conflict";
    if (isOld) store.write((tx) => redrawNextKey(tx, rng));
    return;
  }
  store.write((tx) => {
    // Two looks at once asked for the same key: people are told once.
    if (nextAccessKey(tx) === undefined) return;
    finishKeyRotation(tx, key);
    tellNewKey(tx, parts);
    tx.afterCommit(parts.onQueued);
  });
}

/** Own devices and contacts learn the new key; whoever was blocked or removed does not. */
function tellNewKey(tx: WriteTx, parts: MendParts): void {
  const own = ownIdentity(tx);
  if (own === undefined) return;
  const contacts = allContacts(tx).filter((person) => person.relation === "contact");
  for (const aik of [own.aikText, ...contacts.map((person) => person.aik)]) {
    queueProfile(tx, aik, momentOf(parts, own));
  }
}

function momentOf({ clock, rng, relayNowMs }: MendParts, own: OwnIdentity): AnswerMoment {
  return { nowMs: clock.nowMs(), relayNowMs: relayNowMs(own.relayOrigin), rng };
}

/** Decides to replace the access key; the relay is told as soon as it answers. */
export function rotateSoon(tx: WriteTx, rng: Rng): void {
  if (getOwnAccount(tx) !== undefined) beginKeyRotation(tx, rng);
}
