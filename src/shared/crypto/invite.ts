/**
 * The invite: what one person hands another, as text or QR, so that the two devices can find and
 * trust each other. It names the inviter's identity key and relay, so the relay cannot slip in a
 * key of its own. The secret never reaches the relay; only the invite key derived from it does.
 *
 * Key derivation needs crypto_kdf, which only a device has: see device/crypto.
 *
 * Spec: docs/protocol.md "Records" (invite).
 */
import {
  ByteReader,
  concat,
  parseBase64Url,
  parseUtf8,
  toBase64Url,
  u64,
  u8,
  utf8,
} from "../bytes.ts";
import { protocolVersion } from "../limits.ts";
import { err, ok, type Result } from "../result.ts";
import { parseRelayOrigin } from "./origin.ts";

const scheme = "pixie-invite:";
const fixedBytes = 105;

/** Contents of an invite. `expiryMs` is relay time. */
export interface Invite {
  readonly inviteId: Uint8Array;
  readonly secret: Uint8Array;
  readonly aik: Uint8Array;
  readonly accountMailbox: Uint8Array;
  readonly expiryMs: bigint;
  readonly relayOrigin: string;
}

export type InviteError = { readonly type: "invite-malformed"; readonly reason: string };

/** The link form of an invite. */
export function encodeInvite(invite: Invite): string {
  return (
    scheme +
    toBase64Url(
      concat(
        u8(protocolVersion),
        invite.inviteId,
        invite.secret,
        invite.aik,
        invite.accountMailbox,
        u64(invite.expiryMs),
        utf8(invite.relayOrigin),
      ),
    )
  );
}

/** Parses an invite link. Surrounding white space is dropped, since people paste it. */
export function parseInvite(link: string): Result<Invite, InviteError> {
  const text = link.trim();
  if (!text.startsWith(scheme)) return malformed(`expected a link that starts with ${scheme}`);
  const bytes = parseBase64Url(text.slice(scheme.length));
  if (!bytes.ok || bytes.value.length <= fixedBytes) {
    return malformed("the link is damaged or cut off; copy it again, whole");
  }
  const reader = new ByteReader(bytes.value);
  const version = reader.u8();
  if (version !== protocolVersion) {
    return malformed(`invite version ${version}, expected ${protocolVersion}; update pixie`);
  }
  const fields = {
    inviteId: reader.take(16),
    secret: reader.take(32),
    aik: reader.take(32),
    accountMailbox: reader.take(16),
    expiryMs: reader.u64(),
  };
  const url = parseUtf8(reader.take(bytes.value.length - fixedBytes));
  const origin = url.ok ? parseRelayOrigin(url.value) : url;
  if (!origin.ok || !url.ok || origin.value !== url.value) {
    return malformed("the relay in the link is no origin such as https://relay.example");
  }
  return ok({ ...fields, relayOrigin: origin.value });
}

function malformed(reason: string): { readonly ok: false; readonly error: InviteError } {
  return err({ type: "invite-malformed", reason });
}
