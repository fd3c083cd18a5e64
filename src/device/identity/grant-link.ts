/**
 * Admitting a device to the account: the admin device's side of linking. It reads the code, shows
 * eight digits, and only after the new device has proved that somebody typed them there does it
 * sign the next device list. The relay must take that list before the device is told anything.
 *
 * A wrong proof burns the rendezvous: the last box is filled with a byte that opens nothing, so the
 * other side stops waiting. The steps are pure and live in crypto/link-admin.ts.
 *
 * Spec: docs/protocol.md "Linking".
 */
import type { Clock } from "../../shared/clock.ts";
import type { DeviceList } from "../../shared/crypto/device-list.ts";
import { entryOf } from "../../shared/crypto/device-list.ts";
import { idText } from "../../shared/ids.ts";
import { err, ok, type Result } from "../../shared/result.ts";
import type { Rng } from "../../shared/rng.ts";
import { linkKeys } from "../crypto/kdf.ts";
import {
  admitLink,
  type ApprovedLink,
  checkLinkProof,
  grantLink as sealGrantBox,
  type LinkAdmission,
} from "../crypto/link-admin.ts";
import { parseLinkCode } from "../crypto/link-bundle.ts";
import type { DeviceError, DeviceView, LinkGrant } from "../device.ts";
import type { DeviceStore } from "../store/sqlite.ts";
import {
  certifyDevice,
  deviceViewOf,
  type JoiningDevice,
  type ListProposal,
  listWithDevice,
} from "./devices.ts";
import { type OwnIdentity, ownIdentity } from "./keys.ts";
import { learnLists, newestList } from "./lists.ts";
import {
  type AskError,
  asDeviceError,
  type LinkBoxes,
  openBoxes,
  type Rendezvous,
} from "./rendezvous.ts";
import { isOwedSync, oweSync, payOwedSync } from "./sync.ts";

/** What admitting needs. */
export interface GrantLinkParts {
  readonly store: DeviceStore;
  readonly clock: Clock;
  readonly rng: Rng;
  readonly relayNowMs: (relayOrigin: string) => number;
  readonly rendezvous: Rendezvous;
  /** Offers the relay a list over the mailbox connection. */
  readonly updateList: (request: ListProposal["request"]) => Promise<Result<unknown, AskError>>;
  /** Fetches and learns our own account's bundle. */
  readonly refreshOwnBundle: () => Promise<unknown>;
  /** Runs after a commit that changed the device list or queued something to send. */
  readonly onChanged: () => void;
}

/** The code is on a screen, so its box is there: a longer wait only hides a wrong relay. */
const firstBoxMs = 20_000;
/** A new device publishes its prekey as soon as it connects; after this it is served later. */
const prekeyWaitPolls = 30;
const maxListTries = 3;
/** One byte: no sealed box is that short. */
const burntBox = Uint8Array.of(0);

/** Reads a code, and returns the digits to show. Warn first: this gives full access. */
export async function grantLink(
  parts: GrantLinkParts,
  code: string,
): Promise<Result<LinkGrant, DeviceError>> {
  const parsed = parseLinkCode(code);
  if (!parsed.ok) return refuse(parsed.error.type, parsed.error.reason);
  const own = parts.store.read(ownIdentity);
  if (own?.aikKey === undefined) {
    return refuse(
      "not-admin",
      "this device cannot admit others: use an admin device of the account",
    );
  }
  const boxes = openBoxes({
    ...parts,
    relayOrigin: own.relayOrigin,
    boxId: idText(linkKeys(parsed.value.secret).boxId),
  });
  const box1 = await boxes.take(1, firstBoxMs);
  if (!box1.ok) return box1.error.type === "link-timeout" ? err(absent(own)) : box1;
  const admitted = admitLink(parsed.value, box1.value, own.aik, parts.rng);
  if (!admitted.ok) return err(foreignError);
  // What will be refused after the digits were typed is better refused before they are shown.
  const fits = parts.store.read((tx) => listWithDevice(tx, admitted.value.admission.bundle, 0));
  if (!fits.ok) return fits;
  const { admission, box2 } = admitted.value;
  const put = await boxes.put(2, box2);
  if (!put.ok) return put;
  return ok({
    digits: admission.digits,
    newDeviceName: admission.bundle.name,
    completed: complete(parts, own, boxes, admission),
    cancel: async () => {
      boxes.cancel();
      await parts.rendezvous.putBox(own.relayOrigin, idText(admission.keys.boxId), 4, burntBox);
    },
  });
}

async function complete(
  parts: GrantLinkParts,
  own: OwnIdentity,
  boxes: LinkBoxes,
  admission: LinkAdmission,
): Promise<Result<DeviceView, DeviceError>> {
  const box3 = await boxes.take(3);
  if (!box3.ok) return box3;
  const approved = checkLinkProof(admission, box3.value);
  if (!approved.ok) {
    await boxes.put(4, burntBox);
    return err(burnedError);
  }
  const device = approved.value.bundle;
  const list = await signUntilTaken(parts, own, boxes, device);
  if (!list.ok) {
    await boxes.put(4, burntBox);
    return list;
  }
  const box4 = sealBox4(parts, own, approved.value, list.value);
  const put = box4.ok ? await boxes.put(4, box4.value) : box4;
  if (!put.ok) return err(unfinished(put.error));
  await serveNewDevice(parts, own, boxes, device);
  const view = parts.store.read((tx) => deviceViewOf(tx, device.deviceId));
  if (view === undefined) throw new Error("a device that was linked is not in the list");
  return ok(view);
}

/**
 * Compare-and-set: when another admin device was faster, its list is learned and ours built on it.
 * An answer that got lost may mean that the list was taken; the bundle tells.
 */
async function signUntilTaken(
  parts: GrantLinkParts,
  own: OwnIdentity,
  boxes: LinkBoxes,
  device: JoiningDevice,
): Promise<Result<DeviceList, DeviceError>> {
  let failure: DeviceError = { type: "link-cancelled", message: "linking was cancelled" };
  for (let tries = 0; tries < maxListTries; tries++) {
    const relayNowMs = parts.relayNowMs(own.relayOrigin);
    const proposal = parts.store.read((tx) => listWithDevice(tx, device, relayNowMs));
    if (!proposal.ok) return proposal;
    const taken = await parts.updateList(proposal.value.request);
    if (taken.ok) return ok(keepList(parts, own, device, proposal.value.list));
    failure = asDeviceError(taken.error);
    await parts.refreshOwnBundle();
    const newest = parts.store.read((tx) => newestList(tx, own.aikText));
    if (newest !== undefined && entryOf(newest, device.deviceId) !== undefined) {
      return ok(keepList(parts, own, device, newest));
    }
    if (!(await boxes.pause())) break;
  }
  return err(failure);
}

function keepList(
  { store, onChanged }: GrantLinkParts,
  own: OwnIdentity,
  device: JoiningDevice,
  list: DeviceList,
): DeviceList {
  store.write((tx) => {
    learnLists(tx, own.aikText, [list]);
    oweSync(tx, idText(device.deviceId));
    tx.afterCommit(onChanged);
  });
  return list;
}

function sealBox4(
  { store, rng }: GrantLinkParts,
  own: OwnIdentity,
  approved: ApprovedLink,
  list: DeviceList,
): Result<Uint8Array, DeviceError> {
  const certificate = store.read((tx) => certifyDevice(tx, approved.bundle, list));
  if (!certificate.ok) return certificate;
  const box4 = sealGrantBox(
    approved,
    {
      accessKey: own.accessKey,
      accountMailbox: own.accountMailbox,
      certificate: certificate.value.record,
      accountName: own.accountName,
      relayOrigin: own.relayOrigin,
      deviceList: list.record,
    },
    rng,
  );
  if (box4.ok) return box4;
  return box4.error.type === "too-large"
    ? refuse(
        "link-too-large",
        `the device list takes ${box4.error.grantBytes} bytes, the relay's box holds ${box4.error.limitBytes}: wait until old revoked devices may be left out`,
      )
    : err(foreignError);
}

/** Waits until the new device can be sealed to, then queues people, invites and history for it. */
async function serveNewDevice(
  parts: GrantLinkParts,
  own: OwnIdentity,
  boxes: LinkBoxes,
  device: JoiningDevice,
): Promise<void> {
  const deviceId = idText(device.deviceId);
  for (let polls = 0; polls < prekeyWaitPolls; polls++) {
    await parts.refreshOwnBundle();
    const moment = { nowMs: parts.clock.nowMs(), rng: parts.rng };
    const relayNowMs = parts.relayNowMs(own.relayOrigin);
    const served = parts.store.write((tx) => payOwedSync(tx, own, relayNowMs, moment));
    if (served > 0) parts.onChanged();
    if (!parts.store.read((tx) => isOwedSync(tx, deviceId))) return;
    if (!(await boxes.pause())) return;
  }
}

function unfinished(cause: DeviceError): DeviceError {
  return {
    type: cause.type,
    message: `${cause.message}. The device is in the account's list but was never told: revoke it, then link it anew`,
  };
}

function absent(own: OwnIdentity): DeviceError {
  return {
    type: "link-absent",
    message: `no device waits with this code at ${own.relayOrigin}: check that the new device was given that relay, and that its code is fresh`,
  };
}

const foreignError: DeviceError = {
  type: "link-foreign",
  message:
    "what waits at the relay is not the device that showed this code. Do not go on; start again with a new code",
};
const burnedError: DeviceError = {
  type: "link-burned",
  message: "the digits typed on the new device were wrong: start again with a new code",
};

function refuse(
  type: string,
  message: string,
): { readonly ok: false; readonly error: DeviceError } {
  return err({ type, message });
}
