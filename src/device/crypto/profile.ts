/**
 * The profile: how an account is called and reached, as it tells its contacts. What a profile may
 * change about a contact (a new relay needs the user's consent) is decided by its readers.
 *
 * Spec: docs/protocol.md "Tags" (UTF-8 JSON {name ≤ 128 B, access_key, relay ≤ 256 B,
 * account_mailbox}; fits the smallest bucket, also behind the 48 bytes of a contact-accept).
 */
import { isWellFormed, parseUtf8, toBase64Url, utf8 } from "../../shared/bytes.ts";
import { parseRelayOrigin } from "../../shared/crypto/origin.ts";
import { idBytes, parseId } from "../../shared/ids.ts";
import { maxNameBytes } from "../../shared/limits.ts";
import { err, ok, type Result } from "../../shared/result.ts";

/** Bytes of an access key. */
const accessKeyBytes = 32;

/** What an account says about itself. */
export interface Profile {
  readonly name: string;
  readonly accessKey: Uint8Array;
  /** Origin of the account's relay. */
  readonly relay: string;
  readonly accountMailbox: Uint8Array;
}

export type NameError = { readonly type: "name"; readonly reason: string };

/**
 * Parses the name of a person or device: well-formed Unicode, 1 to 128 bytes of UTF-8, no control
 * characters. Those would draw outside their line, and JSON would write six bytes for each, so
 * that a profile could outgrow the smallest bucket.
 */
export function parseName(text: string): Result<string, NameError> {
  if (!isWellFormed(text)) return err({ type: "name", reason: "expected well-formed Unicode" });
  const bytes = utf8(text).length;
  if (bytes < 1 || bytes > maxNameBytes) {
    const reason = `expected a name of 1 to ${maxNameBytes} bytes of UTF-8, got ${bytes}`;
    return err({ type: "name", reason });
  }
  return /\p{Cc}/u.test(text)
    ? err({ type: "name", reason: "expected a name without control characters" })
    : ok(text);
}

/** Whether a name is one that a device may send: what parseName accepts, or none. */
export function isName(text: string): boolean {
  return text === "" || parseName(text).ok;
}

/** Encodes a profile. Throws on a name or relay that is out of bounds: parse them where they come in. */
export function encodeProfile(profile: Profile): Uint8Array {
  if (!isName(profile.name)) throw new Error("not encoding a profile: name is out of bounds");
  if (!isRelayOrigin(profile.relay)) throw new Error("not encoding a profile: relay is no origin");
  return utf8(
    JSON.stringify({
      name: profile.name,
      access_key: toBase64Url(profile.accessKey),
      relay: profile.relay,
      account_mailbox: toBase64Url(profile.accountMailbox),
    }),
  );
}

/** Parses a profile. Unknown fields are ignored. Errors: `utf8`, or `content` for a field out of form. */
export function parseProfile(
  bytes: Uint8Array,
): Result<Profile, { readonly type: "utf8" | "content" }> {
  const text = parseUtf8(bytes);
  if (!text.ok) return text;
  const json = parseJsonObject(text.value);
  if (json === undefined) return err({ type: "content" });
  const { name, access_key: accessKeyText, relay, account_mailbox: mailboxText } = json;
  if (
    typeof name !== "string" ||
    typeof accessKeyText !== "string" ||
    typeof relay !== "string" ||
    typeof mailboxText !== "string"
  ) {
    return err({ type: "content" });
  }
  const accessKey = parseId(accessKeyText, accessKeyBytes);
  const accountMailbox = parseId(mailboxText, idBytes);
  if (!accessKey.ok || !accountMailbox.ok || !isName(name) || !isRelayOrigin(relay)) {
    return err({ type: "content" });
  }
  return ok({ name, accessKey: accessKey.value, relay, accountMailbox: accountMailbox.value });
}

/** Parses a JSON object. Undefined for anything else. */
export function parseJsonObject(text: string): Readonly<Record<string, unknown>> | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  return isObject(value) ? value : undefined;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isRelayOrigin(text: string): boolean {
  const origin = parseRelayOrigin(text);
  return origin.ok && origin.value === text;
}
