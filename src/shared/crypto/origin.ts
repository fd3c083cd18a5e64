/**
 * The relay origin: the name of a relay inside signatures and tokens, so that what was made for one
 * relay is worthless at another. It is the WHATWG origin of the configured public URL and is never
 * taken from a header.
 *
 * Spec: docs/protocol.md "Notation" (relay origin).
 */
import { utf8 } from "../bytes.ts";
import { maxRelayOriginBytes } from "../limits.ts";
import { err, ok, type Result } from "../result.ts";
import { blake2b } from "./sodium.ts";

export type OriginError = { readonly type: "relay-url"; readonly reason: string };

/** Parses a relay's URL down to its origin. Errors: no http(s) URL, or an origin of over 256 bytes. */
export function parseRelayOrigin(url: string): Result<string, OriginError> {
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  if (parsed === undefined || (parsed.protocol !== "https:" && parsed.protocol !== "http:")) {
    return err({ type: "relay-url", reason: "expected an http:// or https:// URL" });
  }
  if (utf8(parsed.origin).length > maxRelayOriginBytes) {
    return err({
      type: "relay-url",
      reason: `expected an origin of at most ${maxRelayOriginBytes} bytes`,
    });
  }
  return ok(parsed.origin);
}

/** BLAKE2b-256 of an origin, as tokens and signatures bind it. */
export function originHash(origin: string): Uint8Array {
  return blake2b(32, utf8(origin));
}
