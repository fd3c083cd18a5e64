/**
 * Renewing the account as a person asks for it: with the devices that are to go, or without any because
 * the recovery code was seen. Whoever holds the old key has no say afterwards.
 *
 * What is drawn is in identity/renew.ts, what the relay is asked in finish-renewal.ts.
 * Spec: docs/protocol.md "Renewal of an account".
 */
import { err, ok } from "../shared/result.ts";
import { noAccount, transportError } from "./account.ts";
import { encodeRecoveryCode } from "./crypto/recovery-code.ts";
import { payloadTag } from "./crypto/type-rules.ts";
import type { Device, DeviceError } from "./device.ts";
import { finishRenewals, type FinishParts } from "./finish-renewal.ts";
import { findSibling, identityView } from "./identity/devices.ts";
import { ownIdentity } from "./identity/keys.ts";
import { beginRenewal } from "./identity/renew.ts";
import type { BundleRefresh } from "./messaging/bundle-refresh.ts";
import { getOwnAccount } from "./store/identity.ts";
import { unheardDevices } from "./store/outbox-due.ts";
import type { DeviceStore } from "./store/sqlite.ts";

/** What renewing needs. */
export interface RenewParts extends FinishParts {
  readonly bundles: BundleRefresh;
  /** Tells the relay what it is still to be told, now. */
  readonly mend: () => Promise<void>;
}

/** The acts, as the device offers them. */
export function renewalActs(parts: RenewParts): Pick<Device, "renewAccount" | "recoveryCode"> {
  return {
    renewAccount: async ({ remove }) => await renew(parts, remove),
    recoveryCode: () => codeOf(parts.store),
  };
}

async function renew(
  parts: RenewParts,
  names: readonly string[],
): ReturnType<Device["renewAccount"]> {
  const { store, rng, relayNowMs, bundles } = parts;
  const own = store.read(ownIdentity);
  if (own === undefined) return err(noAccount);
  const removed = store.read((tx) => names.map((name) => findSibling(tx, name)));
  const unknown = removed.find((found) => !found.ok);
  if (unknown?.ok === false) return unknown;
  const remove = removed.flatMap((found) => (found.ok ? [found.value.deviceId] : []));
  const unheard = store.read((tx) => unheardDevices(tx, payloadTag.ownKeys));
  if (unheard.some((deviceId) => !remove.includes(deviceId))) return err(unheardOf(unheard));
  // Own devices are sealed to once more under the old key: with prekeys as new as can be.
  const fetched = await bundles.fetch(own.aikText);
  if (!fetched.ok) {
    return err({
      type: fetched.error.refused ?? "relay-unreachable",
      message: fetched.error.reason,
    });
  }
  const moment = { relayNowMs: relayNowMs(own.relayOrigin), rng };
  const begun = store.write((tx) => beginRenewal(tx, remove, moment));
  if (!begun.ok) return begun;
  const finished = await finishRenewals(parts);
  if (!finished.ok) {
    const { type, message } = transportError(finished.error);
    if (finished.error.type === "refused") return err({ type, message });
    return err({ type, message: `${message}; the renewal goes on when the relay answers` });
  }
  await parts.mend();
  const identity = store.read(identityView);
  const code = codeOf(store);
  if (identity === undefined) throw new Error("a renewed account is not in the store");
  return code.ok ? ok({ identity, ...code.value }) : code;
}

/** Read from the store of an admin device, which holds what is in it. */
function codeOf(store: DeviceStore): ReturnType<Device["recoveryCode"]> {
  const account = store.read(getOwnAccount);
  if (account === undefined) return err(noAccount);
  const { aikSeed, relayOrigin } = account;
  if (aikSeed === null) return err(notAdmin);
  return ok({ recoveryCode: encodeRecoveryCode({ aikSeed, relayOrigin }) });
}

function unheardOf(deviceIds: readonly string[]): DeviceError {
  return {
    type: "renewal-under-way",
    message: `${deviceIds.join(", ")} has not heard of the last renewal: wait for it, or remove it as well`,
  };
}

const notAdmin: DeviceError = {
  type: "not-admin",
  message: "this device does not hold the account's key: use an admin device",
};
