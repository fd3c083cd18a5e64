/**
 * One anonymous HTTP exchange with a relay: bounded in time and in bytes, never redirected. It moves
 * bytes and says why nothing came back; what a reply means is judged in `relay-replies.ts`.
 *
 * `fetch` keeps its own pool of connections, so nothing here ever shares one with the mailbox
 * WebSocket.
 *
 * Spec: docs/protocol.md "Metadata rules for the client", rule 1.
 */
import { concat } from "../../shared/bytes.ts";
import type { Clock } from "../../shared/clock.ts";
import { err, ok, type Result } from "../../shared/result.ts";
import type { TransportError } from "./port.ts";

/** What to ask. `maxReplyBytes` counts the decoded reply. */
export interface HttpRequest {
  readonly method: "GET" | "POST" | "PUT";
  readonly url: string;
  readonly contentType?: "application/json" | "application/octet-stream";
  readonly body?: Uint8Array | string;
  readonly maxReplyBytes: number;
}

/** A whole reply. `contentType` is the bare media type in lower case. */
export interface HttpReply {
  readonly status: number;
  readonly contentType: string;
  /** The Date header, one second exact; `undefined` without one. Units: ms. */
  readonly dateMs: number | undefined;
  readonly body: Uint8Array;
}

/** What an exchange needs from outside. `closed` aborts whatever is under way. */
export interface HttpBounds {
  readonly clock: Clock;
  readonly timeoutMs: number;
  readonly closed: AbortSignal;
}

/** Performs one exchange. Errors: `unreachable` nothing whole arrived, `protocol` a redirect or a flood. */
export async function exchange(
  request: HttpRequest,
  bounds: HttpBounds,
): Promise<Result<HttpReply, TransportError>> {
  if (bounds.closed.aborted) return unreachable("this device is closing");
  // One controller an exchange: AbortSignal.any would leave a trace on the long-lived signal each time.
  const ending = new AbortController();
  const end = (): void => ending.abort();
  let isLate = false;
  const cancel = bounds.clock.schedule(bounds.timeoutMs, () => {
    isLate = true;
    end();
  });
  bounds.closed.addEventListener("abort", end, { once: true });
  try {
    const response = await fetch(request.url, {
      method: request.method,
      redirect: "manual",
      signal: ending.signal,
      ...(request.contentType === undefined
        ? {}
        : { headers: { "content-type": request.contentType } }),
      ...(request.body === undefined ? {} : { body: bodyOf(request.body) }),
    });
    return await readReply(response, request.maxReplyBytes);
  } catch (error) {
    if (bounds.closed.aborted) return unreachable("this device is closing");
    if (isLate) {
      return unreachable(`no whole answer within ${bounds.timeoutMs / 1_000} s`);
    }
    return unreachable(networkReason(error));
  } finally {
    cancel();
    bounds.closed.removeEventListener("abort", end);
  }
}

async function readReply(
  response: Response,
  maxBytes: number,
): Promise<Result<HttpReply, TransportError>> {
  if (response.status >= 300 && response.status < 400) {
    await response.body?.cancel();
    return protocolError(
      `the address redirects (status ${response.status}); use the relay's own public URL`,
    );
  }
  const body = await readBounded(response, maxBytes);
  if (body === undefined) return protocolError(`a reply of over ${maxBytes} bytes`);
  const dateMs = Date.parse(response.headers.get("date") ?? "");
  return ok({
    status: response.status,
    contentType: mediaType(response.headers.get("content-type")),
    dateMs: Number.isNaN(dateMs) ? undefined : dateMs,
    body,
  });
}

async function readBounded(response: Response, maxBytes: number): Promise<Uint8Array | undefined> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  const reader = response.body?.getReader();
  if (reader === undefined) return new Uint8Array(0);
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return concat(...chunks);
    bytes += value.length;
    if (bytes > maxBytes) {
      await reader.cancel();
      return undefined;
    }
    chunks.push(value);
  }
}

// fetch wants bytes that no other thread can share; a view of ordinary memory passes as it is.
function bodyOf(body: Uint8Array | string): Uint8Array<ArrayBuffer> | string {
  if (typeof body === "string") return body;
  return body.buffer instanceof ArrayBuffer
    ? new Uint8Array(body.buffer, body.byteOffset, body.byteLength)
    : new Uint8Array(body);
}

function mediaType(header: string | null): string {
  return (header ?? "").split(";", 1)[0]?.trim().toLowerCase() ?? "";
}

/** What a failed connection means to a person. Never the address: logs must not hold it. */
export function networkReason(error: unknown): string {
  const code = errorCode(error);
  return reasonByCode.get(code) ?? `the connection failed (${code})`;
}

const reasonByCode = new Map([
  ["ECONNREFUSED", "nothing listens at the relay's address"],
  ["ECONNRESET", "the connection was cut"],
  ["UND_ERR_SOCKET", "the connection was cut"],
  ["ENOTFOUND", "the relay's name is not known; check the address and the network"],
  ["EAI_AGAIN", "the relay's name cannot be looked up; check the network"],
  ["ETIMEDOUT", "the relay's address does not answer"],
  ["UND_ERR_CONNECT_TIMEOUT", "the relay's address does not answer"],
  ["EHOSTUNREACH", "the relay's address cannot be reached"],
  ["ENETUNREACH", "there is no network to the relay"],
  ["CERT_HAS_EXPIRED", "the relay's certificate has expired"],
  ["DEPTH_ZERO_SELF_SIGNED_CERT", "the relay's certificate is not trusted (self-signed)"],
  ["ERR_TLS_CERT_ALTNAME_INVALID", "the relay's certificate is for another name"],
]);

function errorCode(error: unknown): string {
  if (!(error instanceof Error)) return "unknown";
  const { cause } = error;
  if (cause instanceof Error) return errorCode(cause);
  return "code" in error && typeof error.code === "string" ? error.code : error.name;
}

function unreachable(reason: string): { readonly ok: false; readonly error: TransportError } {
  return err({ type: "unreachable", reason });
}

function protocolError(reason: string): { readonly ok: false; readonly error: TransportError } {
  return err({ type: "protocol", reason });
}
