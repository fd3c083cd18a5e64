/** A guest with an invite of Alice's, and their contact-accept as Alice's device opens it. */
import { openItem, type OpenedMessage, type OpenFailure } from "../../../src/device/crypto/open.ts";
import type { ContactAccept } from "../../../src/device/crypto/payload.ts";
import type { Profile } from "../../../src/device/crypto/profile.ts";
import { admitGuest, senderContext } from "../../../src/device/identity/contacts.ts";
import {
  acceptContent,
  draftInvite,
  type InviteKeyRequest,
  type InviteWishes,
  keepInvite,
} from "../../../src/device/identity/invites.ts";
import { openerOf } from "../../../src/device/identity/prekeys.ts";
import { parseInvite } from "../../../src/shared/crypto/invite.ts";
import { idText } from "../../../src/shared/ids.ts";
import type { Result } from "../../../src/shared/result.ts";
import {
  createPerson,
  testNowMs,
  testOrigin,
  type TestPerson,
  valueOf,
} from "../../support/people.ts";
import { seededRng } from "../../support/seeded-rng.ts";
import { type Registered, sealItemTo } from "./identity-world.ts";

/** The person who accepts. */
const guest = createPerson(seededRng("guest"));
export const guestAik = idText(guest.aik.publicKey);
/** What the guest says about themselves. */
export const profile: Profile = {
  name: "Gus",
  accessKey: guest.accessKey,
  relay: testOrigin,
  accountMailbox: guest.accountMailbox,
};

/** An invite of Alice's, as a link. */
export function inviteOf(alice: Registered, wishes: InviteWishes = {}, seed = "invite"): string {
  const at = { relayNowMs: testNowMs, rng: seededRng(seed) };
  const draft = valueOf(alice.store.read((tx) => draftInvite(tx, alice.own, at, wishes)));
  alice.store.write((tx) => keepInvite(tx, draft));
  return draft.link;
}

/** How a contact-accept may differ from an honest one. */
export interface AcceptChange {
  readonly nowMs?: number;
  readonly messageId?: Uint8Array;
  readonly proofFor?: Uint8Array;
  readonly from?: TestPerson;
  readonly secret?: Uint8Array;
}

/** What the guest's contact-accept opens as at Alice's device, at a time. */
export function openAccept(
  alice: Registered,
  link: string,
  change: AcceptChange = {},
): Result<OpenedMessage, OpenFailure> {
  const from = change.from ?? guest;
  const messageId = change.messageId ?? new Uint8Array(16).fill(1);
  const parsed = valueOf(parseInvite(link));
  const content = acceptContent(
    { ...alice.own, aik: guest.aik.publicKey },
    { ...parsed, secret: change.secret ?? parsed.secret },
    { messageId: change.proofFor ?? messageId, profile },
  );
  const item = sealItemTo(alice, from, { typeTag: 8, messageId, content });
  return alice.store.read((tx) =>
    openItem(
      item,
      openerOf(tx, alice.own.deviceId),
      senderContext(tx, change.nowMs ?? testNowMs + 1),
    ),
  );
}

/** The contact-accept in an opened message. */
export function acceptOf(opened: Result<OpenedMessage, OpenFailure>): ContactAccept {
  const { payload } = valueOf(opened);
  if (payload.kind !== "contact-accept") throw new Error(payload.kind);
  return payload;
}

/** Carries out what an opened contact-accept means. */
export function admit(
  alice: Registered,
  opened: Result<OpenedMessage, OpenFailure>,
): InviteKeyRequest | undefined {
  return alice.store.write((tx) => admitGuest(tx, guestAik, acceptOf(opened), testNowMs));
}
