/**
 * Recovering an account on a fresh device, with nothing but the recovery code: asks the relay for the
 * account of the code's key, joins it as a new admin device, and tells siblings that are left.
 *
 * What is signed is drawn in identity/recovery.ts. Spec: docs/protocol.md "Recovery".
 */
import { liveEntries } from "../shared/crypto/device-list.ts";
import { err, ok, type Result } from "../shared/result.ts";
import { type AccountParts, alreadyRegistered, relayAt, transportError } from "./account.ts";
import { parseName } from "./crypto/profile.ts";
import { parseRecoveryCode } from "./crypto/recovery-code.ts";
import type { Device, DeviceError, Identity } from "./device.ts";
import { identityView } from "./identity/devices.ts";
import { keepAccount } from "./identity/keys.ts";
import { drawRecovery, type DrawnRecovery, recoverAsk } from "./identity/recovery.ts";
import { learnLists } from "./identity/lists.ts";
import { tellKeyToWhomWeLearnOf } from "./identity/sync.ts";
import { queueDeviceList, queueProfile } from "./messaging/payload.ts";
import { getOwnAccount } from "./store/identity.ts";
import type { Answer } from "./transport/port.ts";

type RecoverOptions = Parameters<Device["recover"]>[0];

/** A lost answer is asked for again with the very same request, which the relay recognises. */
const tries = 3;

/** Joins the account of a recovery code with this device. */
export async function recoverAccount(
  parts: AccountParts,
  options: RecoverOptions,
): Promise<Result<Identity, DeviceError>> {
  const { store, transport, relayTime, rng } = parts;
  if (store.read(getOwnAccount) !== undefined) return err(alreadyRegistered);
  const code = parseRecoveryCode(options.recoveryCode);
  if (!code.ok) return err({ type: "recovery-code", message: code.error.reason });
  const account = parseName(options.accountName);
  if (!account.ok) return err({ type: "account-name", message: account.error.reason });
  const device = parseName(options.deviceName);
  if (!device.ok) return err({ type: "device-name", message: device.error.reason });
  const { relayOrigin } = code.value;
  const relay = await relayAt(parts, relayOrigin);
  if (!relay.ok) return relay;
  const ask = recoverAsk(code.value, relayTime.nowMs(relayOrigin));
  const found = await transport.recoverBegin(relayOrigin, ask);
  if (!found.ok) return err(transportError(found.error));
  const wishes = {
    accountName: account.value,
    deviceName: device.value,
    revokeOthers: options.revokeOthers ?? false,
  };
  const moment = { relayNowMs: relayTime.nowMs(relayOrigin), rng };
  const drawn = drawRecovery(code.value, found.value.reply, wishes, moment);
  if (!drawn.ok) return drawn;
  const joined = await join(parts, drawn.value);
  if (!joined.ok) return joined;
  return ok(keep(parts, drawn.value, joined.value.relayTimeMs));
}

async function join(
  { transport }: AccountParts,
  { account, request }: DrawnRecovery,
): Promise<Result<Answer<unknown>, DeviceError>> {
  let answer = await transport.recover(account.relayOrigin, request);
  for (let made = 1; made < tries && !answer.ok && answer.error.type === "unreachable"; made++) {
    answer = await transport.recover(account.relayOrigin, request);
  }
  return answer.ok ? answer : err(transportError(answer.error));
}

function keep(
  { store, clock, rng }: AccountParts,
  drawn: DrawnRecovery,
  relayNowMs: number,
): Identity {
  const { aik } = drawn.account;
  return store.write((tx) => {
    learnLists(tx, aik, drawn.chain);
    keepAccount(tx, drawn, relayNowMs);
    tellKeyToWhomWeLearnOf(tx);
    if (liveEntries(drawn.list).length > 1) {
      const moment = { nowMs: clock.nowMs(), relayNowMs, rng };
      queueProfile(tx, aik, moment);
      queueDeviceList(tx, aik, drawn.list.record, moment);
    }
    const identity = identityView(tx);
    if (identity === undefined) throw new Error("a recovered account is not in the store");
    return identity;
  });
}
