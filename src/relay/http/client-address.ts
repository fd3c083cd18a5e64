/**
 * Where a request came from, read before the framework: by the address of its socket, or as trusted
 * proxies tell. The library is the one that the framework itself reads forwarded headers with, so both
 * say the same of a request.
 */
import proxyAddress from "@fastify/proxy-addr";
import type { IncomingMessage } from "node:http";

import { addressOf } from "./replies.ts";

/** What a request's rate is counted by; see `addressOf` of replies.ts. */
export type ClientAddress = (request: IncomingMessage) => string;

/** Builds the reading. `trustedProxies`: networks whose forwarded client address is believed. */
export function createClientAddress(trustedProxies: readonly string[]): ClientAddress {
  if (trustedProxies.length === 0) {
    return ({ socket }) => addressOf({ ip: socket.remoteAddress ?? "" });
  }
  const trust = proxyAddress.compile([...trustedProxies]);
  return (request) => addressOf({ ip: proxyAddress(request, trust) });
}
