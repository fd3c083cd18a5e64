/** An account, its mailbox and its uploads, through whatever transport is under contract. */
import type {
  MailboxConnection,
  MailboxState,
  RelayTransport,
} from "../../src/device/transport/port.ts";
import type { Relay } from "../../src/relay/index.ts";
import { originHash } from "../../src/shared/crypto/origin.ts";
import { signChallenge } from "../../src/shared/crypto/relay-auth.ts";
import type { Delivery } from "../../src/shared/wire/frames.ts";
import { createEventLog, type EventLog } from "../device/transport/misbehaving.ts";
import {
  newAccount,
  registrationOf,
  type RelayAccount,
  type RelayDevice,
  uploadTo,
} from "../support/accounts.ts";
import { at, valueOf } from "../support/people.ts";

/** A mailbox with everything that it reported. */
export interface Mailbox {
  readonly connection: MailboxConnection;
  readonly states: EventLog<MailboxState>;
  readonly deliveries: EventLog<Delivery>;
  readonly drained: EventLog<bigint>;
}

/** Registers a new account; returns it with its only device. */
export async function registerWith(
  transport: RelayTransport,
  relay: Pick<Relay, "url" | "origin">,
): Promise<readonly [RelayAccount, RelayDevice]> {
  const account = newAccount(Date.now());
  const request = registrationOf(account, relay.origin, Date.now());
  valueOf(await transport.register(relay.url, request));
  return [account, at(account.devices, 0)];
}

/** Opens the mailbox of a device. */
export function openMailboxOf(
  transport: RelayTransport,
  device: RelayDevice,
  relayOrigin: string,
): Mailbox {
  const states = createEventLog<MailboxState>();
  const deliveries = createEventLog<Delivery>();
  const drained = createEventLog<bigint>();
  const { deviceId, dsk } = device;
  const originDigest = originHash(relayOrigin);
  const connection = transport.openMailbox(
    {
      relayOrigin,
      deviceId,
      answerChallenge: (nonce, timeMs) =>
        signChallenge({ originDigest, nonce, deviceId, timeMs }, dsk.privateKey),
    },
    { onState: states.push, onDelivery: deliveries.push, onDrained: drained.push },
  );
  return { connection, states, deliveries, drained };
}

/** Waits until the mailbox is ready; returns that state. */
export async function whenReady(mailbox: Mailbox): Promise<MailboxState> {
  return await mailbox.states.until((state) => state.type === "ready");
}

/** An upload for one device. */
export function uploadFor(account: RelayAccount, device: RelayDevice, origin: string): Uint8Array {
  return uploadTo(account, [device.mailbox], { origin, nowMs: Date.now() });
}
