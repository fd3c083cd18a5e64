/**
 * `PUT` and `GET /v1/rendezvous/{id}?box=1…4`: write-once boxes for linking. The relay sees sealed
 * bytes and an id that only two devices can derive.
 *
 * Spec: docs/protocol.md "Rendezvous".
 */
import type { Clock } from "../../shared/clock.ts";
import { maxRendezvousBytes } from "../../shared/limits.ts";
import { refusal } from "../../shared/wire/errors.ts";
import {
  boxBytes,
  rendezvousParams,
  rendezvousQuery,
  rendezvousReply,
} from "../../shared/wire/http.ts";
import type { RateLimit } from "../delivery/rate-limit.ts";
import { storageRefusal, type StoragePressure } from "../delivery/storage-pressure.ts";
import { limitRefusal } from "../delivery/submit.ts";
import type { BoxName } from "../store/rendezvous.ts";
import { answers, raw } from "./openapi.ts";
import { addressOf, fieldBytes, type RelayHttp, sendRefusal, timeField } from "./replies.ts";

/** What the boxes act through. */
export interface RendezvousPorts {
  readonly put: (name: BoxName, content: Uint8Array) => Promise<"stored" | "taken" | "full">;
  readonly read: (name: BoxName) => Promise<Uint8Array | undefined>;
  readonly storage: Pick<StoragePressure, "isFull">;
  readonly addressLimit: RateLimit;
  readonly clock: Clock;
}

const box = { params: rendezvousParams, querystring: rendezvousQuery };
const putSchema = {
  ...box,
  summary: "write a box, once",
  body: raw(boxBytes),
  response: answers({ 201: rendezvousReply }),
};
const getSchema = {
  ...box,
  summary: "read a box, until its ten minutes are over",
  response: answers({ 200: raw(boxBytes) }),
};
const path = "/v1/rendezvous/:id";

/** Adds the routes. */
export function registerRendezvous(app: RelayHttp, ports: RendezvousPorts): void {
  const { clock } = ports;
  const notCanonical = refusal("malformed", "id: expected 16 bytes as canonical base64url");

  app.put(path, { schema: putSchema, bodyLimit: maxRendezvousBytes }, async (request, reply) => {
    const { id } = request.params;
    if (!fieldBytes(id, 16)) return sendRefusal(reply, clock, notCanonical);
    const content = request.body;
    if (!Buffer.isBuffer(content) || content.length === 0) {
      const message = "expected 1 to 16384 bytes as application/octet-stream";
      return sendRefusal(reply, clock, refusal("malformed", message));
    }
    const limited = limitRefusal(ports.addressLimit(addressOf(request)), "address");
    if (limited !== undefined) return sendRefusal(reply, clock, limited);
    if (ports.storage.isFull()) return sendRefusal(reply, clock, storageRefusal());
    const outcome = await ports.put({ id, box: Number(request.query.box) }, content);
    if (outcome === "stored") return reply.code(201).send(timeField(clock));
    const refused =
      outcome === "taken"
        ? refusal("conflict", "this box was written already; a box is written once")
        : refusal("overloaded", "too many linkings are going on: try again", {
            retryAfterMs: 60_000,
          });
    return sendRefusal(reply, clock, refused);
  });

  app.get(path, { schema: getSchema }, async (request, reply) => {
    const { id } = request.params;
    if (!fieldBytes(id, 16)) return sendRefusal(reply, clock, notCanonical);
    const limited = limitRefusal(ports.addressLimit(addressOf(request)), "address");
    if (limited !== undefined) return sendRefusal(reply, clock, limited);
    const content = await ports.read({ id, box: Number(request.query.box) });
    if (content === undefined) {
      const message = "this box is empty, or its ten minutes are over";
      return sendRefusal(reply, clock, refusal("not-found", message));
    }
    return reply.type("application/octet-stream").send(content);
  });
}
