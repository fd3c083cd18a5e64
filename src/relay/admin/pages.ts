/**
 * What the operator's listener shows: the metrics, and the same health as clients see.
 */
import type { Clock } from "../../shared/clock.ts";
import type { Metrics } from "../metrics.ts";
import type { AdminReply } from "./listener.ts";

/** Where pages get their content. */
export interface PagePorts {
  readonly scrape: () => ReturnType<Metrics["scrape"]>;
  readonly readiness: () => Promise<{ readonly status: string; readonly reason?: string }>;
  /** Marks of the doctor, and the address that each came from. */
  readonly probes: () => Readonly<Record<string, string>>;
  readonly clock: Clock;
}

/** The pages by path. */
export function adminPages(ports: PagePorts): ReadonlyMap<string, () => Promise<AdminReply>> {
  const json = (status: number, fields: Readonly<Record<string, string>>): AdminReply => ({
    status,
    type: "application/json",
    body: JSON.stringify({ ...fields, time: String(ports.clock.nowMs()) }),
  });
  return new Map([
    [
      "/metrics",
      async () => {
        const { text, type } = await ports.scrape();
        return { status: 200, type, body: text };
      },
    ],
    ["/probes", async () => json(200, ports.probes())],
    ["/health/live", async () => json(200, { status: "ok" })],
    [
      "/health/ready",
      async () => {
        const readiness = await ports.readiness();
        return json(readiness.status === "unavailable" ? 503 : 200, { ...readiness });
      },
    ],
  ]);
}
