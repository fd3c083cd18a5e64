/**
 * Opens a file of a web server from some byte on: redirects, proxies, and a body that must not stop.
 * It tells what is worth another try and what is not; trying again and keeping bytes is download.ts.
 *
 * Spec: RFC 9110, range requests.
 */
import { type IncomingMessage, request as httpRequest, type RequestOptions } from "node:http";
import { request as httpsRequest } from "node:https";

import type { Clock } from "../../shared/clock.ts";
import { type Environment, proxyFor, proxyHeaders, tunnel } from "./proxy.ts";

/** How to reach servers. */
export interface Route {
  readonly env: Environment;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** A server that sends nothing for so long is given up. */
  readonly stallMs: number;
}

/** What a server answered. */
export type Opened =
  | {
      readonly type: "body";
      /** Where the bytes begin: what was asked for, or 0 where the server knows no ranges. */
      readonly startsAt: number;
      /** Size of the whole file, where the server says it. Units: bytes. */
      readonly totalBytes: number | undefined;
      readonly chunks: AsyncIterable<Uint8Array>;
    }
  /** There is no such byte: what is held already is as long as the file or longer. */
  | { readonly type: "past-the-end" }
  | Trouble;

/** Nothing came. `again` says whether it may be different in a moment. */
export interface Trouble {
  readonly type: "trouble";
  readonly again: boolean;
  readonly message: string;
}

const maxRedirects = 5;

/** Opens it. Never rejects, except where `chunks` is read and the server falls silent or hangs up. */
export async function openRemoteFile(url: URL, fromByte: number, route: Route): Promise<Opened> {
  let at = url;
  for (let redirects = 0; redirects <= maxRedirects; redirects++) {
    const response = await ask(at, fromByte, route);
    if ("type" in response) return response;
    const { statusCode = 0, headers } = response;
    if (![301, 302, 303, 307, 308].includes(statusCode)) {
      return answerOf(at, response, fromByte, route);
    }
    response.destroy();
    const next = headers.location ?? "";
    if (!URL.canParse(next, at.href)) return final(`${at.host} redirects to no address`);
    const to = new URL(next, at);
    if (to.protocol !== "https:" && to.protocol !== at.protocol) {
      return final(`${at.host} redirects to ${to.protocol}, which is not encrypted`);
    }
    at = to;
  }
  return final(`${url.host} redirects more than ${maxRedirects} times`);
}

/** Something that another try does not change. */
export function final(message: string): Trouble {
  return { type: "trouble", again: false, message };
}

function answerOf(url: URL, response: IncomingMessage, fromByte: number, route: Route): Opened {
  const { statusCode = 0 } = response;
  if (statusCode === 200 || statusCode === 206) {
    const { startsAt, totalBytes } = extentOf(response);
    if (startsAt === 0 || startsAt === fromByte) {
      return { type: "body", startsAt, totalBytes, chunks: watched(response, route) };
    }
    response.destroy();
    return final(`${url.host} sent another range than it was asked for`);
  }
  response.destroy();
  if (statusCode === 416) return { type: "past-the-end" };
  const again = statusCode === 408 || statusCode === 429 || statusCode >= 500;
  return { type: "trouble", again, message: `${url.host} answered ${statusCode}` };
}

/** Where a body begins and how long the whole file is; a range that says neither begins nowhere. */
function extentOf({ statusCode, headers }: IncomingMessage): {
  readonly startsAt: number;
  readonly totalBytes: number | undefined;
} {
  if (statusCode === 200) return { startsAt: 0, totalBytes: sizeOf(headers["content-length"]) };
  const range = /^bytes (\d+)-\d+\/(\d+|\*)$/.exec(headers["content-range"] ?? "");
  return { startsAt: Number(range?.[1] ?? Number.NaN), totalBytes: sizeOf(range?.[2]) };
}

/** The body, given up where nothing comes for too long. */
async function* watched(response: IncomingMessage, route: Route): AsyncGenerator<Uint8Array> {
  const giveUp = (): void => void response.destroy(new Error(silence(route)));
  let cancel = route.clock.schedule(route.stallMs, giveUp);
  try {
    for await (const chunk of response) {
      cancel();
      if (chunk instanceof Uint8Array) yield chunk;
      cancel = route.clock.schedule(route.stallMs, giveUp);
    }
  } finally {
    cancel();
    response.destroy();
  }
}

async function ask(url: URL, fromByte: number, route: Route): Promise<IncomingMessage | Trouble> {
  const proxy = proxyFor(url, route.env);
  if (!proxy.ok) return final(proxy.error.message);
  try {
    return await sendRequest(url, proxy.value, fromByte, route);
  } catch (cause) {
    if (!(cause instanceof Error)) throw cause;
    return { type: "trouble", again: true, message: `${url.host}: ${cause.message}` };
  }
}

async function sendRequest(
  url: URL,
  proxy: URL | undefined,
  fromByte: number,
  route: Route,
): Promise<IncomingMessage> {
  const { signal } = route;
  const headers = {
    "user-agent": "pixie",
    "accept-encoding": "identity",
    ...(fromByte > 0 ? { range: `bytes=${fromByte}-` } : {}),
  };
  const options: RequestOptions = { method: "GET", headers, agent: false, signal };
  if (url.protocol === "https:") {
    const socket = proxy === undefined ? undefined : await tunnel(proxy, url, signal);
    const through = socket === undefined ? {} : { createConnection: () => socket };
    return await responseOf(httpsRequest(url, { ...options, ...through }), route);
  }
  if (proxy === undefined) return await responseOf(httpRequest(url, options), route);
  const forwarded = {
    ...options,
    host: proxy.hostname,
    port: proxy.port,
    path: url.href,
    headers: { ...headers, host: url.host, ...proxyHeaders(proxy) },
  };
  return await responseOf(httpRequest(forwarded), route);
}

function responseOf(
  request: ReturnType<typeof httpRequest>,
  route: Route,
): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const cancel = route.clock.schedule(route.stallMs, () => {
      request.destroy(new Error(silence(route)));
    });
    request.once("response", (response) => {
      cancel();
      resolve(response);
    });
    request.once("error", (cause) => {
      cancel();
      reject(cause);
    });
    request.end();
  });
}

function silence({ stallMs }: Route): string {
  return `nothing came for ${stallMs / 1_000} s`;
}

function sizeOf(text = "*"): number | undefined {
  return text === "*" ? undefined : Number(text);
}
