/**
 * `POST /v1/bundles`: an account's device lists and prekeys, against a token, so that only those who
 * may write to an account learn which devices it has.
 *
 * Spec: docs/protocol.md "Tokens", "Bundles".
 */
import { type Clock, dayMs, dayOf } from "../../shared/clock.ts";
import { bundleTokenInput } from "../../shared/crypto/token.ts";
import { toBase64Url } from "../../shared/bytes.ts";
import { err, ok, type Result } from "../../shared/result.ts";
import { type Refusal, refusal } from "../../shared/wire/errors.ts";
import { parseU64 } from "../../shared/wire/fields.ts";
import { type BundleRequest, bundleReply, bundleRequest } from "../../shared/wire/http.ts";
import { type Admit, expiryRefusal, invalidToken, type TokenClaim } from "../delivery/admission.ts";
import type { RateLimit } from "../delivery/rate-limit.ts";
import { limitRefusal } from "../delivery/submit.ts";
import type { Bundle } from "../store/accounts.ts";
import { answers } from "./openapi.ts";
import { addressOf, fieldBytes, type RelayHttp, sendRefusal, timeField } from "./replies.ts";

/** What serving bundles acts through. */
export interface BundlePorts {
  readonly admit: Admit;
  /** Takes one of the day's requests by retired access keys, if one is left. */
  readonly takeReserve: (account: string, day: number) => Promise<boolean>;
  readonly readBundle: (account: string, since: number) => Promise<Bundle>;
  readonly addressLimit: RateLimit;
  readonly mailboxLimit: RateLimit;
  readonly originDigest: () => Uint8Array;
  readonly clock: Clock;
}

/** Adds the route. */
export function registerBundles(app: RelayHttp, ports: BundlePorts): void {
  app.post(
    "/v1/bundles",
    {
      schema: {
        summary: "device lists and prekeys of an account, against a token",
        body: bundleRequest,
        response: answers({ 200: bundleReply }),
      },
    },
    async (request, reply) => {
      const refuse = (refused: Refusal) => sendRefusal(reply, ports.clock, refused);
      const claim = claimOf(request.body, ports.originDigest());
      if (!claim.ok) return refuse(claim.error);
      const limited = limitRefusal(ports.addressLimit(addressOf(request)), "address");
      if (limited !== undefined) return refuse(limited);
      const expiry = expiryRefusal(claim.value.expiryMs, ports.clock.nowMs());
      if (expiry !== undefined) return refuse(expiry);
      const account = request.body.account_mailbox;
      const admission = await ports.admit(account, claim.value);
      if (admission === undefined) return refuse(invalidToken());
      const busy = limitRefusal(ports.mailboxLimit(account), "account mailbox");
      if (busy !== undefined) return refuse(busy);
      if (admission.isReserve) {
        const spent = await reserveRefusal(ports, account);
        if (spent !== undefined) return refuse(spent);
      }
      const { lists, prekeys } = await ports.readBundle(account, request.body.since);
      return {
        ...timeField(ports.clock),
        device_lists: lists.map(toBase64Url),
        prekeys: prekeys.map(toBase64Url),
      };
    },
  );
}

async function reserveRefusal(
  { takeReserve, clock }: BundlePorts,
  account: string,
): Promise<Refusal | undefined> {
  const day = dayOf(clock.nowMs());
  if (await takeReserve(account, day)) return undefined;
  const message = "the day's bundle requests with replaced access keys are used up: wait";
  const retryAfterMs = (day + 1) * dayMs - clock.nowMs();
  return refusal("rate-limited", message, { retryAfterMs });
}

function claimOf(
  body: BundleRequest,
  originDigest: Uint8Array,
): Result<TokenClaim & { readonly expiryMs: bigint }, Refusal> {
  const accountMailbox = fieldBytes(body.account_mailbox, 16);
  const token = fieldBytes(body.token, 32);
  const expiry = parseU64(body.token_expiry);
  if (!accountMailbox || !token || !expiry.ok) {
    return err(refusal("malformed", "a field is not canonical base64url, or no u64"));
  }
  const claim = {
    accountMailbox,
    keyKind: body.key_kind,
    since: body.since,
    expiryMs: expiry.value,
  };
  return ok({
    keyKind: body.key_kind,
    input: bundleTokenInput(claim, originDigest),
    token,
    expiryMs: expiry.value,
  });
}
