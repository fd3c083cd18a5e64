/**
 * People: how an invite, a profile or a stranger's message changes what we know of them, and whether
 * we can reach them now. It decides on rows of the store; what is sent because of it is queued by
 * dispatch and the runtime.
 *
 * Spec: docs/protocol.md "Tags" (profile, contact-accept), "First contact". Times are relay time.
 */
import type { Invite } from "../../shared/crypto/invite.ts";
import { idText } from "../../shared/ids.ts";
import { err, ok, type Result } from "../../shared/result.ts";
import type { SenderContext } from "../crypto/judge-sender.ts";
import { inviteKeys } from "../crypto/kdf.ts";
import type { ContactAccept } from "../crypto/payload.ts";
import type { Profile } from "../crypto/profile.ts";
import type { Relation } from "../crypto/type-rules.ts";
import type { ContactView, DeviceError } from "../device.ts";
import {
  allContacts,
  type ContactRow,
  getContact,
  putContact,
  updateContact,
} from "../store/contacts.ts";
import { getOwnAccount } from "../store/identity.ts";
import { getInvite } from "../store/invites.ts";
import { currentKeyOf } from "../store/renewals.ts";
import type { ReadTx, WriteTx } from "../store/sqlite.ts";
import { deliveryRoute, reachableDevices } from "./bundles.ts";
import { closeOwnInvite, type InviteKeyRequest, isOpenInvite } from "./invites.ts";
import type { OwnIdentity } from "./keys.ts";
import { isAcceptableRelay } from "./relay-address.ts";
import { judgingLists, listStopped, restartLists, stoppedReason } from "./lists.ts";

/** What a profile changed. */
export interface ProfileChange {
  readonly named: boolean;
  readonly keyChanged: boolean;
  /** The profile names another relay: it is not followed without its owner's consent. */
  readonly otherRelay: string | undefined;
}

/** Our profile, as contacts get it. */
export function ownProfile(own: OwnIdentity): Profile {
  return {
    name: own.accountName,
    accessKey: own.accessKey,
    relay: own.relayOrigin,
    accountMailbox: own.accountMailbox,
  };
}

/**
 * Begins to know the maker of an invite that was handed over in person: their key and relay are
 * believed, their name comes later. Starts their device history anew if sending had stopped.
 * Errors: `contact-blocked`.
 */
export function beginContact(
  tx: WriteTx,
  invite: Invite,
  relayNowMs: number,
): Result<ContactRow, DeviceError> {
  const aik = idText(invite.aik);
  const known = getContact(tx, aik);
  if (known?.relation === "blocked") {
    return err({
      type: "contact-blocked",
      message: `${known.name} is blocked: unblock them before accepting their invite`,
    });
  }
  if (listStopped(tx, aik) !== undefined) restartLists(tx, aik);
  putContact(tx, {
    aik,
    name: known?.name ?? placeholderName(aik),
    relation: known?.relation === "contact" ? "contact" : "invited",
    relayOrigin: invite.relayOrigin,
    accountMailbox: idText(invite.accountMailbox),
    inviteKey: inviteKeys(invite.secret).inviteKey,
    addedMs: known?.addedMs ?? relayNowMs,
  });
  return ok(mustBeThere(tx, aik));
}

/**
 * Makes a guest a contact: the proof was judged when the message was opened. Returns what to tell
 * the relay when that closed a single-use invite.
 */
export function admitGuest(
  tx: WriteTx,
  guestAik: string,
  accept: ContactAccept,
  relayNowMs: number,
): InviteKeyRequest | undefined {
  const known = getContact(tx, guestAik);
  const { name, relay, accountMailbox, accessKey } = accept.profile;
  // Whoever holds an invite must not make this device call addresses inside its own network.
  const reachable = isAcceptableRelay(relay, getOwnAccount(tx)?.relayOrigin);
  putContact(tx, {
    aik: guestAik,
    name,
    relation: "contact",
    relayOrigin: reachable ? relay : null,
    accountMailbox: idText(accountMailbox),
    accessKey,
    addedMs: known?.addedMs ?? relayNowMs,
  });
  const inviteId = idText(accept.inviteId);
  return getInvite(tx, inviteId)?.singleUse === true
    ? closeOwnInvite(tx, inviteId, relayNowMs)
    : undefined;
}

/**
 * Takes in a contact's profile: name and key at once; another relay only with consent, so its
 * address and mailbox are left as they are. A person we only had an invite of becomes a contact.
 * `undefined`: nobody with that key is known.
 */
export function applyProfile(
  tx: WriteTx,
  aik: string,
  profile: Profile,
): ProfileChange | undefined {
  const known = getContact(tx, aik);
  if (known === undefined || relationOf(tx, aik) !== "contact") return undefined;
  const moved = known.relayOrigin !== null && known.relayOrigin !== profile.relay;
  updateContact(tx, aik, {
    name: profile.name,
    relation: "contact",
    ...(moved
      ? {}
      : {
          relayOrigin: profile.relay,
          accountMailbox: idText(profile.accountMailbox),
          accessKey: profile.accessKey,
        }),
  });
  return {
    named: known.name !== profile.name,
    keyChanged: known.accessKey === null || idText(known.accessKey) !== idText(profile.accessKey),
    otherRelay: moved ? profile.relay : undefined,
  };
}

/** What this device knows about senders, for opening. Reads only. */
export function senderContext(tx: ReadTx, relayNowMs: number): SenderContext {
  return {
    senderOf: (aik) => {
      const text = idText(aik);
      const current = currentKeyOf(tx, text);
      const lists = judgingLists(tx, text);
      const relation = relationOf(tx, current);
      return current === text
        ? { relation, lists }
        : { relation: "renewed", formerly: relation, lists };
    },
    isOpenInvite: (claim) => isOpenInvite(tx, claim, relayNowMs),
  };
}

/** What an identity key is to this account. Who made an invite we hold is known by it. */
export function relationOf(tx: ReadTx, aik: string): Relation {
  if (getOwnAccount(tx)?.aik === aik) return "self";
  const relation = getContact(tx, aik)?.relation;
  switch (relation) {
    case "contact":
    case "invited":
      return "contact";
    case "blocked":
      return "blocked";
    case "request":
    case undefined:
    default:
      return "unknown";
  }
}

/** Why a person cannot be sent to now; `undefined` when they can. */
function unreachableReason(tx: ReadTx, person: ContactRow, relayNowMs: number): string | undefined {
  if (person.relation === "blocked") return "blocked by you";
  if (person.relation === "request") return "a message request: accept it first";
  const stopped = listStopped(tx, person.aik);
  if (stopped !== undefined) return stoppedReason(stopped);
  if (person.relation === "contact" && person.relayOrigin === null) {
    return "their relay has no https address that this device may call";
  }
  if (deliveryRoute(tx, person.aik) === undefined) {
    return "no key to their mailbox yet: exchange an invite";
  }
  const { live, withPrekey } = reachableDevices(tx, person.aik, relayNowMs);
  if (live === 0) return "their devices are not known yet: this device asks their relay";
  return withPrekey === 0 ? "none of their devices has a current prekey" : undefined;
}

/** One person as others see them. `relayNowMs` answers per relay. */
export function contactView(
  tx: ReadTx,
  person: ContactRow,
  relayNowMs: (relayOrigin: string) => number,
): ContactView {
  const own = getOwnAccount(tx)?.relayOrigin ?? "";
  const nowMs = relayNowMs(person.relayOrigin ?? own);
  const reason = unreachableReason(tx, person, nowMs);
  return {
    aik: person.aik,
    name: person.name,
    relation: person.relation,
    renewedMs: person.renewedMs ?? undefined,
    reachable: reason === undefined,
    reason,
    relayOrigin: person.relayOrigin ?? undefined,
    devices: reachableDevices(tx, person.aik, nowMs).live,
  };
}

/** Everyone, in the order in which we met them. */
export function contactViews(
  tx: ReadTx,
  relayNowMs: (relayOrigin: string) => number,
): readonly ContactView[] {
  return allContacts(tx).map((person) => contactView(tx, person, relayNowMs));
}

/** Finds a person by identity key, or by name when only one has it. */
export function findContact(tx: ReadTx, nameOrKey: string): Result<ContactRow, DeviceError> {
  const byKey = getContact(tx, nameOrKey);
  if (byKey !== undefined) return ok(byKey);
  const wanted = nameOrKey.normalize("NFC").toLowerCase();
  const named = allContacts(tx).filter(
    (person) => person.name.normalize("NFC").toLowerCase() === wanted,
  );
  const [only] = named;
  if (named.length === 1 && only !== undefined) return ok(only);
  return named.length === 0
    ? err({ type: "no-contact", message: "nobody of that name or identity key is known" })
    : err({
        type: "ambiguous-contact",
        message: `${named.length} people have that name: use an identity key instead`,
      });
}

/** Until a profile brings a name. */
function placeholderName(aik: string): string {
  return `contact ${aik.slice(0, 8)}`;
}

function mustBeThere(tx: ReadTx, aik: string): ContactRow {
  const row = getContact(tx, aik);
  if (row === undefined) throw new Error("a contact that was just stored is not there");
  return row;
}
