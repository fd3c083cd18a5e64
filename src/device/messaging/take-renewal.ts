/**
 * What the renewal of a contact's identity key does here, beside what identity decides: the person is
 * told, their devices are looked up under the new key, and what waits for them goes on.
 *
 * Called by dispatch.ts within the inbox's transaction. Spec: docs/protocol.md "Renewal of an account".
 */
import type { Renewal } from "../../shared/crypto/renewal.ts";
import { idText } from "../../shared/ids.ts";
import type { DeviceEvent } from "../device.ts";
import { hearRenewal } from "../identity/renewals.ts";
import { getContact } from "../store/contacts.ts";
import { wakeRecipient } from "../store/outbox-due.ts";
import { currentKeyOf } from "../store/renewals.ts";
import type { WriteTx } from "../store/sqlite.ts";
import type { Arrival } from "./inbox.ts";

/** What it needs of a delivery. */
export interface RenewalContext {
  readonly tx: WriteTx;
  readonly arrival: Arrival;
  readonly effects: {
    readonly emit: (event: DeviceEvent) => void;
    readonly refresh: (aik: string) => void;
    readonly notice: (notice: string) => void;
  };
}

/** Takes a contact's renewal in. Returns a reason to set it aside instead, if there is one. */
export function takeRenewal(
  { tx, arrival, effects }: RenewalContext,
  renewal: Renewal,
): string | undefined {
  const heard = hearRenewal(tx, renewal, arrival.relayNowMs);
  if (heard === "refused") return "renewal-refused";
  if (heard === "known") return undefined;
  const aik = currentKeyOf(tx, idText(renewal.oldAik));
  const name = getContact(tx, aik)?.name ?? aik;
  if (heard === "followed") {
    wakeRecipient(tx, aik, arrival.nowMs);
    // The new key's list and prekeys come with the bundle.
    tx.afterCommit(() => effects.refresh(aik));
  }
  tx.afterCommit(() => {
    effects.notice(
      heard === "followed"
        ? `${name} has a new identity key, and with it a new safety number: compare it with them`
        : `ALARM: two different keys claim to have taken over from ${name}'s. Nothing is sent to them until you have asked them in person`,
    );
    effects.emit({ type: "contact", aik });
  });
  return undefined;
}
