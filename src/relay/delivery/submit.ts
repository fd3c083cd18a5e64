/**
 * Submit: what happens to one posted upload, in the order that the protocol fixes: format, address
 * limit, token, mailbox limit, slot day, addressed devices, room on the disk, accept. A stranger can thus neither spend
 * a mailbox's budget nor learn whether it exists.
 *
 * Spec: docs/protocol.md "Relay interface".
 */
import { type Clock, dayOf } from "../../shared/clock.ts";
import { deliveryTokenInput } from "../../shared/crypto/token.ts";
import { idText } from "../../shared/ids.ts";
import { assertNever, err, ok, type Result } from "../../shared/result.ts";
import { parseUpload, type Upload } from "../../shared/wire/envelope.ts";
import { type Refusal, refusal } from "../../shared/wire/errors.ts";
import type { CheckedUpload } from "../store/items.ts";
import type { Accept, AcceptError, CopyResult } from "./accept.ts";
import {
  type Admission,
  type Admissions,
  expiryRefusal,
  invalidToken,
  type TokenClaim,
} from "./admission.ts";
import type { RateLimit } from "./rate-limit.ts";
import { storageRefusal, type StoragePressure } from "./storage-pressure.ts";

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
  readonly admissions: Admissions;
  readonly acceptFor: (account: string) => Accept;
  readonly addressLimit: RateLimit;
  readonly mailboxLimit: RateLimit;
  readonly originDigest: () => Uint8Array;
  readonly storage: Pick<StoragePressure, "isFull" | "noteFull">;
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
    const expiry = expiryRefusal(upload.tokenExpiryMs, options.clock.nowMs());
    if (expiry !== undefined) return err(expiry);
    const claim = claimOf(bytes, upload, options.originDigest());
    const account = idText(upload.accountMailbox);
    const admission = await options.admissions.admit(account, claim);
    // A retired key carries nothing but the smallest bucket.
    if (admission === undefined || (admission.isReserve && upload.bucket > 0)) {
      return err(invalidToken());
    }
    const busy = limitRefusal(options.mailboxLimit(account), "account mailbox");
    if (busy !== undefined) return err(busy);
    const flaw = dayRefusal(upload.day, options.clock.nowMs());
    if (flaw !== undefined) return err(flaw);
    const copies = copiesOf(upload);
    const judged = { account, claim, copies, admission };
    const confirmed = await confirm(options.admissions, judged);
    if (!confirmed.ok) return confirmed;
    return store(options, { ...judged, admission: confirmed.value }, upload);
  };
}

/** The refusal of a limit that asks to wait. Units: `waitMs`, 0 when there is no need to. */
export function limitRefusal(waitMs: number, whose: string): Refusal | undefined {
  if (waitMs === 0) return undefined;
  return refusal("rate-limited", `too many requests for this ${whose}: wait`, {
    retryAfterMs: waitMs,
  });
}

function claimOf(bytes: Uint8Array, upload: Upload, originDigest: Uint8Array): TokenClaim {
  const input = deliveryTokenInput(bytes, originDigest);
  return { keyKind: upload.keyKind, input, token: upload.token };
}

type Copies = CheckedUpload["copies"];

interface Judged {
  readonly account: string;
  readonly claim: TokenClaim;
  readonly copies: Copies;
  readonly admission: Admission;
}

function copiesOf({ entries }: Upload): Copies {
  return entries.map(({ mailbox, header }) => ({ mailbox: idText(mailbox), header }));
}

/** The admission, if it knows every addressed mailbox; otherwise what holds by a fresh look. */
async function confirm(
  admissions: Admissions,
  { account, claim, copies, admission }: Judged,
): Promise<Result<Admission, Refusal>> {
  if (strangersOf(copies, admission).length === 0) return ok(admission);
  const afresh = await admissions.admitAfresh(account, claim);
  if (afresh === undefined) return err(invalidToken());
  const strangers = strangersOf(copies, afresh);
  return strangers.length === 0 ? ok(afresh) : err(mismatch(strangers));
}

function strangersOf(copies: Copies, { recipient }: Admission): readonly string[] {
  const isKnown = (box: string): boolean =>
    recipient.mailboxes.some(({ mailbox }) => mailbox === box);
  return copies.flatMap(({ mailbox }) => (isKnown(mailbox) ? [] : [mailbox]));
}

function dayRefusal(day: number, nowMs: number): Refusal | undefined {
  const today = dayOf(nowMs);
  if (Math.abs(day - today) <= 1) return undefined;
  return refusal(
    "clock-skew",
    `slot day ${day}, expected ${today} give or take one: use the relay's time`,
  );
}

async function store(
  { storage, acceptFor }: SubmitOptions,
  { account, copies, admission: { recipient, invite, isReserve } }: Judged,
  upload: Upload,
): Promise<Result<Submitted, Refusal>> {
  if (storage.isFull()) return err(storageRefusal());
  const checked: CheckedUpload = {
    account: recipient.account,
    slot: idText(upload.slot),
    day: upload.day,
    bucket: upload.bucket,
    invite,
    isReserve,
    body: upload.body,
    copies,
  };
  const accepted = await acceptFor(account)(checked);
  if (!accepted.ok) {
    if (accepted.error.type === "storage-full") storage.noteFull();
    return err(acceptRefusal(accepted.error));
  }
  // At most 16 of each.
  const unaddressed = recipient.mailboxes.flatMap(({ mailbox, hasPrekey }) =>
    hasPrekey && !copies.some((copy) => copy.mailbox === mailbox) ? [mailbox] : [],
  );
  return ok({ results: accepted.value, unaddressed });
}

function acceptRefusal(error: AcceptError): Refusal {
  switch (error.type) {
    case "mailbox-gone":
      return mismatch(error.mailboxes);
    case "storage-full":
      return storageRefusal();
    case "overloaded":
      return refusal("overloaded", `${error.reason}: try again with the same slot`, {
        retryAfterMs: error.retryMs,
      });
    default:
      return assertNever(error);
  }
}

function mismatch(mailboxes: readonly string[]): Refusal {
  return refusal(
    "device-list-mismatch",
    "an addressed mailbox is not one of this account's devices: fetch the account's list again",
    { mailboxes },
  );
}
