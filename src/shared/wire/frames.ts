/**
 * The mailbox WebSocket `/v1/device`, frame by frame. Deliveries are binary; everything else is one
 * JSON object with a `type`. Requests carry an `id` and are answered by `reply` with the same id.
 *
 * Spec: docs/protocol.md "The mailbox connection".
 */
import { type Static, Type } from "typebox";
import { Compile } from "typebox/compile";
import { Value } from "typebox/value";
import { ByteReader, concat, u64, u8 } from "../bytes.ts";
import { prekeyBytes } from "../crypto/prekey.ts";
import { maxAckSeqs } from "../limits.ts";
import { err, ok, type Result } from "../result.ts";
import { refusalCodes } from "./errors.ts";
import { bytesField, u64Field, variableBytesField } from "./fields.ts";

const strict = { additionalProperties: false };
const requestId = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER });

/** Answers `challenge`. Signature by the device over `PX1 relay-auth ‖ origin hash ‖ nonce ‖ device id ‖ time`. */
export const authFrame = Type.Object(
  {
    type: Type.Literal("auth"),
    device_id: bytesField(16, "device id"),
    sig: bytesField(64, "signature"),
  },
  strict,
);
/** Says that items are journalled; idempotent. Acks of another epoch are ignored. */
export const ackFrame = Type.Object(
  {
    type: Type.Literal("ack"),
    epoch: Type.String({ maxLength: 64 }),
    seqs: Type.Array(u64Field("sequence number"), { minItems: 1, maxItems: maxAckSeqs }),
  },
  strict,
);
const publishPrekeyFrame = Type.Object(
  {
    type: Type.Literal("publish-prekey"),
    id: requestId,
    prekey: bytesField(prekeyBytes, "prekey"),
  },
  strict,
);
/** Replaces the device list if the relay's newest is still `expected_version` with `expected_hash`. */
const updateDeviceListFrame = Type.Object(
  {
    type: Type.Literal("update-device-list"),
    id: requestId,
    expected_version: Type.Integer({ minimum: 1, maximum: 0xffffffff }),
    expected_hash: bytesField(32, "hash of the list that this one follows"),
    device_list: variableBytesField(78 + 255 * 81 + 64, "signed device list"),
  },
  strict,
);
/** Opens an invite key until `expires`, or closes it when `revoked` is true. */
const inviteKeyFrame = Type.Object(
  {
    type: Type.Literal("invite-key"),
    id: requestId,
    key: bytesField(32, "invite key"),
    expires: u64Field("ms, relay time"),
    revoked: Type.Boolean(),
  },
  strict,
);
/** Replaces the account's access key; the old one is kept for the reserve. */
const rotateAccessKeyFrame = Type.Object(
  { type: Type.Literal("rotate-access-key"), id: requestId, key: bytesField(32, "access key") },
  strict,
);
const mailboxStatusFrame = Type.Object(
  { type: Type.Literal("mailbox-status"), id: requestId },
  strict,
);

const requestFrames = [
  publishPrekeyFrame,
  updateDeviceListFrame,
  inviteKeyFrame,
  rotateAccessKeyFrame,
  mailboxStatusFrame,
] as const;
const deviceFrame = Type.Union([authFrame, ackFrame, ...requestFrames]);
export type AuthFrame = Static<typeof authFrame>;
export type AckFrame = Static<typeof ackFrame>;
const requestFrame = Type.Union([...requestFrames]);
export type RequestFrame = Static<typeof requestFrame>;
/** What a device sends. */
export type DeviceFrame = Static<typeof deviceFrame>;

const time = u64Field("relay time, ms");
const challengeFrame = Type.Object({
  type: Type.Literal("challenge"),
  nonce: bytesField(32, "nonce"),
  time,
});
const readyFrame = Type.Object({
  type: Type.Literal("ready"),
  epoch: Type.String(),
  time,
  queued: Type.Integer(),
  refused: Type.Object({ count: Type.Integer(), since: Type.Union([time, Type.Null()]) }),
});
/** Everything that was queued when the connection became ready has been sent and acknowledged up to `through`. */
const drainedFrame = Type.Object({
  type: Type.Literal("drained"),
  through: u64Field("sequence number"),
});
const displacedFrame = Type.Object({ type: Type.Literal("displaced") });
/** Why the relay will not go on with this connection; it closes right after. */
const refusedFrame = Type.Object({
  type: Type.Literal("refused"),
  error: Type.Enum(refusalCodes),
  message: Type.String(),
  time,
});
export const replyFrame = Type.Object({
  type: Type.Literal("reply"),
  id: requestId,
  time,
  ok: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
  error: Type.Optional(
    Type.Object({
      code: Type.Enum(refusalCodes),
      message: Type.String(),
      retry_after_ms: Type.Optional(Type.Integer({ minimum: 0 })),
    }),
  ),
});
const relayFrame = Type.Union([
  challengeFrame,
  readyFrame,
  drainedFrame,
  displacedFrame,
  refusedFrame,
  replyFrame,
]);
/** What the relay sends as JSON. */
export type RelayFrame = Static<typeof relayFrame>;
export type ReplyFrame = Static<typeof replyFrame>;

export type FrameError = { readonly type: "frame-malformed"; readonly reason: string };

/** One delivery: `seq u64 | redelivered u8 | item`. */
export interface Delivery {
  readonly seq: bigint;
  readonly redelivered: boolean;
  readonly item: Uint8Array;
}

/** Encodes a delivery. */
export function encodeDelivery(delivery: Delivery): Uint8Array {
  return concat(u64(delivery.seq), u8(delivery.redelivered ? 1 : 0), delivery.item);
}

/** Parses a delivery. The item inside is not looked at: opening judges it. */
export function parseDelivery(frame: Uint8Array): Result<Delivery, FrameError> {
  if (frame.length < 9)
    return malformed(`a delivery of ${frame.length} bytes, expected at least 9`);
  const reader = new ByteReader(frame);
  const seq = reader.u64();
  const flag = reader.u8();
  if (flag > 1) return malformed(`redelivered flag ${flag}, expected 0 or 1`);
  return ok({ seq, redelivered: flag === 1, item: reader.take(frame.length - 9) });
}

// Compiled: the relay checks a frame for every acknowledgement.
const deviceFrameCheck = Compile(deviceFrame);

/** Parses what a device sent as text. */
export function parseDeviceFrame(text: string): Result<DeviceFrame, FrameError> {
  return parseJson(text, (value): value is DeviceFrame => deviceFrameCheck.Check(value));
}

/** Parses what the relay sent as text. */
export function parseRelayFrame(text: string): Result<RelayFrame, FrameError> {
  return parseJson(text, (value): value is RelayFrame => Value.Check(relayFrame, value));
}

function parseJson<T>(
  text: string,
  isFrame: (value: unknown) => value is T,
): Result<T, FrameError> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return malformed("not JSON");
  }
  return isFrame(value) ? ok(value) : malformed("no known frame, or a field of the wrong form");
}

function malformed(reason: string): { readonly ok: false; readonly error: FrameError } {
  return err({ type: "frame-malformed", reason });
}
