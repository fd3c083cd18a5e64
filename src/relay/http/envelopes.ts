/**
 * `POST /v1/envelopes`: one upload as bytes, answered after the commit.
 *
 * Thin: what happens to an upload is delivery/submit.ts.
 */
import type { Clock } from "../../shared/clock.ts";
import { maxUploadBytes } from "../../shared/limits.ts";
import { refusal } from "../../shared/wire/errors.ts";
import { type EnvelopeReply, envelopeReply, uploadBytes } from "../../shared/wire/http.ts";
import type { Submit } from "../delivery/submit.ts";
import { answers, raw } from "./openapi.ts";
import { addressOf, type RelayHttp, sendRefusal, timeField } from "./replies.ts";

/** Adds the route. */
export function registerEnvelopes(app: RelayHttp, submit: Submit, clock: Clock): void {
  const schema = {
    summary: "send one upload; answered after a durable commit",
    body: raw(uploadBytes),
    response: answers({ 202: envelopeReply }),
  };
  app.post("/v1/envelopes", { schema, bodyLimit: maxUploadBytes }, async (request, reply) => {
    if (!Buffer.isBuffer(request.body)) {
      const message = "expected one upload as application/octet-stream";
      return sendRefusal(reply, clock, refusal("malformed", message), 415);
    }
    const submitted = await submit(request.body, addressOf(request));
    if (!submitted.ok) return sendRefusal(reply, clock, submitted.error);
    const { results, unaddressed } = submitted.value;
    const body: EnvelopeReply = {
      ...timeField(clock),
      results: [...results],
      unaddressed: [...unaddressed],
    };
    return reply.code(202).send(body);
  });
}
