/**
 * What an authenticated device may ask: publish a prekey, replace the device list, open and close
 * invite keys, see its mailbox. Each is verified here and written as one statement that also checks
 * that the connection still holds its mailbox.
 *
 * Spec: docs/protocol.md "The mailbox connection", "Prekey", "Device list", "Invite".
 */
import { clampU64, equalBytes, parseBase64Url } from "../../shared/bytes.ts";
import type { Clock } from "../../shared/clock.ts";
import {
  checkSuccessor,
  type DeviceList,
  parseDeviceList,
  type SuccessorError,
} from "../../shared/crypto/device-list.ts";
import { parsePrekey, prekeyAge, prekeyBytes } from "../../shared/crypto/prekey.ts";
import { idFromText, parseId } from "../../shared/ids.ts";
import { maxQueuedBytes, maxQueuedItems } from "../../shared/limits.ts";
import { assertNever, err, ok, type Result } from "../../shared/result.ts";
import { type Refusal, refusal } from "../../shared/wire/errors.ts";
import { parseU64 } from "../../shared/wire/fields.ts";
import type { RequestFrame } from "../../shared/wire/frames.ts";
import type { ListUpdated, ListUpdateError } from "../store/device-lists.ts";
import type { KnownDevice } from "../store/devices.ts";
import type { RotateError } from "../store/access-keys.ts";
import type { InviteKeyError } from "../store/invites.ts";
import type { MailboxHold, MailboxStatus } from "../store/mailboxes.ts";
import type { PublishError } from "../store/prekeys.ts";
import type { Prekey } from "../../shared/crypto/prekey.ts";

/** A device on the connection that holds its mailbox. */
export type Holder = KnownDevice & MailboxHold;

/** Fields of a successful reply. */
export type Answer = Readonly<Record<string, unknown>>;

/** Answers one request. Rejects when the database fails. */
export type AnswerRequest = (
  holder: Holder,
  frame: RequestFrame,
) => Promise<Result<Answer, Refusal>>;

/** What requests act through. */
export interface RequestPorts {
  readonly publishPrekey: (holder: Holder, prekey: Prekey) => Promise<Result<void, PublishError>>;
  readonly newestList: (account: string) => Promise<Uint8Array | undefined>;
  /** Replaces the list, and ends what revoked devices had. */
  readonly replaceList: (
    holder: Holder,
    known: DeviceList,
    next: DeviceList,
  ) => Promise<Result<ListUpdated, ListUpdateError>>;
  /** Opens the key until `expiresMs`, or closes it for good when that is undefined. */
  readonly setInvite: (
    holder: Holder,
    key: Uint8Array,
    expiresMs: number | undefined,
  ) => Promise<Result<void, InviteKeyError>>;
  readonly rotateKey: (holder: Holder, key: Uint8Array) => Promise<Result<void, RotateError>>;
  readonly status: (holder: Holder) => Promise<MailboxStatus | undefined>;
  readonly clock: Clock;
}

type FrameOf<T extends RequestFrame["type"]> = Extract<RequestFrame, { type: T }>;

/** Builds the answers. */
export function createAnswerRequest(ports: RequestPorts): AnswerRequest {
  return async (holder, frame) => {
    switch (frame.type) {
      case "publish-prekey":
        return publish(ports, holder, frame);
      case "update-device-list":
        return updateList(ports, holder, frame);
      case "invite-key":
        return setInvite(ports, holder, frame);
      case "rotate-access-key":
        return rotate(ports, holder, frame);
      case "mailbox-status":
        return status(ports, holder);
      default:
        return assertNever(frame);
    }
  };
}

async function publish(
  ports: RequestPorts,
  holder: Holder,
  frame: FrameOf<"publish-prekey">,
): Promise<Result<Answer, Refusal>> {
  const { publishPrekey, clock } = ports;
  const record = parseId(frame.prekey, prekeyBytes);
  // The identity key may have been renewed since this device connected.
  const { aik } = await newestList(ports, holder.account);
  const owner = { aik, deviceId: idFromText(holder.deviceId), dsk: holder.dsk };
  const prekey = record.ok ? parsePrekey(record.value, owner) : record;
  if (!prekey.ok) return err(refusal("malformed", "prekey: expected one signed by this device"));
  if (prekeyAge(prekey.value, clock.nowMs()) === "future") {
    return err(refusal("clock-skew", "prekey: dated over an hour ahead; use the relay's time"));
  }
  const published = await publishPrekey(holder, prekey.value);
  if (published.ok) return ok({});
  switch (published.error.type) {
    case "displaced":
      return err(displaced());
    case "older":
      return err(refusal("conflict", "prekey: the relay holds a newer one of this device"));
    case "conflict":
      return err(refusal("conflict", "prekey: the relay holds another key with the same date"));
    default:
      return assertNever(published.error.type);
  }
}

async function updateList(
  ports: RequestPorts,
  holder: Holder,
  frame: FrameOf<"update-device-list">,
): Promise<Result<Answer, Refusal>> {
  const record = parseBase64Url(frame.device_list);
  const expectedHash = parseId(frame.expected_hash, 32);
  const next = record.ok ? parseDeviceList(record.value) : record;
  if (!next.ok || !expectedHash.ok) {
    const reason =
      !next.ok && next.error.type === "list-malformed" ? next.error.reason : "form or signature";
    return err(refusal("malformed", `device_list: ${reason}`));
  }
  const known = await newestList(ports, holder.account);
  const step = checkSuccessor(known, next.value);
  if (!step.ok) return err(successorRefusal(step.error, known.version));
  // The reply to a first attempt may have been lost.
  if (step.value === "unchanged") return ok({ version: known.version });
  if (known.version !== frame.expected_version || !equalBytes(known.hash, expectedHash.value)) {
    const message = `expected_version and expected_hash name another list than the newest, version ${known.version}`;
    return err(refusal("conflict", message));
  }
  const replaced = await ports.replaceList(holder, known, next.value);
  if (replaced.ok) return ok({ version: next.value.version });
  return err(
    replaced.error.type === "displaced"
      ? displaced()
      : refusal("conflict", "the list changed meanwhile, or a new id is in use: fetch it again"),
  );
}

async function newestList(ports: RequestPorts, account: string): Promise<DeviceList> {
  const record = await ports.newestList(account);
  const list = record && parseDeviceList(record);
  if (list === undefined || !list.ok) throw new Error("the stored device list does not verify");
  return list.value;
}

function successorRefusal(error: SuccessorError, version: number): Refusal {
  switch (error.type) {
    case "list-foreign":
      return refusal("unauthorised", "device_list: signed by another account");
    case "list-malformed":
      return refusal("malformed", `device_list: ${error.reason}`);
    case "list-rollback":
    case "list-fork":
    case "list-gap":
    case "list-chain":
      return refusal(
        "conflict",
        `device_list: ${error.type.slice(5)} against the newest, version ${version}`,
      );
    default:
      return assertNever(error);
  }
}

async function setInvite(
  ports: RequestPorts,
  holder: Holder,
  frame: FrameOf<"invite-key">,
): Promise<Result<Answer, Refusal>> {
  const key = parseId(frame.key, 32);
  const expires = parseU64(frame.expires);
  if (!key.ok || !expires.ok) return err(refusal("malformed", "key or expires: not canonical"));
  const expiresMs = clampU64(expires.value);
  if (!frame.revoked && expiresMs <= ports.clock.nowMs()) {
    return err(refusal("malformed", "expires: expected a time after now, relay time"));
  }
  const set = await ports.setInvite(holder, key.value, frame.revoked ? undefined : expiresMs);
  if (set.ok) return ok({});
  switch (set.error.type) {
    case "displaced":
      return err(displaced());
    case "too-many":
      return err(refusal("conflict", "this account has 32 open invites: close one first"));
    case "closed":
      return err(refusal("conflict", "this invite key was closed for good: make a new invite"));
    default:
      return assertNever(set.error.type);
  }
}

async function rotate(
  ports: RequestPorts,
  holder: Holder,
  frame: FrameOf<"rotate-access-key">,
): Promise<Result<Answer, Refusal>> {
  const key = parseId(frame.key, 32);
  if (!key.ok) return err(refusal("malformed", "key: not canonical"));
  const rotated = await ports.rotateKey(holder, key.value);
  if (rotated.ok) return ok({});
  return err(
    rotated.error.type === "displaced"
      ? displaced()
      : refusal("conflict", "the account had this key before, or replaced it meanwhile: draw anew"),
  );
}

async function status(ports: RequestPorts, holder: Holder): Promise<Result<Answer, Refusal>> {
  const found = await ports.status(holder);
  if (found === undefined) return err(displaced());
  return ok({
    queued: found.queuedItems,
    queued_bytes: found.queuedBytes,
    large_bytes: found.largeBytes,
    limit_items: maxQueuedItems,
    limit_bytes: maxQueuedBytes,
    refused: {
      count: found.refusedCount,
      since: found.refusedSinceMs === null ? null : String(found.refusedSinceMs),
    },
  });
}

function displaced(): Refusal {
  return refusal("unauthorised", "a newer connection of this device holds the mailbox");
}
