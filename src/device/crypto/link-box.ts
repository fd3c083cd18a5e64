/**
 * How the four boxes at the rendezvous are sealed, and what the last one says. The relay stores
 * them and reads none; whoever photographed the code could read the first three, never the last.
 *
 * Every box: nonce 24 ‖ XChaCha20-Poly1305(direction key, nonce, ad = `PX1 link-box` ‖ box u8,
 * content). Boxes 1 and 3 use the new device's direction (subkey 2), 2 and 4 the admin's (3).
 * Contents: 1 the bundle; 2 version 1 ‖ AIK 32 ‖ c 32; 3 p 32; 4 X-Wing ciphertext 1,120 ‖ sealed
 * grant. The grant is sealed to the bundle's X-Wing key: th = BLAKE2b-256(`PX1 link-grant` ‖ c ‖
 * BLAKE2b-256(bundle) ‖ X-Wing ciphertext); prk = BLAKE2b-256(key = ss; `PX1 link-prk` ‖ th);
 * key, nonce = crypto_kdf(prk, "PX1-link", 1: 32 bytes, 2: 24 bytes); ad = th.
 * Grant: version 1 ‖ r 32 ‖ AK 32 ‖ account mailbox 16 ‖ certificate 156 ‖ name length u8 ‖ name ‖
 * origin length u16 ‖ relay origin ‖ device list to the end.
 *
 * Spec: docs/protocol.md "Linking".
 */
import { ByteReader, concat, label16, parseUtf8, u16, u8, utf8 } from "../../shared/bytes.ts";
import { certificateBytes } from "../../shared/crypto/certificate.ts";
import { parseRelayOrigin } from "../../shared/crypto/origin.ts";
import { blake2b, keyedBlake2b } from "../../shared/crypto/sodium.ts";
import { maxRendezvousBytes, protocolVersion } from "../../shared/limits.ts";
import { err, ok, type Result } from "../../shared/result.ts";
import type { Rng } from "../../shared/rng.ts";
import type { LinkKeys } from "./kdf.ts";
import {
  type AeadKey,
  aeadNonceBytes,
  aeadOpen,
  aeadSeal,
  decapsulate,
  deriveKey,
  encapsulate,
  encapsulationSeedBytes,
  xwingCiphertextBytes,
} from "./primitives.ts";
import { isName } from "./profile.ts";

/** Number of a box at the rendezvous. */
export type LinkBoxNumber = 1 | 2 | 3 | 4;

/** What the admin device hands over in the last box. */
export interface LinkGrant {
  /** Opens the commitment (r). */
  readonly opening: Uint8Array;
  readonly accessKey: Uint8Array;
  readonly accountMailbox: Uint8Array;
  /** Certificate record of the new device. */
  readonly certificate: Uint8Array;
  readonly accountName: string;
  readonly relayOrigin: string;
  /** Record of the device list that the new device stands in. */
  readonly deviceList: Uint8Array;
}

/** What the last box is bound to. */
export interface GrantBinding {
  readonly commitment: Uint8Array;
  /** BLAKE2b-256 of the bundle. */
  readonly bundleHash: Uint8Array;
}

const grantFixedBytes = 1 + 32 + 32 + 16 + certificateBytes;

/** Seals a box in its direction. Draws a nonce of 24 bytes. */
export function sealLinkBox(
  keys: LinkKeys,
  box: LinkBoxNumber,
  content: Uint8Array,
  rng: Rng,
): Uint8Array {
  const nonce = rng(aeadNonceBytes);
  return concat(nonce, aeadSeal(content, boxKey(keys, box, nonce)));
}

/** Opens a box. Undefined when it was not sealed with this code, for this box and direction. */
export function openLinkBox(
  keys: LinkKeys,
  box: LinkBoxNumber,
  sealed: Uint8Array,
): Uint8Array | undefined {
  if (sealed.length > maxRendezvousBytes) return undefined;
  const nonce = sealed.slice(0, aeadNonceBytes);
  if (nonce.length < aeadNonceBytes) return undefined;
  return aeadOpen(sealed.subarray(aeadNonceBytes), boxKey(keys, box, nonce));
}

/**
 * Seals a grant to the new device's X-Wing key. Draws 64 bytes.
 * Errors: `no-prekey`, the primitive refuses the public key.
 */
export function sealGrant(
  grant: LinkGrant,
  xwingPublicKey: Uint8Array,
  binding: GrantBinding,
  rng: Rng,
): Result<Uint8Array, { readonly type: "no-prekey" }> {
  const kem = encapsulate(xwingPublicKey, rng(encapsulationSeedBytes));
  if (!kem.ok) return kem;
  const { ciphertext, sharedSecret } = kem.value;
  return ok(
    concat(ciphertext, aeadSeal(encodeGrant(grant), grantKey(sharedSecret, ciphertext, binding))),
  );
}

/** Opens a grant. Errors: not sealed to this device for this linking, or malformed. */
export function openGrant(
  sealed: Uint8Array,
  xwingSeed: Uint8Array,
  binding: GrantBinding,
): Result<LinkGrant, { readonly type: "link-grant" }> {
  const ciphertext = sealed.slice(0, xwingCiphertextBytes);
  if (ciphertext.length < xwingCiphertextBytes) return malformed();
  const shared = decapsulate(ciphertext, xwingSeed);
  if (!shared.ok) return malformed();
  const plaintext = aeadOpen(
    sealed.subarray(xwingCiphertextBytes),
    grantKey(shared.value, ciphertext, binding),
  );
  return plaintext === undefined ? malformed() : parseGrant(plaintext);
}

function boxKey(keys: LinkKeys, box: LinkBoxNumber, nonce: Uint8Array): AeadKey {
  const fromNewDevice = box === 1 || box === 3;
  return {
    key: fromNewDevice ? keys.newDeviceKey : keys.adminKey,
    nonce,
    additional: concat(label16("PX1 link-box"), u8(box)),
  };
}

function grantKey(
  sharedSecret: Uint8Array,
  ciphertext: Uint8Array,
  { commitment, bundleHash }: GrantBinding,
): AeadKey {
  const transcript = blake2b(32, label16("PX1 link-grant"), commitment, bundleHash, ciphertext);
  const prk = keyedBlake2b(32, sharedSecret, label16("PX1 link-prk"), transcript);
  const context = "PX1-link";
  return {
    key: deriveKey(prk, { context, id: 1, bytes: 32 }),
    nonce: deriveKey(prk, { context, id: 2, bytes: aeadNonceBytes }),
    additional: transcript,
  };
}

function encodeGrant(grant: LinkGrant): Uint8Array {
  const name = utf8(grant.accountName);
  const origin = utf8(grant.relayOrigin);
  return concat(
    u8(protocolVersion),
    grant.opening,
    grant.accessKey,
    grant.accountMailbox,
    grant.certificate,
    u8(name.length),
    name,
    u16(origin.length),
    origin,
    grant.deviceList,
  );
}

function parseGrant(bytes: Uint8Array): Result<LinkGrant, { readonly type: "link-grant" }> {
  const nameBytes = bytes[grantFixedBytes];
  if (nameBytes === undefined || bytes.length < grantFixedBytes + 1 + nameBytes + 2) {
    return malformed();
  }
  const reader = new ByteReader(bytes);
  if (reader.u8() !== protocolVersion) return malformed();
  const fixed = {
    opening: reader.take(32),
    accessKey: reader.take(32),
    accountMailbox: reader.take(16),
    certificate: reader.take(certificateBytes),
  };
  const name = parseUtf8(reader.take(reader.u8()));
  const originBytes = reader.u16();
  if (bytes.length < reader.offset + originBytes) return malformed();
  const url = parseUtf8(reader.take(originBytes));
  const origin = url.ok ? parseRelayOrigin(url.value) : url;
  if (!name.ok || !isName(name.value)) return malformed();
  if (!url.ok || !origin.ok || origin.value !== url.value) return malformed();
  return ok({
    ...fixed,
    accountName: name.value,
    relayOrigin: origin.value,
    deviceList: reader.take(bytes.length - reader.offset),
  });
}

function malformed(): { readonly ok: false; readonly error: { readonly type: "link-grant" } } {
  return err({ type: "link-grant" });
}
