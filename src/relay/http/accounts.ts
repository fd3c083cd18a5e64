/**
 * `POST /v1/accounts`: registers an account with its first device. Everything is verified here, once,
 * and handed to the store as one statement.
 *
 * Spec: docs/protocol.md "Registration".
 */
import type { Clock } from "../../shared/clock.ts";
import { type DeviceList, parseDeviceList } from "../../shared/crypto/device-list.ts";
import { parsePrekey, type Prekey, prekeyAge, prekeyBytes } from "../../shared/crypto/prekey.ts";
import { verifyRegistration } from "../../shared/crypto/relay-auth.ts";
import { parseBase64Url } from "../../shared/bytes.ts";
import { idText } from "../../shared/ids.ts";
import { err, ok, type Result } from "../../shared/result.ts";
import { type Refusal, refusal } from "../../shared/wire/errors.ts";
import { type RegisterRequest, registerReply, registerRequest } from "../../shared/wire/http.ts";
import { storageRefusal, type StoragePressure } from "../delivery/storage-pressure.ts";
import { limitRefusal } from "../delivery/submit.ts";
import type { RateLimit } from "../delivery/rate-limit.ts";
import type { RegisterError } from "../store/accounts.ts";
import { answers } from "./openapi.ts";
import { addressOf, fieldBytes, type RelayHttp, sendRefusal, timeField } from "./replies.ts";

/** A registration whose signatures were verified. */
export interface Registration {
  readonly account: string;
  readonly list: DeviceList;
  readonly prekey: Prekey;
  readonly accessKey: Uint8Array;
}

/** What registering acts through. */
export interface AccountPorts {
  /** `code` has to let it in; undefined where anybody may register. */
  readonly register: (
    registration: Registration,
    code: string | undefined,
  ) => Promise<Result<void, RegisterError>>;
  readonly isOpen: boolean;
  readonly storage: Pick<StoragePressure, "isFull">;
  readonly addressLimit: RateLimit;
  readonly identity: { readonly epoch: string; readonly originDigest: () => Uint8Array };
  readonly clock: Clock;
}

/** Adds the route. */
export function registerAccounts(app: RelayHttp, ports: AccountPorts): void {
  app.post(
    "/v1/accounts",
    {
      schema: {
        summary: "register an account with its first device",
        body: registerRequest,
        response: answers({ 201: registerReply }),
      },
    },
    async (request, reply) => {
      const limited = limitRefusal(ports.addressLimit(addressOf(request)), "address");
      if (limited !== undefined) return sendRefusal(reply, ports.clock, limited);
      if (!ports.isOpen && request.body.registration_code === undefined) {
        return sendRefusal(reply, ports.clock, closed("expected a registration_code"));
      }
      const registration = verified(request.body, ports);
      if (!registration.ok) return sendRefusal(reply, ports.clock, registration.error);
      if (ports.storage.isFull()) return sendRefusal(reply, ports.clock, storageRefusal());
      const code = ports.isOpen ? undefined : request.body.registration_code;
      const registered = await ports.register(registration.value, code);
      if (!registered.ok && registered.error.type === "closed") {
        const reason = "this code is unknown, used up, expired or revoked";
        return sendRefusal(reply, ports.clock, closed(reason));
      }
      if (!registered.ok) {
        const message = "an id or key of this registration is in use: draw new ones";
        return sendRefusal(reply, ports.clock, refusal("conflict", message));
      }
      return reply.code(201).send({ ...timeField(ports.clock), epoch: ports.identity.epoch });
    },
  );
}

function closed(reason: string): Refusal {
  const message = `this relay takes no new accounts without a registration code: ${reason}; ask whoever runs it`;
  return refusal("registration-closed", message);
}

function verified(
  body: RegisterRequest,
  { identity, clock }: AccountPorts,
): Result<Registration, Refusal> {
  const account = fieldBytes(body.account_mailbox, 16);
  const accessKey = fieldBytes(body.access_key, 32);
  const signature = fieldBytes(body.signature, 64);
  const record = parseBase64Url(body.device_list);
  const prekeyRecord = fieldBytes(body.prekey, prekeyBytes);
  if (!account || !accessKey || !signature || !record.ok || !prekeyRecord) {
    return err(refusal("malformed", "a field is not canonical base64url"));
  }
  const list = firstList(record.value);
  if (!list.ok) return list;
  const { aik, hash, entries } = list.value;
  const claim = { originDigest: identity.originDigest(), listHash: hash, accessKey };
  if (!verifyRegistration(claim, aik, signature)) {
    return err(
      refusal(
        "unauthorised",
        "signature: expected the account's own, over this relay's origin (see /v1/info)",
      ),
    );
  }
  const [entry] = entries;
  const prekey =
    entry && parsePrekey(prekeyRecord, { aik, deviceId: entry.deviceId, dsk: entry.dsk });
  if (prekey === undefined || !prekey.ok) {
    return err(refusal("malformed", "prekey: expected one that the listed device signed"));
  }
  if (prekeyAge(prekey.value, clock.nowMs()) === "future") {
    return err(refusal("clock-skew", "prekey: dated over an hour ahead; use the relay's time"));
  }
  return ok({ account: idText(account), list: list.value, prekey: prekey.value, accessKey });
}

function firstList(record: Uint8Array): Result<DeviceList, Refusal> {
  const list = parseDeviceList(record);
  if (!list.ok) {
    return err(
      list.error.type === "list-signature"
        ? refusal("unauthorised", "device_list: the signature is not the account's")
        : refusal("malformed", `device_list: ${list.error.reason}`),
    );
  }
  const { version, entries } = list.value;
  return version === 1 && entries.length === 1
    ? list
    : err(
        refusal(
          "malformed",
          `device_list: expected version 1 with one device, got version ${version} with ${entries.length}`,
        ),
      );
}
