/**
 * Acts of a person that need a relay: registering an account, inviting, accepting an invite. Each
 * asks the relay first and stores what it agreed to; what a contact must be told is queued in the
 * same transaction.
 *
 * Spec: docs/protocol.md "Registration", "First contact".
 */
import { parseRelayOrigin } from "../shared/crypto/origin.ts";
import { idText } from "../shared/ids.ts";
import { err, ok, type Result } from "../shared/result.ts";
import type { Rng } from "../shared/rng.ts";
import type { Clock } from "../shared/clock.ts";
import { parseName } from "./crypto/profile.ts";
import { payloadTag } from "./crypto/type-rules.ts";
import type { ContactView, Device, DeviceError, Identity } from "./device.ts";
import { beginContact, contactView, ownProfile } from "./identity/contacts.ts";
import { identityView } from "./identity/devices.ts";
import { acceptContent, draftInvite, keepInvite, readInvite } from "./identity/invites.ts";
import { drawAccount, keepAccount, type OwnIdentity, ownIdentity } from "./identity/keys.ts";
import type { RelayTime } from "./identity/relay-time.ts";
import { queueContacts, queueInvites } from "./identity/sync.ts";
import type { BundleRefresh } from "./messaging/bundle-refresh.ts";
import type { Connection } from "./connection.ts";
import { deleteContact, getContact } from "./store/contacts.ts";
import { getOwnAccount } from "./store/identity.ts";
import { addOutgoing } from "./store/outbox.ts";
import type { DeviceStore } from "./store/sqlite.ts";
import type { RelayTransport, TransportError } from "./transport/port.ts";

/** What these acts need. */
export interface AccountParts {
  readonly store: DeviceStore;
  readonly transport: RelayTransport;
  readonly clock: Clock;
  readonly rng: Rng;
  readonly relayTime: RelayTime;
  readonly bundles: BundleRefresh;
  readonly connection: Connection;
}

type RegisterOptions = Parameters<Device["register"]>[0];
type Registered = { readonly identity: Identity; readonly recoveryCode: string };

/** Creates an account at a relay with this device as its admin. */
export async function registerAccount(
  parts: AccountParts,
  options: RegisterOptions,
): Promise<Result<Registered, DeviceError>> {
  const { store, transport, relayTime, rng } = parts;
  if (store.read(getOwnAccount) !== undefined) return err(alreadyRegistered);
  const origin = parseRelayOrigin(options.relayUrl);
  if (!origin.ok) return refuse("relay-url", `relay: ${origin.error.reason}`);
  const { accountName, deviceName, registrationCode } = options;
  const account = parseName(accountName);
  if (!account.ok) return refuse("account-name", `account name: ${account.error.reason}`);
  const device = parseName(deviceName);
  if (!device.ok) return refuse("device-name", `device name: ${device.error.reason}`);
  const relay = await relayAt(parts, origin.value);
  if (!relay.ok) return relay;
  const created = drawAccount(
    {
      relayOrigin: origin.value,
      accountName: account.value,
      deviceName: device.value,
      ...(registrationCode === undefined ? {} : { registrationCode }),
    },
    relayTime.nowMs(origin.value),
    rng,
  );
  const answer = await transport.register(origin.value, created.request);
  if (!answer.ok) return err(transportError(answer.error));
  store.write((tx) => keepAccount(tx, created, answer.value.relayTimeMs));
  const identity = store.read(identityView);
  if (identity === undefined) throw new Error("a registered account is not in the store");
  return ok({ identity, recoveryCode: created.recoveryCode });
}

/** Looks whether the relay there is the one of that origin, and learns its time. */
export async function relayAt(
  { transport, relayTime }: AccountParts,
  origin: string,
): Promise<Result<undefined, DeviceError>> {
  const info = await transport.info(origin);
  if (!info.ok) return err(transportError(info.error));
  const { reply, relayTimeMs } = info.value;
  if (reply.origin !== origin) {
    return refuse(
      "relay-origin",
      `the relay calls itself ${reply.origin}, not ${origin}: use that address`,
    );
  }
  relayTime.learn(origin, relayTimeMs);
  return ok(undefined);
}

/** Makes an invite that the relay knows. */
export async function makeInvite(
  parts: AccountParts,
  wishes: Parameters<Device["invite"]>[0],
): Promise<Result<{ readonly link: string; readonly expiresMs: number }, DeviceError>> {
  const { store, rng, clock, relayTime, connection } = parts;
  const own = store.read(ownIdentity);
  if (own === undefined) return err(noAccount);
  const relayNowMs = relayTime.nowMs(own.relayOrigin);
  const draft = store.read((tx) => draftInvite(tx, own, { relayNowMs, rng }, wishes));
  if (!draft.ok) return draft;
  const answer = await connection.request(draft.value.request);
  if (!answer.ok) return err(transportError(answer.error));
  store.write((tx) => {
    keepInvite(tx, draft.value);
    queueInvites(tx, own, { nowMs: clock.nowMs(), rng });
  });
  return ok({ link: draft.value.link, expiresMs: draft.value.row.expiresMs });
}

/**
 * Accepts an invite: begins to know its maker, and answers with our profile. When their relay does
 * not answer now, the acceptance waits in the outbox; when it refuses the invite, nothing is kept.
 */
export async function acceptInviteLink(
  parts: AccountParts,
  link: string,
): Promise<Result<ContactView, DeviceError>> {
  const { store, clock, rng, relayTime, bundles } = parts;
  const own = store.read(ownIdentity);
  if (own === undefined) return err(noAccount);
  const invite = store.read((tx) => readInvite(tx, link, relayTime.nowMs));
  if (!invite.ok) return invite;
  const aik = idText(invite.value.aik);
  const known = store.read((tx) => getContact(tx, aik));
  const begun = store.write((tx) =>
    beginContact(tx, invite.value, relayTime.nowMs(own.relayOrigin)),
  );
  if (!begun.ok) return begun;
  const fetched = await bundles.fetch(aik);
  if (!fetched.ok && fetched.error.refused === "token-invalid" && known === undefined) {
    store.write((tx) => deleteContact(tx, aik));
    return refuse("invite-closed", "the invite was used or taken back: ask for a new one");
  }
  store.write((tx) => {
    const messageId = rng(16);
    addOutgoing(tx, {
      messageId: idText(messageId),
      recipientAik: aik,
      typeTag: payloadTag.contactAccept,
      flags: 0,
      content: acceptContent(own, invite.value, { messageId, profile: ownProfile(own) }),
      sentMs: relayTime.nowMs(own.relayOrigin),
      notBeforeMs: clock.nowMs(),
      confirmed: true,
    });
    queueContacts(tx, own, { nowMs: clock.nowMs(), rng }, [aik]);
  });
  return ok(viewOf(parts, own, aik));
}

function viewOf({ store, relayTime }: AccountParts, own: OwnIdentity, aik: string): ContactView {
  return store.read((tx) => {
    const row = getContact(tx, aik);
    if (row === undefined) throw new Error(`${own.aikText} lost a contact that was just stored`);
    return contactView(tx, row, relayTime.nowMs);
  });
}

/** What a relay that did not do what it was asked means to a person. */
export function transportError(error: TransportError): DeviceError {
  switch (error.type) {
    case "refused":
      return { type: error.refusal.code, message: error.refusal.message };
    case "protocol":
      return { type: "relay-protocol", message: error.reason };
    case "unreachable":
    default:
      return { type: "relay-unreachable", message: error.reason };
  }
}

/** No account yet. */
export const noAccount: DeviceError = {
  type: "no-account",
  message: "this device has no account yet: register one, or link it to an account",
};

/** An account already. */
export const alreadyRegistered: DeviceError = {
  type: "already-registered",
  message: "this device belongs to an account already: use another data folder",
};

function refuse(
  type: string,
  message: string,
): { readonly ok: false; readonly error: DeviceError } {
  return err({ type, message });
}
