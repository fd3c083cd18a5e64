/**
 * What a relay's HTTP reply means: an answer of the expected form, a typed refusal, a proxy that
 * speaks in the relay's place, or something that is no pixie relay. Untrusted bytes are parsed here,
 * once and whole.
 *
 * Spec: docs/protocol.md "Relay interface", "Refusals".
 */
import type { Static, TSchema } from "typebox";
import { Value } from "typebox/value";
import { parseUtf8 } from "../../shared/bytes.ts";
import { err, ok, type Result } from "../../shared/result.ts";
import { type Refusal, refusal } from "../../shared/wire/errors.ts";
import { timeFromText } from "../../shared/wire/fields.ts";
import { refusalReply } from "../../shared/wire/http.ts";
import type { HttpReply } from "./http-exchange.ts";
import type { Answer, TransportError } from "./port.ts";

/** Parses a reply that must have that schema; every schema of the relay carries `time`. */
export function parseAnswer<S extends TSchema>(
  reply: HttpReply,
  schema: S,
): Result<Answer<Static<S>>, TransportError> {
  if (reply.status < 200 || reply.status > 299) return err(parseRefusal(reply));
  const json = parseJson(reply);
  if (json === undefined || !Value.Check(schema, json)) return err(noRelay(reply));
  const relayTimeMs = timeOf(json);
  return relayTimeMs === undefined ? err(noRelay(reply)) : ok({ reply: json, relayTimeMs });
}

/** Parses a reply that refuses, or says who answered instead of the relay. */
export function parseRefusal(reply: HttpReply): TransportError {
  const json = parseJson(reply);
  if (json !== undefined && Value.Check(refusalReply, json)) {
    return { type: "refused", refusal: refusalOf(json), relayTimeMs: timeFromText(json.time) };
  }
  // A gateway error says that the relay itself was not reached: the same bytes may be sent again.
  if (reply.status >= 502 && reply.status <= 504) {
    return {
      type: "unreachable",
      reason: `a proxy answered ${reply.status} in the relay's place`,
    };
  }
  return noRelay(reply);
}

function refusalOf(json: Static<typeof refusalReply>): Refusal {
  return refusal(json.error, json.message, {
    ...(json.retry_after_ms === undefined ? {} : { retryAfterMs: json.retry_after_ms }),
    ...(json.mailboxes === undefined ? {} : { mailboxes: json.mailboxes }),
  });
}

function noRelay(reply: HttpReply): TransportError {
  const kind = reply.contentType === "" ? "no content type" : reply.contentType;
  return {
    type: "protocol",
    reason:
      `what answers (status ${reply.status}, ${kind}) is no pixie relay of this version; ` +
      "check the relay's address, or update pixie",
  };
}

function parseJson(reply: HttpReply): unknown {
  if (reply.contentType !== "application/json") return undefined;
  const text = parseUtf8(reply.body);
  if (!text.ok) return undefined;
  try {
    return JSON.parse(text.value);
  } catch {
    return undefined;
  }
}

function timeOf(json: unknown): number | undefined {
  if (typeof json !== "object" || json === null || !("time" in json)) return undefined;
  return typeof json.time === "string" ? timeFromText(json.time) : undefined;
}
