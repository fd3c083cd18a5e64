/**
 * Acts of a person about people and devices that are known already: let a stranger in, block somebody,
 * compare safety numbers, remove a device. What others must be told is queued in the same transaction;
 * what the relay must be told is asked first where it decides, and remembered where it need not.
 *
 * Spec: docs/protocol.md "Access keys", "Removal", "Safety number".
 */
import { idFromText, parseId } from "../shared/ids.ts";
import { err, ok, type Result } from "../shared/result.ts";
import type { Rng } from "../shared/rng.ts";
import type { Clock } from "../shared/clock.ts";
import { noAccount, transportError } from "./account.ts";
import type { Connection } from "./connection.ts";
import { groupDigits, safetyNumber } from "./crypto/safety-number.ts";
import type { ContactView, Device, DeviceError, DeviceEvent, DeviceView } from "./device.ts";
import { contactView, findContact } from "./identity/contacts.ts";
import { deviceViewOf, listWithoutDevice } from "./identity/devices.ts";
import { type OwnIdentity, ownIdentity } from "./identity/keys.ts";
import { learnLists } from "./identity/lists.ts";
import type { RelayTime } from "./identity/relay-time.ts";
import { contestedKeys, settleKeys } from "./identity/renewals.ts";
import { queueContacts } from "./identity/sync.ts";
import { rotateSoon } from "./mend.ts";
import { queueDeviceList } from "./messaging/payload.ts";
import type { Pump } from "./messaging/pump.ts";
import { allContacts, type ContactRow, deleteContact, updateContact } from "./store/contacts.ts";
import { getOwnAccount } from "./store/identity.ts";
import { wakeRecipient } from "./store/outbox-due.ts";
import type { DeviceStore, WriteTx } from "./store/sqlite.ts";

/** What these acts need. */
export interface PeopleParts {
  readonly store: DeviceStore;
  readonly clock: Clock;
  readonly rng: Rng;
  readonly relayTime: RelayTime;
  readonly connection: Connection;
  readonly pump: Pick<Pump, "wake">;
  /** Tells the relay what it is still to be told, now. */
  readonly mend: () => Promise<void>;
  readonly emit: (event: DeviceEvent) => void;
}

/** The acts, as the device offers them. */
export function peopleActs(
  parts: PeopleParts,
): Pick<
  Device,
  | "admitContact"
  | "blockContact"
  | "unblockContact"
  | "safetyNumber"
  | "contestedKeys"
  | "markVerified"
  | "revokeDevice"
> {
  return {
    admitContact: (contact) => admit(parts, contact),
    blockContact: (contact) => block(parts, contact),
    unblockContact: (contact) => unblock(parts, contact),
    safetyNumber: (contact) => numberOf(parts, contact),
    contestedKeys: (contact, chosen) => contested(parts, contact, chosen),
    markVerified: (contact) => markVerified(parts, contact),
    revokeDevice: (deviceId) => revoke(parts, deviceId),
  };
}

type Changed = Result<ContactView, DeviceError>;

function admit(parts: PeopleParts, contact: string): Changed {
  return change(parts, contact, (tx, person) => {
    if (person.relation !== "request") {
      return refuse("not-a-request", `${person.name} is no message request: nothing to let in`);
    }
    updateContact(tx, person.aik, { relation: "contact" });
    return ok(undefined);
  });
}

/** Blocking changes the key to our mailboxes: else they could go on filling them. */
async function block(parts: PeopleParts, contact: string): Promise<Changed> {
  const blocked = change(parts, contact, (tx, person) => {
    if (person.relation === "blocked") {
      return refuse("contact-blocked", `${person.name} is blocked already`);
    }
    updateContact(tx, person.aik, { relation: "blocked" });
    rotateSoon(tx, parts.rng);
    return ok(undefined);
  });
  if (blocked.ok) await parts.mend();
  return blocked;
}

function unblock(parts: PeopleParts, contact: string): Changed {
  return change(parts, contact, (tx, person) => {
    if (person.relation !== "blocked") {
      return refuse("contact-not-blocked", `${person.name} is not blocked`);
    }
    // Whoever was a stranger is one again; they may write another request.
    if (person.accessKey === null) deleteContact(tx, person.aik);
    else updateContact(tx, person.aik, { relation: "contact" });
    return ok(undefined);
  });
}

function numberOf({ store }: PeopleParts, contact: string): ReturnType<Device["safetyNumber"]> {
  return store.read((tx) => {
    const own = getOwnAccount(tx);
    if (own === undefined) return err(noAccount);
    const found = findContact(tx, contact);
    if (!found.ok) return found;
    const { aik, name, verifiedMs } = found.value;
    return ok({ name, digits: numberWith(own.aik, aik), verifiedMs: verifiedMs ?? undefined });
  });
}

/** A person compared safety numbers with somebody whose key two others claim. */
function contested(
  { store, clock, relayTime, emit, pump }: PeopleParts,
  contact: string,
  chosen: string | undefined,
): ReturnType<Device["contestedKeys"]> {
  return store.write((tx) => {
    const own = getOwnAccount(tx);
    if (own === undefined) return err(noAccount);
    const found = findContact(tx, contact);
    if (!found.ok) return found;
    const { aik, name } = found.value;
    const keys = contestedKeys(tx, aik);
    if (keys.length < 2) return refuse("not-contested", `nobody else claims the key of ${name}`);
    if (chosen !== undefined) {
      if (!keys.includes(chosen)) return refuse("no-such-key", `that is no key of ${name}`);
      settleKeys(tx, aik, chosen, relayTime.nowMs(own.relayOrigin));
      wakeRecipient(tx, chosen, clock.nowMs());
      tx.afterCommit(() => {
        emit({ type: "contact", aik: chosen });
        pump.wake();
      });
    }
    return ok(keys.map((key) => ({ aik: key, digits: numberWith(own.aik, key) })));
  });
}

function numberWith(ownAik: string, aik: string): string {
  return groupDigits(safetyNumber(idFromText(ownAik, 32), idFromText(aik, 32)));
}

function markVerified(parts: PeopleParts, contact: string): Changed {
  return change(parts, contact, (tx, person, own) => {
    const verifiedMs = parts.relayTime.nowMs(own.relayOrigin);
    updateContact(tx, person.aik, { verifiedMs, renewedMs: null });
    return ok(undefined);
  });
}

/** Compare-and-set at the relay first: the list is announced only once it counts. */
async function revoke(
  parts: PeopleParts,
  deviceId: string,
): Promise<Result<DeviceView, DeviceError>> {
  const { store, clock, rng, relayTime, connection } = parts;
  const own = store.read(ownIdentity);
  if (own === undefined) return err(noAccount);
  const id = parseId(deviceId);
  if (!id.ok) return refuse("no-device", "expected a device id as `pixie device devices` shows it");
  const relayNowMs = relayTime.nowMs(own.relayOrigin);
  const proposal = store.read((tx) => listWithoutDevice(tx, id.value, relayNowMs));
  if (!proposal.ok) return proposal;
  const { list, request } = proposal.value;
  const taken = await connection.request(request);
  if (!taken.ok) return err(transportError(taken.error));
  store.write((tx) => {
    const moment = { nowMs: clock.nowMs(), relayNowMs, rng };
    learnLists(tx, own.aikText, [list]);
    const contacts = allContacts(tx).filter((person) => person.relation === "contact");
    for (const aik of [own.aikText, ...contacts.map((person) => person.aik)]) {
      queueDeviceList(tx, aik, list.record, moment);
    }
    // It knew the key to our mailboxes.
    rotateSoon(tx, rng);
    tx.afterCommit(() => parts.emit({ type: "devices" }));
  });
  await parts.mend();
  const view = store.read((tx) => deviceViewOf(tx, id.value));
  if (view === undefined) throw new Error("a device that was removed is not in the list");
  return ok(view);
}

/** Changes one person, tells siblings, and returns how they stand. */
function change(
  parts: PeopleParts,
  contact: string,
  act: (tx: WriteTx, person: ContactRow, own: OwnIdentity) => Result<undefined, DeviceError>,
): Changed {
  const { store, clock, rng, relayTime, emit } = parts;
  return store.write((tx) => {
    const own = ownIdentity(tx);
    if (own === undefined) return err(noAccount);
    const found = findContact(tx, contact);
    if (!found.ok) return found;
    const { aik } = found.value;
    const acted = act(tx, found.value, own);
    if (!acted.ok) return acted;
    queueContacts(tx, own, { nowMs: clock.nowMs(), rng }, [aik]);
    tx.afterCommit(() => emit({ type: "contact", aik }));
    const after = findContact(tx, aik);
    return ok(contactView(tx, after.ok ? after.value : found.value, relayTime.nowMs));
  });
}

function refuse(
  type: string,
  message: string,
): { readonly ok: false; readonly error: DeviceError } {
  return err({ type, message });
}
