/**
 * How the HTTP edge answers: every JSON reply carries the relay's time, every refusal has one form
 * and one status, and nothing of a request is ever echoed.
 *
 * Spec: docs/protocol.md "Refusals".
 */
import type { TypeBoxTypeProvider } from "@fastify/type-provider-typebox";
import type {
  FastifyBaseLogger,
  FastifyError,
  FastifyInstance,
  FastifyReply,
  FastifyRequest,
  RawServerDefault,
} from "fastify";
import type { IncomingMessage, ServerResponse } from "node:http";

import type { Clock } from "../../shared/clock.ts";
import { parseId } from "../../shared/ids.ts";
import { type Refusal, refusal, statusByRefusal } from "../../shared/wire/errors.ts";
import type { RefusalReply } from "../../shared/wire/http.ts";
import { databaseRefusal } from "../errors.ts";
import { failureCode } from "../store/failure.ts";

/** The server with schemas that type its requests. */
export type RelayHttp = FastifyInstance<
  RawServerDefault,
  IncomingMessage,
  ServerResponse,
  FastifyBaseLogger,
  TypeBoxTypeProvider
>;

/** What JSON answers are sent as. */
export const jsonType = "application/json; charset=utf-8";

/** Time as replies carry it. */
export function timeField(clock: Clock): { readonly time: string } {
  return { time: String(clock.nowMs()) };
}

/** A JSON answer, ready to be written. */
export interface JsonAnswer {
  readonly status: number;
  readonly text: string;
  /** Of the header. Units: s. */
  readonly retryAfter?: number;
}

/** What a refusal is answered with. `status` overrides the code's own where HTTP has a finer word. */
export function refusalAnswer(
  refused: Refusal,
  clock: Clock,
  status: number = statusByRefusal[refused.code],
): JsonAnswer {
  const body: RefusalReply = {
    error: refused.code,
    message: refused.message,
    ...timeField(clock),
    ...(refused.retryAfterMs === undefined ? {} : { retry_after_ms: refused.retryAfterMs }),
    ...(refused.mailboxes === undefined ? {} : { mailboxes: [...refused.mailboxes] }),
  };
  const answer = { status, text: JSON.stringify(body) };
  return refused.retryAfterMs === undefined
    ? answer
    : { ...answer, retryAfter: Math.ceil(refused.retryAfterMs / 1000) };
}

/** Sends an answer. */
export function sendAnswer(reply: FastifyReply, answer: JsonAnswer): FastifyReply {
  if (answer.retryAfter !== undefined) void reply.header("retry-after", answer.retryAfter);
  return reply.code(answer.status).type(jsonType).send(answer.text);
}

/** Answers with a refusal. `status` overrides the code's own where HTTP has a finer word. */
export function sendRefusal(
  reply: FastifyReply,
  clock: Clock,
  refused: Refusal,
  status?: number,
): FastifyReply {
  return sendAnswer(reply, refusalAnswer(refused, clock, status));
}

/** Bytes of a field whose schema checked alphabet and length; undefined when it is not canonical. */
export function fieldBytes(text: string, bytes: number): Uint8Array | undefined {
  const parsed = parseId(text, bytes);
  return parsed.ok ? parsed.value : undefined;
}

/**
 * What a request's rate is counted by: the address that it came from, or the /64 of an IPv6 one, since
 * whoever has one address there has them all.
 */
export function addressOf({ ip: from }: Pick<FastifyRequest, "ip">): string {
  const ip = from.startsWith("::ffff:") ? from.slice(7) : from;
  if (!ip.includes(":")) return ip;
  const [head = "", tail] = ip.split("::");
  const groups = head.split(":");
  const missing = tail === undefined ? 0 : 8 - groups.length - tail.split(":").length;
  return [...groups, ...Array<string>(Math.max(0, missing)).fill("0")].slice(0, 4).join(":");
}

/** Installs the answers to unknown routes and to everything that goes wrong before a handler, or in it. */
export function installRefusals(
  app: RelayHttp,
  clock: Clock,
  onFailure: (code: string) => void,
): void {
  app.setNotFoundHandler((_request, reply) =>
    sendRefusal(reply, clock, refusal("not-found", "no such path or method; see /v1/info")),
  );
  app.setErrorHandler<FastifyError>((error, _request, reply) => {
    const known = requestFlaw(error);
    if (known !== undefined) return sendRefusal(reply, clock, known.refusal, known.status);
    onFailure(failureCode(error));
    return sendRefusal(reply, clock, databaseRefusal());
  });
}

interface RequestFlaw {
  readonly refusal: Refusal;
  readonly status?: number;
}

function requestFlaw(error: FastifyError): RequestFlaw | undefined {
  if (error.validation !== undefined) return { refusal: validationRefusal(error) };
  const status = error.statusCode ?? 500;
  if (status === 413) {
    return { refusal: refusal("too-large", "the body is larger than this path takes") };
  }
  if (status === 415) {
    const message =
      "expected content-type application/json, or application/octet-stream where bytes are sent";
    return { refusal: refusal("malformed", message), status };
  }
  // The parser's own text quotes the body.
  const message = "expected a well-formed request: the body could not be read";
  return status >= 400 && status < 500 ? { refusal: refusal("malformed", message) } : undefined;
}

function validationRefusal(error: FastifyError): Refusal {
  const [first] = error.validation ?? [];
  const field = first?.instancePath === "" ? "" : ` ${first?.instancePath ?? ""}`;
  const problem = first?.message ?? "does not match the schema";
  return refusal("malformed", `${error.validationContext ?? "body"}${field}: ${problem}`);
}
