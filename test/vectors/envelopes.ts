/** Vectors of whole envelopes: one device, sixteen devices, every bucket edge, and those that fail. */
import { blake2b } from "../../src/shared/crypto/sodium.ts";
import { utf8 } from "../../src/shared/bytes.ts";
import { bodyKeys } from "../../src/device/crypto/envelope-keys.ts";
import { payloadTag } from "../../src/device/crypto/type-rules.ts";
import { twoKeyBody } from "../reference/two-key-body.ts";
import { invalidItems } from "../support/invalid-items.ts";
import { createPerson, requestOf, testOrigin } from "../support/people.ts";
import { seededRng } from "../support/seeded-rng.ts";
import { describePerson, describeSealing, hex, type Vector } from "./describe.ts";

const messageId = Uint8Array.from({ length: 16 }, (_, i) => i);
/** Above this, an upload is given by its hash: whoever can make it needs no more. */
const largestPrintedBucket = 1;

/** One sender, one recipient with one device. */
export function plainVector(): Vector {
  const rng = seededRng("vector plain");
  const [sender, recipient] = [createPerson(rng), createPerson(rng)];
  const content = utf8("hello, Zoë \u{1f600}\0");
  return {
    description: "one message to one device",
    relayOrigin: testOrigin,
    sender: describePerson(sender),
    recipient: describePerson(recipient),
    sealing: describeSealing(requestOf(sender, recipient, { messageId, content }), rng),
  };
}

/** A recipient with as many devices as an account may have. */
export function sixteenDevicesVector(): Vector {
  const rng = seededRng("vector sixteen devices");
  const [sender, recipient] = [createPerson(rng), createPerson(rng, 16)];
  return {
    description: "one message to 16 devices: 16 headers, one body",
    relayOrigin: testOrigin,
    sender: describePerson(sender),
    recipient: describePerson(recipient),
    sealing: describeSealing(requestOf(sender, recipient, { messageId }), rng),
  };
}

/** The longest message of each bucket, the next longer one, and the fullest echo. */
export function bucketEdgesVector(): Vector {
  const rng = seededRng("vector bucket edges");
  const [sender, recipient] = [createPerson(rng), createPerson(rng)];
  const seal = (typeTag: number, bytes: number): Vector => {
    const content = new Uint8Array(bytes).fill(0x61);
    const sealing = describeSealing(
      requestOf(sender, recipient, { messageId, typeTag, content }),
      rng,
    );
    return { contentBytes: bytes, ...abridge(sealing) };
  };
  return {
    description:
      "contents are the byte 0x61 repeated; above bucket 1, long values are given by BLAKE2b-256",
    relayOrigin: testOrigin,
    sender: describePerson(sender),
    recipient: describePerson(recipient),
    sealings: [695, 696, 3_767, 3_768, 16_055, 16_056, 65_207, 65_208, 261_815]
      .map((bytes) => seal(payloadTag.message, bytes))
      .concat([727, 3_799, 16_087, 65_239, 261_847].map((bytes) => seal(payloadTag.echo, bytes))),
    refused: [
      {
        typeTag: payloadTag.message,
        contentBytes: 261_816,
        error: "too-large",
        limitBytes: 261_815,
      },
      { typeTag: payloadTag.echo, contentBytes: 261_848, error: "too-large", limitBytes: 261_847 },
    ],
  };
}

/** The catalogue of items that must not open. */
export function invalidVector(): Vector {
  const { alice, bob, carol, cases } = invalidItems(seededRng("vector invalid items"));
  const lists = [
    ...new Set(cases.flatMap((entry) => entry.lists.map(({ record }) => hex(record)))),
  ];
  return {
    description:
      "items for the first device of `recipient`; no invite is open; `lists` are indexes into the lists",
    sender: describePerson(alice),
    recipient: describePerson(bob),
    stranger: describePerson(carol),
    lists,
    items: cases.map((entry) => ({
      name: entry.name,
      code: entry.code,
      relation: entry.relation,
      lists: entry.lists.map(({ record }) => lists.indexOf(hex(record))),
      item: hex(entry.item),
    })),
  };
}

/** A body that XChaCha20-Poly1305 opens under two content keys. */
export function twoKeysVector(): Vector {
  const { publicKey } = createPerson(seededRng("vector two keys")).aik;
  const { body, contentKeys } = twoKeyBody(publicKey, seededRng("vector two keys body"));
  return {
    description:
      "bare XChaCha20-Poly1305 opens the body with either key; only the first matches its commitment",
    aik: hex(publicKey),
    bucket: 0,
    body: hex(body),
    keys: contentKeys.map((contentKey, index) => {
      const keys = bodyKeys(contentKey, publicKey, 0);
      return {
        contentKey: hex(contentKey),
        key: hex(keys.key),
        nonce: hex(keys.nonce),
        commitmentKey: hex(keys.commitmentKey),
        outcome: index === 0 ? "opens" : "commitment",
      };
    }),
  };
}

function abridge(sealing: Vector): Vector {
  const bucket = Number(sealing["bucket"]);
  return Object.fromEntries(
    Object.entries(sealing).flatMap(([field, value]): [string, unknown][] => {
      if (field === "items") return [];
      if (field === "message") return [[field, withoutContent(value)]];
      if (typeof value !== "string" || bucket <= largestPrintedBucket) return [[field, value]];
      if (field !== "upload" && field !== "plaintext") return [[field, value]];
      return [[`${field}Hash`, hex(blake2b(32, Uint8Array.from(Buffer.from(value, "hex"))))]];
    }),
  );
}

function withoutContent(message: unknown): unknown {
  const copy = { ...Object(message) };
  delete copy.content;
  return copy;
}
