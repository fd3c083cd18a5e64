/**
 * The relay's HTTP interface as schemas: what a stranger may ask. The relay validates with them and
 * the device parses replies with them, so the two cannot drift. Field names come from here, once.
 *
 * Uploads and rendezvous boxes are raw bytes (`application/octet-stream`): described here, and parsed
 * by who takes them.
 *
 * Spec: docs/protocol.md "Relay interface".
 */
import { type Static, type TUnsafe, Type } from "typebox";
import { prekeyBytes } from "../crypto/prekey.ts";
import { renewalBytes } from "../crypto/renewal.ts";
import { maxRendezvousBytes, maxUploadBytes } from "../limits.ts";
import { refusalCodes } from "./errors.ts";
import { bytesField, u64Field, variableBytesField } from "./fields.ts";

/** Bytes of the longest device list: 255 entries. */
const maxDeviceListBytes = 78 + 255 * 81 + 64;

const time = u64Field("relay time, ms since 1970 UTC");
const mailbox = bytesField(16, "device mailbox");
const deviceList = variableBytesField(maxDeviceListBytes, "signed device list");
const prekey = bytesField(prekeyBytes, "signed prekey");

/** Raw bytes as a body. The description says what is in them; no validator looks. */
function rawBytes(description: string, maxLength: number): TUnsafe<Uint8Array> {
  return Type.Unsafe<Uint8Array>({ type: "string", format: "binary", maxLength, description });
}
/** The body of `POST /v1/envelopes`. */
export const uploadBytes = rawBytes(
  "one upload: ver u8 | bucket u8 | n u8 | key_kind u8 | account mailbox 16 | slot 16 | " +
    "token_expiry u64 | token 32 | n × (device mailbox 16 | header 1176) | body; integers are " +
    "big-endian, the body has 1,072, 4,144, 16,432, 65,584 or 262,192 bytes for bucket 0 to 4",
  maxUploadBytes,
);
/** What is in a rendezvous box. */
export const boxBytes = rawBytes("one box, sealed between two devices", maxRendezvousBytes);

/** Every refusal. */
export const refusalReply = Type.Object({
  error: Type.Enum(refusalCodes),
  message: Type.String(),
  time,
  retry_after_ms: Type.Optional(Type.Integer({ minimum: 0 })),
  mailboxes: Type.Optional(Type.Array(mailbox)),
});
export type RefusalReply = Static<typeof refusalReply>;

/** `POST /v1/accounts`: register an account with its first device. */
export const registerRequest = Type.Object(
  {
    account_mailbox: bytesField(16, "account mailbox"),
    device_list: deviceList,
    prekey,
    access_key: bytesField(32, "access key"),
    signature: bytesField(64, "by the account, label `PX1 register`"),
    registration_code: Type.Optional(Type.String({ maxLength: 128 })),
  },
  { additionalProperties: false },
);
export type RegisterRequest = Static<typeof registerRequest>;
export const registerReply = Type.Object({ time, epoch: Type.String() });
export type RegisterReply = Static<typeof registerReply>;

/** `POST /v1/accounts/recover/begin`: which account an identity key has, and its chain. */
export const recoverBeginRequest = Type.Object(
  {
    aik: bytesField(32, "identity key"),
    signed_at: u64Field("ms, relay time; within five minutes of it"),
    signature: bytesField(64, "by the account, label `PX1 recover-ask`"),
  },
  { additionalProperties: false },
);
export type RecoverBeginRequest = Static<typeof recoverBeginRequest>;
export const recoverBeginReply = Type.Object({
  time,
  account_mailbox: bytesField(16, "account mailbox"),
  device_lists: Type.Array(deviceList, { description: "the whole chain, oldest first" }),
});
export type RecoverBeginReply = Static<typeof recoverBeginReply>;

/** `POST /v1/accounts/recover`: joins a new device by the identity key alone. */
export const recoverRequest = Type.Object(
  {
    device_list: deviceList,
    prekey,
    access_key: bytesField(32, "the new access key"),
    signature: bytesField(64, "by the account, label `PX1 recover`"),
  },
  { additionalProperties: false },
);
export type RecoverRequest = Static<typeof recoverRequest>;

/** `POST /v1/accounts/renew`: hands an account to a new identity key. */
export const renewRequest = Type.Object(
  { renewal: bytesField(renewalBytes, "renewal, signed by both keys"), device_list: deviceList },
  { additionalProperties: false },
);
export type RenewRequest = Static<typeof renewRequest>;

/** `POST /v1/bundles`: device lists since a version, and the newest prekeys. */
export const bundleRequest = Type.Object(
  {
    account_mailbox: bytesField(16, "account mailbox"),
    key_kind: Type.Union([Type.Literal(0), Type.Literal(1)]),
    since: Type.Integer({
      minimum: 0,
      maximum: 0xffffffff,
      description: "list version held; 0 for the whole chain",
    }),
    token_expiry: u64Field("ms, relay time"),
    token: bytesField(32, "bundle token"),
  },
  { additionalProperties: false },
);
export type BundleRequest = Static<typeof bundleRequest>;
export const bundleReply = Type.Object({
  time,
  device_lists: Type.Array(deviceList, {
    description: "versions above `since`, oldest first; the newest one if there is none",
  }),
  prekeys: Type.Array(prekey, { description: "of every device not revoked that has one" }),
});
export type BundleReply = Static<typeof bundleReply>;

/** `POST /v1/envelopes` (body: one upload): what became of each copy, after a durable commit. */
export const envelopeReply = Type.Object({
  time,
  results: Type.Array(
    Type.Object({
      mailbox,
      state: Type.Union([Type.Literal("stored"), Type.Literal("duplicate"), Type.Literal("full")]),
    }),
  ),
  unaddressed: Type.Array(mailbox, {
    description: "mailboxes of the account that have a prekey and got no copy",
  }),
});
export type EnvelopeReply = Static<typeof envelopeReply>;

/** `PUT|GET /v1/rendezvous/{id}?box=1…4`: write-once boxes for linking. */
export const rendezvousParams = Type.Object({ id: bytesField(16, "box id") });
export const rendezvousQuery = Type.Object({
  box: Type.Union([Type.Literal("1"), Type.Literal("2"), Type.Literal("3"), Type.Literal("4")]),
});
export const rendezvousReply = Type.Object({ time });

/** `GET /v1/info`. */
export const infoReply = Type.Object({
  name: Type.Literal("pixie-relay"),
  version: Type.String(),
  protocol: Type.Integer(),
  origin: Type.String(),
  epoch: Type.String(),
  time,
  retention_days: Type.Integer(),
  registration: Type.Union([Type.Literal("open"), Type.Literal("codes")]),
  contact: Type.Optional(Type.String()),
  limits: Type.Object({
    upload_bytes: Type.Integer(),
    devices: Type.Integer(),
    queued_items: Type.Integer(),
    queued_bytes: Type.Integer(),
    rendezvous_bytes: Type.Integer(),
  }),
});
export type InfoReply = Static<typeof infoReply>;

/** `GET /health/live` and `/health/ready`. */
export const healthReply = Type.Object({
  status: Type.Union([
    Type.Literal("ok"),
    Type.Literal("storage-full"),
    Type.Literal("unavailable"),
  ]),
  time,
  reason: Type.Optional(Type.String()),
});
export type HealthReply = Static<typeof healthReply>;
