/**
 * Linking, the admin device's side, as pure steps between the boxes of one rendezvous:
 *
 *   box 1 → admitLink → shows 8 digits, box 2 → box 3 → checkLinkProof → (list is signed) →
 *   grantLink → box 4
 *
 * The digits are committed to before anybody types them, and a proof is tried once. Signing the
 * list between the last two steps, and warning that linking gives full access, is done by
 * identity/grant-link.ts. The other side is link-new-device.ts; box bytes are in link-box.ts.
 *
 * Spec: docs/protocol.md "Linking".
 */
import { ByteReader, concat, u8 } from "../../shared/bytes.ts";
import { blake2b } from "../../shared/crypto/sodium.ts";
import { maxRendezvousBytes, protocolVersion } from "../../shared/limits.ts";
import { err, ok, type Result } from "../../shared/result.ts";
import type { Rng } from "../../shared/rng.ts";
import { linkCommitment, type LinkKeys, linkKeys, verifyLinkProof } from "./kdf.ts";
import { type LinkGrant, openLinkBox, sealGrant, sealLinkBox } from "./link-box.ts";
import {
  type LinkBundle,
  type LinkBundleError,
  type LinkCode,
  matchesLinkCode,
  parseLinkBundle,
} from "./link-bundle.ts";
import { encapsulate, encapsulationSeedBytes } from "./primitives.ts";

/** A linking that waits for its proof. */
export interface LinkAdmission {
  readonly keys: LinkKeys;
  readonly bundle: LinkBundle;
  readonly bundleHash: Uint8Array;
  /** r: opens the commitment in the last box. */
  readonly opening: Uint8Array;
  readonly commitment: Uint8Array;
  readonly digits: string;
}

/** A linking whose proof was right: the only thing that grantLink takes. */
export interface ApprovedLink {
  readonly admission: LinkAdmission;
  readonly bundle: LinkBundle;
}

export type AdmitLinkError =
  | { readonly type: "link-box" }
  | { readonly type: "link-code-mismatch" }
  | LinkBundleError;

export type GrantLinkError =
  | { readonly type: "no-prekey" }
  | { readonly type: "too-large"; readonly limitBytes: number; readonly grantBytes: number };

const decimals = 8;
const spent = new WeakSet<LinkAdmission>();

/**
 * Judges box 1 against the code that was scanned, and commits to fresh digits.
 *
 * Draws 8 bytes (digits), 32 (r), 24 (nonce). Errors: `link-box` not sealed with this code,
 * `link-code-mismatch` another bundle than the one on the screen, `link-bundle` malformed.
 */
export function admitLink(
  code: LinkCode,
  box1: Uint8Array,
  aik: Uint8Array,
  rng: Rng,
): Result<{ readonly admission: LinkAdmission; readonly box2: Uint8Array }, AdmitLinkError> {
  const keys = linkKeys(code.secret);
  const record = openLinkBox(keys, 1, box1);
  if (record === undefined) return err({ type: "link-box" });
  if (!matchesLinkCode(code, record)) return err({ type: "link-code-mismatch" });
  const bundle = parseLinkBundle(record);
  if (!bundle.ok) return bundle;
  // A key that cannot be sealed to must be noticed before the list is signed, not after.
  if (!encapsulate(bundle.value.xwingPublicKey, new Uint8Array(encapsulationSeedBytes)).ok) {
    return err({ type: "link-bundle" });
  }
  const digits = drawDigits(rng);
  const opening = rng(32);
  const bundleHash = blake2b(32, record);
  const commitment = linkCommitment({ opening, digits, aik, bundleHash });
  const box2 = sealLinkBox(keys, 2, concat(u8(protocolVersion), aik, commitment), rng);
  return ok({
    admission: { keys, bundle: bundle.value, bundleHash, opening, commitment, digits },
    box2,
  });
}

/**
 * Judges box 3. One try: whatever the outcome, a second call with the same admission is refused.
 * Errors: `link-burned`, the proof is wrong or was tried before; start again with a new code.
 */
export function checkLinkProof(
  admission: LinkAdmission,
  box3: Uint8Array,
): Result<ApprovedLink, { readonly type: "link-burned" }> {
  if (spent.has(admission)) return err({ type: "link-burned" });
  spent.add(admission);
  const proof = openLinkBox(admission.keys, 3, box3);
  const right = proof !== undefined && verifyLinkProof(admission.keys.proofKey, proof, admission);
  return right ? ok({ admission, bundle: admission.bundle }) : err({ type: "link-burned" });
}

/**
 * Seals the grant, after the new list was accepted by the relay. Draws 64 bytes, then 24.
 * Errors: `too-large` for one box (a list with very many revoked devices).
 */
export function grantLink(
  { admission, bundle }: ApprovedLink,
  grant: Omit<LinkGrant, "opening">,
  rng: Rng,
): Result<Uint8Array, GrantLinkError> {
  const sealed = sealGrant(
    { ...grant, opening: admission.opening },
    bundle.xwingPublicKey,
    admission,
    rng,
  );
  if (!sealed.ok) return sealed;
  const box4 = sealLinkBox(admission.keys, 4, sealed.value, rng);
  return box4.length <= maxRendezvousBytes
    ? ok(box4)
    : err({ type: "too-large", limitBytes: maxRendezvousBytes, grantBytes: box4.length });
}

/** u64 mod 10^8: off from uniform by less than 2^-37. */
function drawDigits(rng: Rng): string {
  const value = new ByteReader(rng(8)).u64() % 10n ** BigInt(decimals);
  return value.toString().padStart(decimals, "0");
}
