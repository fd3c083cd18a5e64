/**
 * A device's transport and the HTTP servers that it meets in one test. The mailbox connection has
 * scripted-mailbox.ts, whose workbench keeps and closes everything here, too.
 */
import type { RelayTransport } from "../../../src/device/transport/port.ts";
import { createRelayTransport } from "../../../src/device/transport/relay-client.ts";
import { systemClock } from "../../../src/shared/clock.ts";
import { seededRng } from "../../support/seeded-rng.ts";
import type { TestServer } from "./misbehaving.ts";
import { createWorkbench, type Workbench } from "./scripted-mailbox.ts";

/** Opens what a test needs, and closes it afterwards. Call `closeAll` after each test. */
export interface HttpBench extends Pick<Workbench, "keep" | "serving" | "closeAll"> {
  readonly transport: () => RelayTransport;
  /** Gives every request the same JSON answer. */
  readonly jsonServer: (status: number, body: unknown) => Promise<TestServer>;
}

/** An empty bench. */
export function createHttpBench(): HttpBench {
  const { keep, serving, closeAll } = createWorkbench();
  return {
    keep,
    serving,
    closeAll,
    transport: () => keep(createRelayTransport({ clock: systemClock, rng: seededRng("http") })),
    jsonServer: (status, body) =>
      serving((_request, response) => {
        response.writeHead(status, { "content-type": "application/json; charset=utf-8" });
        response.end(JSON.stringify(body));
      }),
  };
}

/** Bytes to upload; no server here looks at them. */
export const upload = new Uint8Array([1, 2, 3]);
