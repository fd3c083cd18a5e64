/**
 * The doctor's own account: one device with real keys, all drawn from one secret in a private file, so
 * that asking again opens no second account. What it sends is noise in the shape of an envelope: like
 * the relay, the doctor can neither seal nor open one.
 */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";

import { parseBase64Url, toBase64Url, utf8 } from "../../../shared/bytes.ts";
import { dayOf } from "../../../shared/clock.ts";
import { deviceState, signDeviceList } from "../../../shared/crypto/device-list.ts";
import { originHash } from "../../../shared/crypto/origin.ts";
import { signPrekey, xwingPublicKeyBytes } from "../../../shared/crypto/prekey.ts";
import { signChallenge, signRegistration } from "../../../shared/crypto/relay-auth.ts";
import { keyedBlake2b, signingKeyPair } from "../../../shared/crypto/sodium.ts";
import { deliveryTokenInput, keyKind, makeToken } from "../../../shared/crypto/token.ts";
import { bucketBytes, headerBytes, tokenLifetimeMs } from "../../../shared/limits.ts";
import { systemRng } from "../../../shared/rng.ts";
import {
  bodyBytes,
  encodeUpload,
  makeSlot,
  setUploadToken,
} from "../../../shared/wire/envelope.ts";
import type { RelayFrame } from "../../../shared/wire/frames.ts";
import type { RegisterRequest } from "../../../shared/wire/http.ts";
import { makeFolders } from "../../db/make-folders.ts";

/** What the doctor can say as a device. Times are the relay's. */
export interface DoctorAccount {
  readonly registration: (nowMs: number, code: string | undefined) => RegisterRequest;
  readonly answer: (challenge: Extract<RelayFrame, { type: "challenge" }>) => string;
  /** An upload to its own device. The largest is what a proxy's body limit must let through. */
  readonly upload: (size: "smallest" | "largest", nowMs: number) => Uint8Array;
}

/** The secret of an account, made on first use. Throws what the file system says. */
export function readSecret(file: string): Uint8Array {
  if (!existsSync(file)) {
    makeFolders(path.dirname(file), 0o700);
    writeFileSync(file, `${toBase64Url(systemRng(32))}\n`, { mode: 0o600, flag: "wx" });
  }
  const secret = parseBase64Url(readFileSync(file, "utf8").trim());
  if (!secret.ok || secret.value.length !== 32) {
    throw new Error(`${file} holds no secret of 32 bytes: remove it, and a new one is made`);
  }
  return secret.value;
}

/** The account of a secret at one relay. */
export function doctorAccount(secret: Uint8Array, origin: string): DoctorAccount {
  const derive = (name: string, bytes = 32): Uint8Array =>
    keyedBlake2b(bytes, secret, utf8(`pixie doctor ${name}`));
  const aik = signingKeyPair(derive("account key"));
  const dsk = signingKeyPair(derive("device key"));
  const accountMailbox = derive("account", 16);
  const deviceId = derive("device", 16);
  const mailbox = derive("mailbox", 16);
  const accessKey = derive("access key");
  const originDigest = originHash(origin);
  return {
    registration: (nowMs, code) => {
      const issued = BigInt(nowMs);
      const entry = { deviceId, dsk: dsk.publicKey, mailbox, state: deviceState.admin };
      const list = signDeviceList(
        {
          aik: aik.publicKey,
          version: 1,
          issuedMs: issued,
          prevHash: new Uint8Array(32),
          entries: [{ ...entry, addedMs: issued, changedMs: issued }],
        },
        aik.privateKey,
      );
      const publicKey = systemRng(xwingPublicKeyBytes);
      const prekey = { deviceId, notBeforeMs: issued, publicKey };
      const claim = { originDigest, listHash: list.hash, accessKey };
      return {
        account_mailbox: toBase64Url(accountMailbox),
        device_list: toBase64Url(list.record),
        prekey: toBase64Url(signPrekey(prekey, aik.publicKey, dsk.privateKey).record),
        access_key: toBase64Url(accessKey),
        signature: toBase64Url(signRegistration(claim, aik.privateKey)),
        ...(code === undefined ? {} : { registration_code: code }),
      };
    },
    answer: ({ nonce, time }) => {
      const bytes = parseBase64Url(nonce);
      const given = bytes.ok ? bytes.value : new Uint8Array(32);
      const claim = { originDigest, nonce: given, deviceId, timeMs: BigInt(time) };
      const sig = toBase64Url(signChallenge(claim, dsk.privateKey));
      return JSON.stringify({ type: "auth", device_id: toBase64Url(deviceId), sig });
    },
    upload: (size, nowMs) => {
      const bucket = size === "largest" ? bucketBytes.length - 1 : 0;
      const upload = encodeUpload({
        bucket,
        keyKind: keyKind.access,
        accountMailbox,
        slot: makeSlot(dayOf(nowMs), systemRng(14)),
        tokenExpiryMs: BigInt(nowMs + tokenLifetimeMs),
        entries: [{ mailbox, header: systemRng(headerBytes) }],
        body: new Uint8Array(bodyBytes(bucket)),
      });
      setUploadToken(upload, makeToken(deliveryTokenInput(upload, originDigest), accessKey));
      return upload;
    },
  };
}
