/**
 * How people, devices and sealings are written into the vectors: bytes as lower-case hexadecimal,
 * 64-bit integers as decimal text, draws in the order in which they were made.
 */
import { concat, label16 } from "../../src/shared/bytes.ts";
import { keyedBlake2b } from "../../src/shared/crypto/sodium.ts";
import { deliveryTokenInput } from "../../src/shared/crypto/token.ts";
import type { Rng } from "../../src/shared/rng.ts";
import { parseUpload } from "../../src/shared/wire/envelope.ts";
import { bodyKeys, headerKey } from "../../src/device/crypto/envelope-keys.ts";
import { signInner } from "../../src/device/crypto/inner.ts";
import { encapsulate } from "../../src/device/crypto/primitives.ts";
import { type SealRequest, sealUpload } from "../../src/device/crypto/seal.ts";
import { at, itemsOf, type TestDevice, type TestPerson, valueOf } from "../support/people.ts";

/** A JSON object under construction. */
export type Vector = Readonly<Record<string, unknown>>;

export function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("hex");
}

/** A generator that keeps a copy of everything it draws. */
export function recording(rng: Rng): { readonly rng: Rng; readonly draws: Uint8Array[] } {
  const draws: Uint8Array[] = [];
  return {
    draws,
    rng: (bytes) => {
      const drawn = rng(bytes);
      draws.push(drawn.slice());
      return drawn;
    },
  };
}

export function describePerson(person: TestPerson): Vector {
  return {
    aikSeed: hex(person.aik.seed),
    aik: hex(person.aik.publicKey),
    accountMailbox: hex(person.accountMailbox),
    accessKey: hex(person.accessKey),
    deviceList: hex(person.list.record),
    deviceListHash: hex(person.list.hash),
    devices: person.devices.map(describeDevice),
  };
}

export function describeDevice(device: TestDevice): Vector {
  return {
    deviceId: hex(device.deviceId),
    mailbox: hex(device.mailbox),
    dskSeed: hex(device.dsk.seed),
    dsk: hex(device.dsk.publicKey),
    xwingSeed: hex(device.xwingSeed),
    prekey: hex(device.prekey.record),
    prekeyId: hex(device.prekey.id),
    certificate: hex(device.certificate.record),
  };
}

/** Seals a request and writes down inputs, draws, intermediate values and the result. */
export function describeSealing(request: SealRequest, source: Rng): Vector {
  const { rng, draws } = recording(source);
  const sealed = valueOf(sealUpload(request, rng));
  const contentKey = at(draws, 0);
  const { message, recipient, token } = request;
  const upload = valueOf(parseUpload(sealed.upload));
  const keys = bodyKeys(contentKey, recipient.aik, sealed.bucket);
  return {
    draws: {
      contentKey: hex(contentKey),
      slotRandom: hex(at(draws, 1)),
      encapsulations: draws.slice(2).map(hex),
    },
    message: {
      typeTag: message.typeTag,
      flags: message.flags,
      messageId: hex(message.messageId),
      sentAtMs: message.sentAtMs.toString(),
      content: hex(message.content),
    },
    slotDay: request.slotDay,
    token: {
      keyKind: token.keyKind,
      key: hex(token.key),
      expiryMs: token.expiryMs.toString(),
      originDigest: hex(token.originDigest),
      input: hex(deliveryTokenInput(sealed.upload, token.originDigest)),
      token: hex(upload.token),
    },
    bucket: sealed.bucket,
    plaintext: hex(plaintextOf(request, contentKey)),
    body: {
      key: hex(keys.key),
      nonce: hex(keys.nonce),
      commitmentKey: hex(keys.commitmentKey),
      additional: hex(keys.additional),
      commitment: hex(upload.body.subarray(0, 32)),
    },
    headers: recipient.targets.map((_target, index) =>
      describeHeader(request, {
        index,
        bucket: sealed.bucket,
        random: at(draws, 2 + index),
        commitment: upload.body.subarray(0, 32),
      }),
    ),
    slot: hex(sealed.slot),
    upload: hex(sealed.upload),
    items: itemsOf(sealed.upload).map(hex),
  };
}

function plaintextOf({ message, recipient, sender }: SealRequest, key: Uint8Array): Uint8Array {
  return signInner(
    {
      ...message,
      recipientAik: recipient.aik,
      recipientList: {
        version: recipient.listVersion,
        hashPrefix: recipient.listHash.subarray(0, 8),
      },
      certificate: sender.certificate,
    },
    key,
    sender.dskPrivateKey,
  );
}

function describeHeader(
  request: SealRequest,
  made: {
    readonly index: number;
    readonly bucket: number;
    readonly random: Uint8Array;
    readonly commitment: Uint8Array;
  },
): Vector {
  const { deviceId, prekey } = at(request.recipient.targets, made.index);
  const { ciphertext, sharedSecret } = valueOf(encapsulate(prekey.publicKey, made.random));
  const key = headerKey(sharedSecret, {
    bucket: made.bucket,
    aik: request.recipient.aik,
    deviceId,
    prekeyId: prekey.id,
    kemCiphertext: ciphertext,
    commitment: made.commitment,
  });
  const transcript = key.additional;
  return {
    deviceId: hex(deviceId),
    kemCiphertext: hex(ciphertext),
    sharedSecret: hex(sharedSecret),
    transcript: hex(transcript),
    prk: hex(keyedBlake2b(32, sharedSecret, concat(label16("PX1 header-prk"), transcript))),
    key: hex(key.key),
    nonce: hex(key.nonce),
  };
}
