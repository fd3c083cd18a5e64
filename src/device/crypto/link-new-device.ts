/**
 * Linking, the new device's side, as pure steps between the boxes of one rendezvous:
 *
 *   startLink → shows the code, box 1 → box 2, digits are typed → proveLink → box 3 → box 4 →
 *   completeLink → what the device now belongs to
 *
 * Nothing that the other side says is believed before the commitment opens with the digits that a
 * person typed here. The other side is link-admin.ts; box bytes are in link-box.ts. Storing keys
 * and moving boxes is done by identity/offer-link.ts.
 *
 * Spec: docs/protocol.md "Linking".
 */
import { ByteReader, equalBytes } from "../../shared/bytes.ts";
import { type Certificate, parseCertificate } from "../../shared/crypto/certificate.ts";
import {
  type DeviceList,
  deviceState,
  entryOf,
  parseDeviceList,
} from "../../shared/crypto/device-list.ts";
import { blake2b, newSigningKey, type SigningKeyPair } from "../../shared/crypto/sodium.ts";
import { randomId } from "../../shared/ids.ts";
import { protocolVersion } from "../../shared/limits.ts";
import { err, ok, type Result } from "../../shared/result.ts";
import type { Rng } from "../../shared/rng.ts";
import { linkCommitment, type LinkKeys, linkKeys, linkProof } from "./kdf.ts";
import { type LinkGrant, openGrant, openLinkBox, sealLinkBox } from "./link-box.ts";
import { encodeLinkCode, signLinkBundle } from "./link-bundle.ts";
import { xwingPublicKey, xwingSeedBytes } from "./primitives.ts";

/** A device that shows its code and waits. */
export interface LinkingDevice {
  readonly keys: LinkKeys;
  readonly bundleHash: Uint8Array;
  readonly dsk: SigningKeyPair & { readonly seed: Uint8Array };
  /** Private half of the bundle's X-Wing key; of no use after linking. */
  readonly xwingSeed: Uint8Array;
  readonly deviceId: Uint8Array;
  readonly mailbox: Uint8Array;
}

/** A device that proved that the digits were typed on it. */
export interface ProvedLink {
  readonly device: LinkingDevice;
  readonly aik: Uint8Array;
  readonly commitment: Uint8Array;
  readonly digits: string;
}

/** What the device now belongs to. Shown to its user: account name and fingerprint of `aik`. */
export interface LinkedAccount {
  readonly aik: Uint8Array;
  readonly accountName: string;
  readonly accountMailbox: Uint8Array;
  readonly accessKey: Uint8Array;
  readonly relayOrigin: string;
  readonly list: DeviceList;
  readonly certificate: Certificate;
}

export type ProveLinkError = { readonly type: "link-box" | "link-digits" };

export type CompleteLinkError = {
  readonly type:
    | "link-box"
    | "link-grant"
    /** The other side did not commit to the digits that were typed: somebody stands between. */
    | "link-commitment"
    /** The list or certificate is not the committed account's, or does not hold this device. */
    | "link-records";
};

/**
 * Draws the new device's keys and ids, its code and box 1.
 * Draws: DSK seed 32, X-Wing seed 32, device id 16, mailbox 16, secret 16, nonce 24.
 * Throws on a name out of bounds: parse it with parseName.
 */
export function startLink(
  name: string,
  rng: Rng,
): { readonly code: string; readonly box1: Uint8Array; readonly device: LinkingDevice } {
  const dsk = newSigningKey(rng);
  const xwingSeed = rng(xwingSeedBytes);
  const deviceId = randomId(rng);
  const mailbox = randomId(rng);
  const secret = rng(16);
  const record = signLinkBundle(
    {
      dsk: dsk.publicKey,
      xwingPublicKey: xwingPublicKey(xwingSeed),
      deviceId,
      mailbox,
      name,
    },
    dsk.privateKey,
  );
  const keys = linkKeys(secret);
  return {
    code: encodeLinkCode(secret, record),
    box1: sealLinkBox(keys, 1, record, rng),
    device: { keys, bundleHash: blake2b(32, record), dsk, xwingSeed, deviceId, mailbox },
  };
}

/**
 * Answers box 2 with the typed digits (white space and hyphens are dropped). Draws a nonce of 24.
 * Errors: `link-digits` not 8 digits, ask again; `link-box` not from an admin with this code.
 */
export function proveLink(
  device: LinkingDevice,
  box2: Uint8Array,
  typed: string,
  rng: Rng,
): Result<{ readonly box3: Uint8Array; readonly proved: ProvedLink }, ProveLinkError> {
  const digits = typed.replace(/[\s-]/g, "");
  if (!/^[0-9]{8}$/.test(digits)) return err({ type: "link-digits" });
  const content = openLinkBox(device.keys, 2, box2);
  if (content?.length !== 65 || content[0] !== protocolVersion) return err({ type: "link-box" });
  const reader = new ByteReader(content.subarray(1));
  const aik = reader.take(32);
  const commitment = reader.take(32);
  const { bundleHash } = device;
  const proof = linkProof(device.keys.proofKey, { commitment, bundleHash, digits });
  const box3 = sealLinkBox(device.keys, 3, proof, rng);
  return ok({ box3, proved: { device, aik, commitment, digits } });
}

/** Opens box 4 and believes it only if the commitment opens with what was typed. */
export function completeLink(
  proved: ProvedLink,
  box4: Uint8Array,
): Result<LinkedAccount, CompleteLinkError> {
  const { device, aik, commitment, digits } = proved;
  const { bundleHash } = device;
  const sealed = openLinkBox(device.keys, 4, box4);
  if (sealed === undefined) return err({ type: "link-box" });
  const grant = openGrant(sealed, device.xwingSeed, { commitment, bundleHash });
  if (!grant.ok) return grant;
  const { opening } = grant.value;
  if (!equalBytes(commitment, linkCommitment({ opening, digits, aik, bundleHash }))) {
    return err({ type: "link-commitment" });
  }
  return believe(proved, grant.value);
}

function believe(
  { device, aik }: ProvedLink,
  grant: LinkGrant,
): Result<LinkedAccount, CompleteLinkError> {
  const list = parseDeviceList(grant.deviceList);
  const certificate = parseCertificate(grant.certificate);
  if (!list.ok || !certificate.ok) return err({ type: "link-records" });
  const entry = entryOf(list.value, device.deviceId);
  const holds =
    equalBytes(list.value.aik, aik) &&
    entry !== undefined &&
    entry.state !== deviceState.revoked &&
    equalBytes(entry.dsk, device.dsk.publicKey) &&
    equalBytes(entry.mailbox, device.mailbox);
  if (!holds || !certifies(certificate.value, device, aik)) return err({ type: "link-records" });
  return ok({
    aik,
    accountName: grant.accountName,
    accountMailbox: grant.accountMailbox,
    accessKey: grant.accessKey,
    relayOrigin: grant.relayOrigin,
    list: list.value,
    certificate: certificate.value,
  });
}

function certifies(certificate: Certificate, device: LinkingDevice, aik: Uint8Array): boolean {
  return (
    equalBytes(certificate.aik, aik) &&
    equalBytes(certificate.deviceId, device.deviceId) &&
    equalBytes(certificate.dsk, device.dsk.publicKey)
  );
}
