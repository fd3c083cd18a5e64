/**
 * What own devices say of a renewal of the account. It is kept until the relay says that it took that very
 * renewal (finish-renewal.ts): whoever holds the old key can sign another one, but only one counts.
 *
 * Called by dispatch.ts within the inbox's transaction. Spec: docs/protocol.md "Renewal of an account".
 */
import { equalBytes } from "../../shared/bytes.ts";
import type { Renewal } from "../../shared/crypto/renewal.ts";
import { idText } from "../../shared/ids.ts";
import { ownIdentity } from "../identity/keys.ts";
import { getOwnAccount, getOwnDevice, putOwnAccount, putOwnDevice } from "../store/identity.ts";
import {
  addRenewal,
  countOtherCertificates,
  currentKeyOf,
  putOtherCertificate,
  renewalsOf,
} from "../store/renewals.ts";
import type { WriteTx } from "../store/sqlite.ts";
import type { Arrival } from "./inbox.ts";
import type { Payload } from "./payload.ts";

/** What it needs of a delivery. */
export interface OwnKeysContext {
  readonly tx: WriteTx;
  readonly arrival: Arrival;
  readonly effects: {
    /** Ask the relay which renewal it took, in the background. */
    readonly finishRenewals: () => void;
    readonly notice: (notice: string) => void;
  };
}

/** Renewals of one own key, and certificates under other keys, that are kept. */
const maxKept = 16;

/** Takes in what a sibling says of the account's renewal. */
export function takeOwnRenewal(
  { tx, arrival, effects }: OwnKeysContext,
  { oldAik, newAik, record }: Renewal,
): undefined {
  const keys = { oldAik: idText(oldAik), newAik: idText(newAik) };
  const heard = renewalsOf(tx, keys.oldAik);
  if (heard.length >= maxKept || heard.some((row) => row.newAik === keys.newAik)) return;
  addRenewal(tx, { ...keys, record, followed: false, heardMs: arrival.relayNowMs });
  if (currentKeyOf(tx, keys.oldAik) === keys.oldAik) tx.afterCommit(effects.finishRenewals);
  else {
    tx.afterCommit(() =>
      effects.notice(
        "ALARM: a device that holds the account's old key claims another new one. Your contacts may have heard it, too: compare your safety number with them in person",
      ),
    );
  }
}

/** Takes in this device's keys. Returns a reason to set them aside, if there is one. */
export function takeOwnKeys(
  { tx, effects }: OwnKeysContext,
  { certificate, aikSeed }: Extract<Payload, { kind: "own-keys" }>,
): string | undefined {
  const own = ownIdentity(tx);
  const [account, device] = [getOwnAccount(tx), getOwnDevice(tx)];
  if (own === undefined || account === undefined || device === undefined) return "own-keys-foreign";
  const isMine =
    equalBytes(certificate.deviceId, own.deviceId) &&
    equalBytes(certificate.dsk, own.dsk.publicKey);
  if (!isMine) return "own-keys-foreign";
  const aik = idText(certificate.aik);
  const kept = { aik, certificate: certificate.record, aikSeed: aikSeed ?? null };
  if (aik === account.aik) {
    putOwnDevice(tx, { ...device, certificate: kept.certificate });
    if (aikSeed !== undefined) putOwnAccount(tx, { ...account, aikSeed });
    return undefined;
  }
  if (currentKeyOf(tx, aik) !== aik) return undefined;
  if (countOtherCertificates(tx) >= maxKept) return "own-keys-full";
  putOtherCertificate(tx, kept);
  tx.afterCommit(effects.finishRenewals);
  return undefined;
}
