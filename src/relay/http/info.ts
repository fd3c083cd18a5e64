/**
 * `GET /v1/info`, `/health/live`, `/health/ready`: what anybody may know of this relay.
 *
 * Live says that the process answers, ready that its database does, and whether its disk has room; a
 * balancer acts on the second.
 */
import type { Clock } from "../../shared/clock.ts";
import {
  maxDevices,
  maxQueuedBytes,
  maxQueuedItems,
  maxRendezvousBytes,
  maxUploadBytes,
  protocolVersion,
  retentionDays,
} from "../../shared/limits.ts";
import { type HealthReply, healthReply, infoReply } from "../../shared/wire/http.ts";
import { softwareVersion } from "../../shared/wire/version.ts";
import { type RelayHttp, timeField } from "./replies.ts";

/** By which the doctor recognises its own question. */
const probeHeader = "pixie-probe";

/** What the relay says of itself. */
export interface InfoPorts {
  readonly epoch: string;
  readonly origin: () => string;
  readonly registration: "open" | "codes";
  readonly contact: string | undefined;
  /** How the relay stands. Never rejects. */
  readonly readiness: () => Promise<Omit<HealthReply, "time">>;
  /** Told of a request that bears a mark, and where it came from. */
  readonly probed: (mark: string, address: string) => void;
  readonly clock: Clock;
}

/** Adds the routes. */
export function registerInfo(app: RelayHttp, ports: InfoPorts): void {
  app.get(
    "/v1/info",
    { schema: { summary: "what this relay is", response: { 200: infoReply } } },
    async ({ headers, ip }) => {
      const mark = headers[probeHeader];
      if (typeof mark === "string") ports.probed(mark, ip);
      return {
        name: "pixie-relay" as const,
        version: softwareVersion,
        protocol: protocolVersion,
        origin: ports.origin(),
        epoch: ports.epoch,
        ...timeField(ports.clock),
        retention_days: retentionDays,
        registration: ports.registration,
        ...(ports.contact === undefined ? {} : { contact: ports.contact }),
        limits: {
          upload_bytes: maxUploadBytes,
          devices: maxDevices,
          queued_items: maxQueuedItems,
          queued_bytes: maxQueuedBytes,
          rendezvous_bytes: maxRendezvousBytes,
        },
      };
    },
  );

  app.get(
    "/health/live",
    { schema: { summary: "whether the process answers", response: { 200: healthReply } } },
    async () => ({
      status: "ok" as const,
      ...timeField(ports.clock),
    }),
  );

  const schema = {
    summary: "whether its database does, too",
    response: { 200: healthReply, 503: healthReply },
  };
  app.get("/health/ready", { schema }, async (_request, reply) => {
    const readiness = await ports.readiness();
    const status = readiness.status === "unavailable" ? 503 : 200;
    return reply.code(status).send({ ...readiness, ...timeField(ports.clock) });
  });
}
