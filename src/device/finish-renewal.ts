/**
 * Bringing a renewal of our own account to its end, on the device that drew it and on its siblings: the
 * relay is asked to take it, which it answers alike the first time and every further time; then this
 * device moves to the new key. Whatever breaks off in between is done again from the start.
 *
 * Spec: docs/protocol.md "Renewal of an account".
 */
import { equalBytes, parseBase64Url, toBase64Url } from "../shared/bytes.ts";
import {
  type DeviceList,
  deviceState,
  entryOf,
  parseDeviceList,
} from "../shared/crypto/device-list.ts";
import type { Clock } from "../shared/clock.ts";
import { idFromText, idText } from "../shared/ids.ts";
import { ok, type Result } from "../shared/result.ts";
import type { RefusalCode } from "../shared/wire/errors.ts";
import type { RenewRequest } from "../shared/wire/http.ts";
import type { DeviceEvent } from "./device.ts";
import { beginKeyRotation } from "./identity/access-key.ts";
import { bundleRequest } from "./identity/bundles.ts";
import { closedInviteRequests } from "./identity/invites.ts";
import { type OwnIdentity, ownIdentity } from "./identity/keys.ts";
import { learnLists } from "./identity/lists.ts";
import { dropRenewal, wasMadeHere } from "./identity/renew.ts";
import { queueInvites } from "./identity/sync.ts";
import { adoptRenewal } from "./messaging/adopt-renewal.ts";
import { publishPrekey, type PublishParts } from "./publish-prekey.ts";
import { deviceListAt } from "./store/lists.ts";
import { otherCertificateOf, type RenewalRow, renewalsOf } from "./store/renewals.ts";
import type { ReadTx } from "./store/sqlite.ts";
import type { RelayTransport, TransportError } from "./transport/port.ts";

/** What finishing acts through. */
export interface FinishParts extends PublishParts {
  readonly clock: Clock;
  readonly transport: Pick<RelayTransport, "renew" | "fetchBundle">;
  readonly relayNowMs: (relayOrigin: string) => number;
  readonly onQueued: () => void;
  readonly emit: (event: DeviceEvent) => void;
}

/** Whether this device moved to another key, or what the relay said to the renewal that was asked last. */
export type Finished = Result<"renewed" | "nothing", TransportError>;

/** Finishes what is open. */
export async function finishRenewals(parts: FinishParts): Promise<Finished> {
  const own = parts.store.read(ownIdentity);
  if (own === undefined) return ok("nothing");
  let outcome: Finished = ok("nothing");
  for (const row of parts.store.read((tx) => renewalsOf(tx, own.aikText))) {
    outcome = await finish(parts, own, row);
    if (outcome.ok && outcome.value === "renewed") break;
  }
  return outcome;
}

async function finish(parts: FinishParts, own: OwnIdentity, row: RenewalRow): Promise<Finished> {
  const { store, transport, clock, rng } = parts;
  if (store.read((tx) => otherCertificateOf(tx, row.newAik)) === undefined) return ok("nothing");
  const list = await learnFirstList(parts, own, row.newAik);
  if (!list.ok) return list;
  const request = store.read((tx) => renewalRequest(tx, own.aikText, row.newAik));
  if (request === undefined) return ok("nothing");
  const taken = await transport.renew(own.relayOrigin, request);
  if (!taken.ok) {
    if (isFinal(taken.error)) store.write((tx) => dropRenewal(tx, row));
    return taken;
  }
  // Before anybody hears of the key: who hears looks for a prekey under it.
  const signer = { aik: idFromText(row.newAik, 32), deviceId: own.deviceId, dsk: own.dsk };
  await publishPrekey(parts, signer, parts.relayNowMs(own.relayOrigin));
  store.write((tx) => {
    const relayNowMs = parts.relayNowMs(own.relayOrigin);
    const moment = { nowMs: clock.nowMs(), relayNowMs, rng };
    if (!adoptRenewal(tx, row, moment)) return;
    // Once is enough: the device that drew the key replaces what the removed ones know.
    const renewed = ownIdentity(tx);
    if (renewed !== undefined && wasMadeHere(tx, row.newAik)) {
      beginKeyRotation(tx, rng);
      queueInvites(tx, renewed, moment);
    }
    tx.afterCommit(() => {
      parts.emit({ type: "devices" });
      parts.onQueued();
    });
  });
  await closeInvites(parts, own);
  return ok("renewed");
}

/** What the relay is asked for a renewal; `undefined` without the new key's first list. */
export function renewalRequest(
  tx: ReadTx,
  oldAik: string,
  newAik: string,
): RenewRequest | undefined {
  const row = renewalsOf(tx, oldAik).find((each) => each.newAik === newAik);
  const list = deviceListAt(tx, newAik, 1);
  if (row === undefined || list === undefined) return undefined;
  return { renewal: toBase64Url(row.record), device_list: toBase64Url(list.record) };
}

/** Learns the new key's lists, if this device keeps its place in them. */
async function learnFirstList(
  { store, transport, relayNowMs }: FinishParts,
  own: OwnIdentity,
  newAik: string,
): Promise<Result<undefined, TransportError>> {
  if (store.read((tx) => deviceListAt(tx, newAik, 1)) !== undefined) return ok(undefined);
  const nowMs = relayNowMs(own.relayOrigin);
  const asked = store.read((tx) => bundleRequest(tx, own.aikText, nowMs, 0));
  if (asked === undefined) return ok(undefined);
  const answer = await transport.fetchBundle(asked.relayOrigin, asked.request);
  if (!answer.ok) return answer;
  const lists = answer.value.reply.device_lists
    .map(listOf)
    .filter((list) => list !== undefined)
    .filter((list) => idText(list.aik) === newAik);
  const newest = lists.at(-1);
  if (newest !== undefined && holds(newest, own)) {
    store.write((tx) => learnLists(tx, newAik, lists));
  }
  return ok(undefined);
}

function listOf(text: string): DeviceList | undefined {
  const record = parseBase64Url(text);
  const list = record.ok ? parseDeviceList(record.value) : record;
  return list.ok ? list.value : undefined;
}

function holds(list: DeviceList, own: OwnIdentity): boolean {
  const entry = entryOf(list, own.deviceId);
  return (
    entry !== undefined &&
    entry.state !== deviceState.revoked &&
    equalBytes(entry.dsk, own.dsk.publicKey)
  );
}

async function closeInvites(
  { store, request, relayNowMs }: FinishParts,
  own: OwnIdentity,
): Promise<void> {
  const nowMs = relayNowMs(own.relayOrigin);
  for (const closed of store.read((tx) => closedInviteRequests(tx, nowMs))) await request(closed);
}

const finalCodes: ReadonlySet<RefusalCode> = new Set(["malformed", "unauthorised", "conflict"]);

/** Whether asking again can only be answered in the same way. */
function isFinal(error: TransportError): boolean {
  return error.type === "refused" && finalCodes.has(error.refusal.code);
}
