/** Delivery and bundle tokens, relay origins and invites. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { concat, label16, toBase64Url, u32, u64, u8, utf8 } from "../../../src/shared/bytes.ts";
import { encodeInvite, parseInvite } from "../../../src/shared/crypto/invite.ts";
import { originHash, parseRelayOrigin } from "../../../src/shared/crypto/origin.ts";
import { authenticate, blake2b } from "../../../src/shared/crypto/sodium.ts";
import {
  bundleTokenInput,
  deliveryTokenInput,
  keyKind,
  makeToken,
  tokenExpiry,
  tokenMatches,
  tokenOffset,
} from "../../../src/shared/crypto/token.ts";
import { encodeUpload, setUploadToken } from "../../../src/shared/wire/envelope.ts";
import { failureOf, testNowMs, testOrigin, valueOf } from "../../support/people.ts";
import { seededRng } from "../../support/seeded-rng.ts";

const rng = seededRng("tokens");
const key = rng(32);
const origin = originHash(testOrigin);

function upload(): Uint8Array {
  return encodeUpload({
    bucket: 0,
    keyKind: keyKind.access,
    accountMailbox: rng(16),
    slot: rng(16),
    tokenExpiryMs: 99n,
    entries: [{ mailbox: rng(16), header: rng(1_176) }],
    body: rng(1_072),
  });
}

function expiryAt(offsetMs: number): string {
  return tokenExpiry(BigInt(testNowMs + offsetMs), testNowMs);
}

function bytesOf(link: string): Uint8Array {
  return Uint8Array.from(Buffer.from(link.slice("pixie-invite:".length), "base64url"));
}

function rewrap(changed: Uint8Array): string {
  return `pixie-invite:${toBase64Url(changed)}`;
}

describe("delivery token", () => {
  it("is crypto_auth over label, origin hash, the bytes before it and the hash of those after", () => {
    const bytes = upload();
    const expected = authenticate(
      key,
      label16("PX1 deliver"),
      blake2b(32, utf8(testOrigin)),
      bytes.slice(0, 44),
      blake2b(32, bytes.slice(76)),
    );
    expect(tokenOffset).toBe(44);
    expect(makeToken(deliveryTokenInput(bytes, origin), key)).toEqual(expected);
  });

  it("does not cover itself, and covers every other byte", () => {
    const bytes = upload();
    const token = makeToken(deliveryTokenInput(bytes, origin), key);
    setUploadToken(bytes, token);
    expect(bytes.slice(44, 76)).toEqual(token);
    expect(tokenMatches(deliveryTokenInput(bytes, origin), token, key)).toBe(true);
    for (let i = 0; i < bytes.length; i += i < 90 ? 1 : 41) {
      if (i >= 44 && i < 76) continue;
      const flipped = bytes.slice();
      flipped[i] = (flipped[i] ?? 0) ^ 1;
      expect(tokenMatches(deliveryTokenInput(flipped, origin), token, key), `byte ${i}`).toBe(
        false,
      );
    }
  });

  it("is worthless at another relay and under another key", () => {
    const bytes = upload();
    const token = makeToken(deliveryTokenInput(bytes, origin), key);
    const elsewhere = deliveryTokenInput(bytes, originHash("https://other.example"));
    expect(tokenMatches(elsewhere, token, key)).toBe(false);
    expect(tokenMatches(deliveryTokenInput(bytes, origin), token, rng(32))).toBe(false);
    expect(tokenMatches(deliveryTokenInput(bytes, origin), token.slice(1), key)).toBe(false);
  });
});

describe("bundle token", () => {
  const claim = { accountMailbox: rng(16), keyKind: keyKind.invite, since: 7, expiryMs: 99n };

  it("covers origin, mailbox, key kind, version and expiry", () => {
    const input = bundleTokenInput(claim, origin);
    expect(input).toEqual(
      concat(label16("PX1 bundle"), origin, claim.accountMailbox, u8(1), u32(7), u64(99n)),
    );
    const token = makeToken(input, key);
    expect(tokenMatches(input, token, key)).toBe(true);
    const others = [
      { ...claim, accountMailbox: rng(16) },
      { ...claim, keyKind: keyKind.access },
      { ...claim, since: 8 },
      { ...claim, expiryMs: 100n },
    ];
    for (const changed of others) {
      expect(tokenMatches(bundleTokenInput(changed, origin), token, key)).toBe(false);
    }
  });
});

describe("token expiry", () => {
  it("lies after now and at most an hour ahead", () => {
    expect(expiryAt(-1)).toBe("expired");
    expect(expiryAt(0)).toBe("expired");
    expect(expiryAt(1)).toBe("valid");
    expect(expiryAt(3_600_000)).toBe("valid");
    expect(expiryAt(3_600_001)).toBe("too-far");
    expect(tokenExpiry(2n ** 64n - 1n, testNowMs)).toBe("too-far");
  });
});

describe("relay origin", () => {
  it.each([
    ["https://Relay.Example/path?q#f", "https://relay.example"],
    ["https://user:pass@relay.example:443/", "https://relay.example"],
    ["http://127.0.0.1:8080", "http://127.0.0.1:8080"],
    ["https://bücher.example", "https://xn--bcher-kva.example"],
  ])("takes %s down to %s", (url, expected) => {
    expect(valueOf(parseRelayOrigin(url))).toBe(expected);
  });

  it.each(["", "relay.example", "ftp://relay.example", "wss://relay.example", "javascript:1"])(
    "refuses %j",
    (url) => {
      expect(failureOf(parseRelayOrigin(url))).toBe("relay-url");
    },
  );

  it("holds at most 256 bytes", () => {
    const label = "a".repeat(60);
    const host = `${label}.${label}.${label}.${label}`;
    expect(parseRelayOrigin(`https://${host}.ab`).ok).toBe(true);
    expect(failureOf(parseRelayOrigin(`https://${host}.${host}`))).toBe("relay-url");
  });
});

describe("invite", () => {
  const invite = {
    inviteId: rng(16),
    secret: rng(32),
    aik: rng(32),
    accountMailbox: rng(16),
    expiryMs: BigInt(testNowMs),
    relayOrigin: testOrigin,
  };

  it("round-trips, and never holds an access key", () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }), (expiryMs) => {
        const made = { ...invite, expiryMs };
        expect(valueOf(parseInvite(`  ${encodeInvite(made)}\n`))).toEqual(made);
      }),
    );
    const { inviteId, secret, aik, accountMailbox, expiryMs } = invite;
    expect(bytesOf(encodeInvite(invite))).toEqual(
      concat(u8(1), inviteId, secret, aik, accountMailbox, u64(expiryMs), utf8(testOrigin)),
    );
  });

  it("refuses a damaged link", () => {
    const link = encodeInvite(invite);
    const bytes = bytesOf(link);
    const version2 = bytes.slice();
    version2[0] = 2;
    const broken = [
      "",
      "pixie-link:AAAA",
      link.slice(0, 60),
      `${link}=`,
      rewrap(bytes.slice(0, 105)),
      rewrap(version2),
      rewrap(concat(bytes, utf8("/path"))),
      rewrap(concat(bytes, Uint8Array.of(0xff))),
    ];
    for (const text of broken) expect(failureOf(parseInvite(text))).toBe("invite-malformed");
  });
});
