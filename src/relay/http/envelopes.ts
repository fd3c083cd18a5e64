/**
 * `POST /v1/envelopes`: one upload as bytes, answered after the commit.
 *
 * Thin: what happens to an upload is delivery/submit.ts. Most of them never come to the framework's route
 * but by direct-uploads.ts, with the same answer.
 */
import type { Clock } from "../../shared/clock.ts";
import { maxUploadBytes } from "../../shared/limits.ts";
import { refusal } from "../../shared/wire/errors.ts";
import { type EnvelopeReply, envelopeReply, uploadBytes } from "../../shared/wire/http.ts";
import type { Submit, Submitted } from "../delivery/submit.ts";
import { databaseRefusal } from "../errors.ts";
import { failureCode } from "../store/failure.ts";
import type { ClientAddress } from "./client-address.ts";
import { takeUploadsDirectly } from "./direct-uploads.ts";
import { answers, raw } from "./openapi.ts";
import {
  addressOf,
  type JsonAnswer,
  refusalAnswer,
  type RelayHttp,
  sendAnswer,
  sendRefusal,
  timeField,
} from "./replies.ts";

/** What the path acts through. */
export interface EnvelopePorts {
  readonly submit: Submit;
  readonly clientAddress: ClientAddress;
  readonly onFailure: (code: string) => void;
  readonly clock: Clock;
}

const path = "/v1/envelopes";

/** Adds the route. */
export function registerEnvelopes(app: RelayHttp, ports: EnvelopePorts): void {
  const { submit, clientAddress, onFailure, clock } = ports;
  const answer = async (bytes: Buffer, address: string): Promise<JsonAnswer> => {
    try {
      const submitted = await submit(bytes, address);
      return submitted.ok
        ? acceptedAnswer(submitted.value, clock)
        : refusalAnswer(submitted.error, clock);
    } catch (cause) {
      onFailure(failureCode(cause));
      return refusalAnswer(databaseRefusal(), clock);
    }
  };
  const schema = {
    summary: "send one upload; answered after a durable commit",
    body: raw(uploadBytes),
    response: answers({ 202: envelopeReply }),
  };
  app.post(path, { schema, bodyLimit: maxUploadBytes }, async (request, reply) => {
    if (!Buffer.isBuffer(request.body)) {
      const message = "expected one upload as application/octet-stream";
      return sendRefusal(reply, clock, refusal("malformed", message), 415);
    }
    return sendAnswer(reply, await answer(request.body, addressOf(request)));
  });
  takeUploadsDirectly(app, { path, answer, clientAddress });
}

function acceptedAnswer({ results, unaddressed }: Submitted, clock: Clock): JsonAnswer {
  const body: EnvelopeReply = {
    ...timeField(clock),
    results: [...results],
    unaddressed: [...unaddressed],
  };
  return { status: 202, text: JSON.stringify(body) };
}
