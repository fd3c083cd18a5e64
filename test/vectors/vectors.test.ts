/**
 * The published vectors: equal to what the code makes now, opened by the slow twin, and refused
 * where they say so. The files are read as another implementation would read them.
 */
import { readFileSync } from "node:fs";
import { type TObject, Type } from "typebox";
import { Value } from "typebox/value";
import { describe, expect, it } from "vitest";
import {
  checkSuccessor,
  type DeviceList,
  parseDeviceList,
} from "../../src/shared/crypto/device-list.ts";
import { parseInvite } from "../../src/shared/crypto/invite.ts";
import { parsePrekey } from "../../src/shared/crypto/prekey.ts";
import { parseRenewal } from "../../src/shared/crypto/renewal.ts";
import { verifyAuthentication } from "../../src/shared/crypto/sodium.ts";
import { bodyKeys, commitmentInput } from "../../src/device/crypto/envelope-keys.ts";
import { openItem, type Opener } from "../../src/device/crypto/open.ts";
import { aeadOpen } from "../../src/device/crypto/primitives.ts";
import type { Relation } from "../../src/device/crypto/type-rules.ts";
import { referenceOpen } from "../reference/open-item.ts";
import { at, failureOf, valueOf } from "../support/people.ts";
import { vectorBuilders, vectorText } from "./build.ts";

const text = Type.String();
const device = Type.Object({
  deviceId: text,
  dsk: text,
  xwingSeed: text,
  prekey: text,
  prekeyId: text,
});
const person = Type.Object({ aik: text, deviceList: text, devices: Type.Array(device) });
const envelope = Type.Object({
  sender: person,
  recipient: person,
  sealing: Type.Object({
    draws: Type.Object({ contentKey: text }),
    message: Type.Object({ content: text, messageId: text, sentAtMs: text }),
    items: Type.Array(text),
  }),
});

function read(name: string): string {
  return readFileSync(new URL(name, import.meta.url), "utf8");
}

/** Reads a file as one of these shapes. */
function parse<T extends TObject>(name: string, shape: T): ReturnType<typeof Value.Parse<T>> {
  return Value.Parse(shape, JSON.parse(read(name)));
}

function bytes(hex: string): Uint8Array {
  return Uint8Array.from(Buffer.from(hex, "hex"));
}

function listOf(record: string): DeviceList {
  return valueOf(parseDeviceList(bytes(record)));
}

describe("the files", () => {
  it.each(Object.entries(vectorBuilders))("%s is what the code makes", (name, build) => {
    // Compared as one boolean: a difference in half a megabyte is no readable message.
    expect(vectorText(build()) === read(name)).toBe(true);
  });
});

describe.each(["plain.json", "sixteen-devices.json"])("%s", (name) => {
  const vector = parse(name, envelope);
  const { sealing, recipient, sender } = vector;

  it("opens on every device, with the slow twin and with the device's own code", () => {
    const list = listOf(sender.deviceList);
    expect(sealing.items).toHaveLength(recipient.devices.length);
    for (const [index, item] of sealing.items.entries()) {
      const { deviceId, xwingSeed } = at(recipient.devices, index);
      const aik = bytes(recipient.aik);
      const me = { aik, deviceId: bytes(deviceId), xwingSeed: bytes(xwingSeed) };
      const message = referenceOpen(bytes(item), me);
      expect(Buffer.from(message.contentKey).toString("hex")).toBe(sealing.draws.contentKey);
      expect(Buffer.from(message.content).toString("hex")).toBe(sealing.message.content);
      expect(message.sentAtMs.toString()).toBe(sealing.message.sentAtMs);
      const opener: Opener = {
        deviceId: me.deviceId,
        findPrekey: () => ({ seed: me.xwingSeed, aik }),
      };
      const opened = openItem(bytes(item), opener, {
        senderOf: () => ({ relation: "contact", lists: [list] }),
        isOpenInvite: () => false,
      });
      expect(Buffer.from(valueOf(opened).content).toString("hex")).toBe(sealing.message.content);
    }
  });

  it("has sound lists and prekeys", () => {
    const list = listOf(recipient.deviceList);
    for (const { deviceId, dsk, prekey, prekeyId } of recipient.devices) {
      const owner = { aik: list.aik, deviceId: bytes(deviceId), dsk: bytes(dsk) };
      expect(valueOf(parsePrekey(bytes(prekey), owner)).id).toEqual(bytes(prekeyId));
    }
  });
});

describe("invalid-items.json", () => {
  const relation = Type.Unsafe<Relation>(
    Type.Union(
      ["self", "contact", "unknown", "blocked", "renewed"].map((value) => Type.Literal(value)),
    ),
  );
  const vector = parse(
    "invalid-items.json",
    Type.Object({
      recipient: person,
      lists: Type.Array(text),
      items: Type.Array(
        Type.Object({
          name: text,
          code: text,
          relation,
          lists: Type.Array(Type.Integer()),
          item: text,
        }),
      ),
    }),
  );

  it.each(vector.items)("$code: $name", ({ code, relation: known, lists, item }) => {
    const me = at(vector.recipient.devices, 0);
    const prekeyId = me.prekeyId;
    const held = { seed: bytes(me.xwingSeed), aik: bytes(vector.recipient.aik) };
    const outcome = openItem(
      bytes(item),
      {
        deviceId: bytes(me.deviceId),
        findPrekey: (id) => (Buffer.from(id).toString("hex") === prekeyId ? held : undefined),
      },
      {
        senderOf: () => ({
          relation: known,
          lists: lists.map((index) => listOf(at(vector.lists, index))),
        }),
        isOpenInvite: () => false,
      },
    );
    expect(failureOf(outcome)).toBe(code);
  });
});

describe("two-keys.json", () => {
  it("opens with two keys and commits to one", () => {
    const vector = parse(
      "two-keys.json",
      Type.Object({
        aik: text,
        body: text,
        keys: Type.Array(Type.Object({ contentKey: text, outcome: text })),
      }),
    );
    const body = bytes(vector.body);
    expect(vector.keys.map(({ outcome }) => outcome)).toEqual(["opens", "commitment"]);
    for (const { contentKey, outcome } of vector.keys) {
      const keys = bodyKeys(bytes(contentKey), bytes(vector.aik), 0);
      const sealed = body.subarray(32);
      expect(aeadOpen(sealed, keys)).toHaveLength(1_024);
      const committed = verifyAuthentication(
        keys.commitmentKey,
        body.subarray(0, 32),
        commitmentInput(keys, sealed),
      );
      expect(committed).toBe(outcome === "opens");
    }
  });
});

describe("list-chain.json", () => {
  const list = Type.Object({ record: text, hash: text });
  const refused = Type.Array(Type.Object({ name: text, code: text, record: text }));
  const vector = parse(
    "list-chain.json",
    Type.Object({
      chain: Type.Array(list),
      refusedAfterVersion3: refused,
      refusedAfterVersion2: refused,
      renewal: Type.Object({ newAik: text, record: text, firstList: list }),
    }),
  );
  const chain = vector.chain.map(({ record }) => listOf(record));

  it("follows the chain by its hashes", () => {
    expect(chain.map(({ version }) => version)).toEqual([1, 2, 3]);
    expect(chain.map(({ hash }) => Buffer.from(hash).toString("hex"))).toEqual(
      vector.chain.map(({ hash }) => hash),
    );
    expect(checkSuccessor(at(chain, 0), at(chain, 1)).ok).toBe(true);
    expect(checkSuccessor(at(chain, 1), at(chain, 2)).ok).toBe(true);
  });

  it("refuses what must not follow", () => {
    for (const { code, record } of vector.refusedAfterVersion3) {
      expect(failureOf(checkSuccessor(at(chain, 2), listOf(record)))).toBe(code);
    }
    for (const { code, record } of vector.refusedAfterVersion2) {
      expect(failureOf(checkSuccessor(at(chain, 1), listOf(record)))).toBe(code);
    }
  });

  it("renews into a list of its own", () => {
    const renewal = valueOf(parseRenewal(bytes(vector.renewal.record)));
    expect(renewal.oldListHash).toEqual(at(chain, 2).hash);
    expect(listOf(vector.renewal.firstList.record).aik).toEqual(renewal.newAik);
  });
});

describe("derivations.json", () => {
  it("holds an invite that parses", () => {
    const vector = parse(
      "derivations.json",
      Type.Object({ invite: Type.Object({ link: text, secret: text }), safetyNumber: text }),
    );
    const invite = valueOf(parseInvite(vector.invite.link));
    expect(invite.secret).toEqual(bytes(vector.invite.secret));
    expect(vector.safetyNumber).toMatch(/^\d{60}$/);
  });
});
