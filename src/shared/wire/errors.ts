/**
 * Why the relay refuses something, as clients see it. One closed set: the relay maps each code to
 * one HTTP status, and the same codes answer WebSocket requests.
 *
 * Spec: docs/protocol.md "Relay interface".
 */

/** Code of a refusal. */
export const refusalCodes = [
  "malformed",
  "token-invalid",
  "token-expired",
  "device-list-mismatch",
  "conflict",
  "clock-skew",
  "too-large",
  "rate-limited",
  "overloaded",
  "storage-full",
  "not-found",
  "unauthorised",
  "registration-closed",
] as const;

export type RefusalCode = (typeof refusalCodes)[number];

/** One refusal with what the caller needs to act on it. */
export interface Refusal {
  readonly code: RefusalCode;
  /** Which field or setting, what was expected, what to do. Never a secret, never a body. */
  readonly message: string;
  /** Units: ms. With `rate-limited` and `overloaded`. */
  readonly retryAfterMs?: number;
  /** Device mailboxes (base64url) with `device-list-mismatch`. */
  readonly mailboxes?: readonly string[];
}

/** HTTP status of every refusal. */
export const statusByRefusal: Readonly<Record<RefusalCode, number>> = {
  malformed: 400,
  "token-invalid": 401,
  "token-expired": 401,
  unauthorised: 401,
  "registration-closed": 403,
  "not-found": 404,
  "device-list-mismatch": 409,
  conflict: 409,
  "clock-skew": 409,
  "too-large": 413,
  "rate-limited": 429,
  overloaded: 503,
  "storage-full": 507,
};

/** Builds a refusal. */
export function refusal(
  code: RefusalCode,
  message: string,
  extra: Pick<Refusal, "retryAfterMs" | "mailboxes"> = {},
): Refusal {
  return { code, message, ...extra };
}
