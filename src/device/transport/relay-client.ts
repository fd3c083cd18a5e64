/**
 * The transport that real devices use: anonymous HTTP through `fetch`, and the mailbox connection
 * over WebSocket. It owns deadlines, bounds and connections; it holds no key and gives no payload a
 * meaning.
 *
 * Flow: the pump, identity and linking ask through the port; replies are parsed against the schemas
 * that the relay serves.
 *
 * Spec: docs/protocol.md "Relay interface".
 */
import type { Static, TSchema } from "typebox";
import type { Clock } from "../../shared/clock.ts";
import { maxRendezvousBytes } from "../../shared/limits.ts";
import { err, ok } from "../../shared/result.ts";
import type { Rng } from "../../shared/rng.ts";
import {
  bundleReply,
  envelopeReply,
  infoReply,
  recoverBeginReply,
  registerReply,
  rendezvousReply,
} from "../../shared/wire/http.ts";
import { exchange, type HttpBounds, type HttpRequest } from "./http-exchange.ts";
import { openMailboxConnection } from "./mailbox-connection.ts";
import type {
  Answered,
  MailboxConnection,
  MailboxEvents,
  MailboxIdentity,
  RelayTransport,
} from "./port.ts";
import { parseAnswer, parseRefusal } from "./relay-replies.ts";

/** What the transport is built from. */
export interface RelayTransportOptions {
  readonly clock: Clock;
  readonly rng: Rng;
  /** Longest wait for one whole HTTP answer. The relay's own commit deadline is well inside it. */
  readonly requestTimeoutMs?: number;
}

const defaultTimeoutMs = 30_000;
/** Ordinary replies are a few hundred bytes; a refusal names at most 16 mailboxes. */
const maxReplyBytes = 65_536;
/** A whole chain: some 1,500 versions of a list with two devices, or 150 of the largest. */
const maxBundleReplyBytes = 4 * 1_048_576;

/** Builds the transport. Closing it ends every connection and request that it started. */
export function createRelayTransport(options: RelayTransportOptions): RelayTransport {
  const closing = new AbortController();
  const bounds: HttpBounds = {
    clock: options.clock,
    timeoutMs: options.requestTimeoutMs ?? defaultTimeoutMs,
    closed: closing.signal,
  };
  const mailboxes = new Set<MailboxConnection>();
  const info: RelayTransport["info"] = (origin) =>
    ask({ method: "GET", url: address(origin, "/v1/info"), maxReplyBytes }, infoReply, bounds);

  return {
    info,
    upload: (origin, upload) =>
      ask(
        {
          method: "POST",
          url: address(origin, "/v1/envelopes"),
          contentType: "application/octet-stream",
          body: upload,
          maxReplyBytes,
        },
        envelopeReply,
        bounds,
      ),
    fetchBundle: (origin, request) =>
      ask(
        { ...json(origin, "/v1/bundles", request), maxReplyBytes: maxBundleReplyBytes },
        bundleReply,
        bounds,
      ),
    register: (origin, request) =>
      ask(json(origin, "/v1/accounts", request), registerReply, bounds),
    ...recovering(bounds),
    putBox: (origin, id, box, content) => putBox(boxAddress(origin, id, box), content, bounds),
    getBox: (origin, id, box) => getBox(boxAddress(origin, id, box), bounds),
    openMailbox: (identity: MailboxIdentity, events: MailboxEvents) => {
      const connection: MailboxConnection = openMailboxConnection({
        clock: options.clock,
        rng: options.rng,
        identity,
        events,
        answersHttp: async () => (await info(identity.relayOrigin)).ok,
        onClosed: () => mailboxes.delete(connection),
      });
      mailboxes.add(connection);
      return connection;
    },
    [Symbol.asyncDispose]: async () => {
      closing.abort();
      await Promise.all(Array.from(mailboxes, (connection) => connection.close()));
    },
  };
}

function recovering(
  bounds: HttpBounds,
): Pick<RelayTransport, "recoverBegin" | "recover" | "renew"> {
  return {
    recoverBegin: (origin, request) => {
      const asked = json(origin, "/v1/accounts/recover/begin", request);
      return ask({ ...asked, maxReplyBytes: maxBundleReplyBytes }, recoverBeginReply, bounds);
    },
    recover: (origin, request) =>
      ask(json(origin, "/v1/accounts/recover", request), registerReply, bounds),
    renew: (origin, request) =>
      ask(json(origin, "/v1/accounts/renew", request), registerReply, bounds),
  };
}

async function ask<S extends TSchema>(
  request: HttpRequest,
  schema: S,
  bounds: HttpBounds,
): Answered<Static<S>> {
  const reply = await exchange(request, bounds);
  return reply.ok ? parseAnswer(reply.value, schema) : reply;
}

async function putBox(url: string, content: Uint8Array, bounds: HttpBounds): Answered<undefined> {
  const request = {
    method: "PUT",
    url,
    contentType: "application/octet-stream",
    body: content,
    maxReplyBytes,
  } as const;
  const answer = await ask(request, rendezvousReply, bounds);
  return answer.ok ? ok({ reply: undefined, relayTimeMs: answer.value.relayTimeMs }) : answer;
}

async function getBox(url: string, bounds: HttpBounds): Answered<Uint8Array | undefined> {
  const reply = await exchange({ method: "GET", url, maxReplyBytes }, bounds);
  if (!reply.ok) return reply;
  const { status, contentType, body, dateMs } = reply.value;
  if (status === 200 && contentType === "application/octet-stream") {
    if (body.length > maxRendezvousBytes) {
      return err({
        type: "protocol",
        reason: `a box of ${body.length} bytes, expected ${maxRendezvousBytes} at most`,
      });
    }
    // A box is raw bytes and carries no relay time of its own; the Date header is a second exact.
    return ok({ reply: body, relayTimeMs: dateMs ?? bounds.clock.nowMs() });
  }
  const error = parseRefusal(reply.value);
  if (error.type === "refused" && error.refusal.code === "not-found") {
    return ok({ reply: undefined, relayTimeMs: error.relayTimeMs ?? bounds.clock.nowMs() });
  }
  return err(error);
}

function json(origin: string, path: string, body: object): HttpRequest {
  return {
    method: "POST",
    url: address(origin, path),
    contentType: "application/json",
    body: JSON.stringify(body),
    maxReplyBytes,
  };
}

function boxAddress(origin: string, id: string, box: number): string {
  return address(origin, `/v1/rendezvous/${encodeURIComponent(id)}?box=${box}`);
}

function address(origin: string, path: string): string {
  return new URL(path, origin).href;
}
