/**
 * The HTTP server without its routes: parsers, validation, refusals, WebSocket upgrade.
 *
 * The framework's own log stays off: it writes addresses and paths. Compression of WebSocket frames
 * is off: ciphertext does not compress, and it holds 239 KB per connection.
 */
import websocket from "@fastify/websocket";
import { type TypeBoxTypeProvider, TypeBoxValidatorCompiler } from "@fastify/type-provider-typebox";
import Fastify from "fastify";

import type { Clock } from "../../shared/clock.ts";
import { collectRoutes } from "./openapi.ts";
import { installRefusals, type RelayHttp } from "./replies.ts";

/** How the server is built. */
export interface HttpServerOptions {
  /** Networks whose forwarded client address is believed. */
  readonly trustedProxies: readonly string[];
  readonly maxFrameBytes: number;
  /** Ends the open WebSockets; runs before the listener closes. */
  readonly closeSockets: () => Promise<void>;
  readonly clock: Clock;
  readonly onFailure: (code: string) => void;
}

/** JSON bodies: a registration with a full list is the largest. Units: bytes. */
const maxJsonBytes = 65_536;
/** Time to send a whole request. Units: ms. */
const requestTimeoutMs = 60_000;
/** Above the idle time of common proxies, so that they and not we end idle connections. Units: ms. */
const keepAliveMs = 75_000;

/** Builds the server. It does not listen yet. */
export async function createHttpServer(options: HttpServerOptions): Promise<RelayHttp> {
  const app = Fastify({
    logger: false,
    bodyLimit: maxJsonBytes,
    requestTimeout: requestTimeoutMs,
    keepAliveTimeout: keepAliveMs,
    forceCloseConnections: "idle",
    // What arrives on a connection already open is still answered while draining.
    return503OnClosing: false,
    trustProxy: options.trustedProxies.length > 0 ? [...options.trustedProxies] : false,
  }).withTypeProvider<TypeBoxTypeProvider>();
  // Raw bytes are parsed by who takes them; there is nothing that a JSON schema could check.
  app.setValidatorCompiler((route) =>
    isRaw(route.schema) ? () => true : TypeBoxValidatorCompiler(route),
  );
  app.addContentTypeParser(
    "application/octet-stream",
    { parseAs: "buffer" },
    (_request, body, done) => done(null, body),
  );
  // Plain text would otherwise be parsed for a browser that sends no preflight.
  app.removeContentTypeParser("text/plain");
  installRefusals(app, options.clock, options.onFailure);
  await collectRoutes(app);
  await app.register(websocket, {
    options: { maxPayload: options.maxFrameBytes, perMessageDeflate: false, clientTracking: false },
    // The plugin takes no upgrades from here on, and its own way would cut the sockets that are open.
    preClose: options.closeSockets,
  });
  return app;
}

function isRaw(schema: unknown): boolean {
  return (
    typeof schema === "object" &&
    schema !== null &&
    "format" in schema &&
    schema.format === "binary"
  );
}
