/**
 * `GET /v1/openapi.json`: the HTTP interface as a document, made from the schemas that requests are
 * validated with. The mailbox connection is a WebSocket, which OpenAPI cannot say; its contract is
 * docs/protocol.md "The mailbox connection".
 */
import swagger from "@fastify/swagger";
import type { TSchema } from "typebox";

import { refusalReply } from "../../shared/wire/http.ts";
import { softwareVersion } from "../../shared/wire/version.ts";
import type { RelayHttp } from "./replies.ts";

const description =
  "A relay forwards sealed envelopes between devices. Anonymous requests are HTTP and described here; " +
  "a device's mailbox is one authenticated WebSocket at /v1/device, with a contract of its own. Bytes " +
  "in JSON are base64url without padding, 64-bit integers are decimal strings, times are milliseconds " +
  "since 1970 UTC by the relay's clock. Every refusal has the form of the 4XX answers.";

/** Collects the routes that are added after it. */
export async function collectRoutes(app: RelayHttp): Promise<void> {
  await app.register(swagger, {
    openapi: {
      openapi: "3.1.0",
      info: { title: "pixie relay", version: softwareVersion, description },
    },
  });
}

/** Adds the route that serves the document. */
export function registerOpenapi(app: RelayHttp): void {
  let text: string | undefined;
  app.get("/v1/openapi.json", { schema: { hide: true } }, async (_request, reply) => {
    text ??= JSON.stringify(app.swagger());
    return reply.type("application/json").send(text);
  });
}

/** The answers of a route: its own, and the one form of refusals. */
export function answers<T extends Readonly<Record<number, TSchema | RawAnswer>>>(
  own: T,
): T & { readonly "4xx": typeof refusalReply; readonly "5xx": typeof refusalReply } {
  return { ...own, "4xx": refusalReply, "5xx": refusalReply };
}

/** A body or an answer of raw bytes. */
export function raw<S extends TSchema>(
  schema: S,
): { readonly content: { readonly "application/octet-stream": { readonly schema: S } } } {
  return { content: { "application/octet-stream": { schema } } };
}

type RawAnswer = ReturnType<typeof raw>;
