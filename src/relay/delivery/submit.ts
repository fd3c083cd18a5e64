/**
 * Submit: what happens to one posted upload, in the order that the protocol fixes: format, address
 * limit, token, mailbox limit, slot day, addressed devices, accept. A stranger can thus neither spend
 * a mailbox's budget nor learn whether it exists.
 *
 * Spec: docs/protocol.md "Relay interface".
 */
import { type Clock, dayOf } from "../../shared/clock.ts";
import { deliveryTokenInput } from "../../shared/crypto/token.ts";
import { idText } from "../../shared/ids.ts";
import { err, ok, type Result } from "../../shared/result.ts";
import { parseUpload, type Upload } from "../../shared/wire/envelope.ts";
import { type Refusal, refusal } from "../../shared/wire/errors.ts";
import type { Recipient } from "../store/accounts.ts";
import type { CheckedUpload } from "../store/items.ts";
import type { Accept, AcceptError, CopyResult } from "./accept.ts";
import { type Admission, admit, expiryRefusal, invalidToken } from "./admission.ts";
import type { RateLimit } from "./rate-limit.ts";

/** What became of an upload whose commit is durable. */
export interface Submitted {
  readonly results: readonly CopyResult[];
  /** Mailboxes of the account that have a prekey and got no copy. */
  readonly unaddressed: readonly string[];
}

/** Takes one upload from an address. */
export type Submit = (bytes: Uint8Array, address: string) => Promise<Result<Submitted, Refusal>>;

/** What submitting acts through. */
export interface SubmitOptions {
  readonly findRecipient: (account: string) => Promise<Recipient | undefined>;
  readonly acceptFor: (account: string) => Accept;
  readonly addressLimit: RateLimit;
  readonly mailboxLimit: RateLimit;
  readonly originDigest: () => Uint8Array;
  readonly clock: Clock;
}

/** Builds the way of an upload. */
export function createSubmit(options: SubmitOptions): Submit {
  return async (bytes, address) => {
    const parsed = parseUpload(bytes);
    if (!parsed.ok) return err(refusal("malformed", `upload: ${parsed.error.reason}`));
    const limited = limitRefusal(options.addressLimit(address), "address");
    if (limited !== undefined) return err(limited);
    const upload = parsed.value;
    const admission = await admitUpload(options, bytes, upload);
    if (!admission.ok) return admission;
    const account = admission.value.recipient.account;
    const busy = limitRefusal(options.mailboxLimit(account), "account mailbox");
    if (busy !== undefined) return err(busy);
    const flaw = dayRefusal(upload.day, options.clock.nowMs());
    if (flaw !== undefined) return err(flaw);
    return acceptUpload(options.acceptFor(account), upload, admission.value);
  };
}

/** The refusal of a limit that asks to wait. Units: `waitMs`, 0 when there is no need to. */
export function limitRefusal(waitMs: number, whose: string): Refusal | undefined {
  if (waitMs === 0) return undefined;
  return refusal("rate-limited", `too many requests for this ${whose}: wait`, {
    retryAfterMs: waitMs,
  });
}

async function admitUpload(
  options: SubmitOptions,
  bytes: Uint8Array,
  upload: Upload,
): Promise<Result<Admission, Refusal>> {
  const expiry = expiryRefusal(upload.tokenExpiryMs, options.clock.nowMs());
  if (expiry !== undefined) return err(expiry);
  const recipient = await options.findRecipient(idText(upload.accountMailbox));
  const input = deliveryTokenInput(bytes, options.originDigest());
  const admission = admit(recipient, { keyKind: upload.keyKind, input, token: upload.token });
  return admission === undefined ? err(invalidToken()) : ok(admission);
}

function dayRefusal(day: number, nowMs: number): Refusal | undefined {
  const today = dayOf(nowMs);
  if (Math.abs(day - today) <= 1) return undefined;
  return refusal(
    "clock-skew",
    `slot day ${day}, expected ${today} give or take one: use the relay's time`,
  );
}

async function acceptUpload(
  accept: Accept,
  upload: Upload,
  { recipient, invite }: Admission,
): Promise<Result<Submitted, Refusal>> {
  const copies = upload.entries.map(({ mailbox, header }) => ({
    mailbox: idText(mailbox),
    header,
  }));
  const known = new Set(recipient.mailboxes.map(({ mailbox }) => mailbox));
  const strangers = copies.flatMap(({ mailbox }) => (known.has(mailbox) ? [] : [mailbox]));
  if (strangers.length > 0) return err(mismatch(strangers));
  const checked: CheckedUpload = {
    account: recipient.account,
    slot: idText(upload.slot),
    day: upload.day,
    bucket: upload.bucket,
    invite,
    body: upload.body,
    copies,
  };
  const accepted = await accept(checked);
  if (!accepted.ok) return err(acceptRefusal(accepted.error));
  const addressed = new Set(copies.map(({ mailbox }) => mailbox));
  const unaddressed = recipient.mailboxes.flatMap(({ mailbox, hasPrekey }) =>
    hasPrekey && !addressed.has(mailbox) ? [mailbox] : [],
  );
  return ok({ results: accepted.value, unaddressed });
}

function acceptRefusal(error: AcceptError): Refusal {
  return error.type === "mailbox-gone"
    ? mismatch(error.mailboxes)
    : refusal("overloaded", `${error.reason}: try again with the same slot`, {
        retryAfterMs: error.retryMs,
      });
}

function mismatch(mailboxes: readonly string[]): Refusal {
  return refusal(
    "device-list-mismatch",
    "an addressed mailbox is not one of this account's devices: fetch the account's list again",
    { mailboxes },
  );
}
