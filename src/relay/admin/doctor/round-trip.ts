/**
 * A device's whole way: connect (registering first where the account is new), the largest upload in,
 * the same out again and acknowledged, and a long silence.
 */
import { ask } from "./ask.ts";
import { connectDoctor, type ConnectionFault, type DoctorConnection } from "./connection-check.ts";
import { type DoctorAccount, doctorAccount } from "./doctor-account.ts";
import { failure, fine, type Finding } from "./finding.ts";
import { proxyRemedy } from "./proxy-remedies.ts";

/** What the trip needs. */
export interface RoundTrip {
  /** As clients write it. */
  readonly url: string;
  /** What the relay calls itself, which devices sign. */
  readonly origin: string;
  /** The proxy's `server` header. */
  readonly server: string | undefined;
  /** Of the doctor's account. */
  readonly secret: Uint8Array;
  /** A registration code, where one is needed. */
  readonly code: string | undefined;
  /** Units: ms. */
  readonly idleMs: number;
  readonly relayNowMs: () => number;
}

/** Makes the trip. */
export async function checkRoundTrip(trip: RoundTrip): Promise<readonly Finding[]> {
  const account = doctorAccount(trip.secret, trip.origin);
  const first = await connectDoctor(trip.url, account);
  if (first.ok) return converse(trip, account, first.value);
  if (first.error.type !== "unknown-device") return [connectionFinding(trip, first.error)];
  const refused = await register(trip, account);
  if (refused !== undefined) return [refused];
  const second = await connectDoctor(trip.url, account);
  return second.ok
    ? converse(trip, account, second.value)
    : [connectionFinding(trip, second.error)];
}

async function register(trip: RoundTrip, account: DoctorAccount): Promise<Finding | undefined> {
  const registration = account.registration(trip.relayNowMs(), trip.code);
  const asked = await ask(`${trip.url}/v1/accounts`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(registration),
  });
  if (asked.ok && asked.value.status === 201) return undefined;
  const found = asked.ok
    ? `HTTP ${asked.value.status} ${errorCode(asked.value.text)}`
    : asked.error;
  return failure(
    "account",
    `the doctor's device cannot register (${found})`,
    found.includes("registration-closed")
      ? "pixie relay invite create --uses 1, and give that code with --code"
      : "let the proxy pass POST /v1/accounts with a JSON body of 64 kB",
  );
}

async function converse(
  trip: RoundTrip,
  account: DoctorAccount,
  connection: DoctorConnection,
): Promise<readonly Finding[]> {
  try {
    const connected = fine("connection", "a device connected and proved who it is");
    return [
      connected,
      ...(await checkLargest(trip, account, connection)),
      await checkIdle(trip, connection),
    ];
  } finally {
    connection.close();
  }
}

async function checkLargest(
  trip: RoundTrip,
  account: DoctorAccount,
  connection: DoctorConnection,
): Promise<readonly Finding[]> {
  const largest = account.upload("largest", trip.relayNowMs());
  const size = `${Math.ceil(largest.length / 1000)} kB`;
  const sent = await post(trip.url, largest);
  if (sent === "accepted") {
    const missing = await connection.takeItem();
    return [
      fine("body limit", `an upload of ${size} passes`),
      missing === undefined
        ? fine("delivery", "it came back on the connection and was acknowledged")
        : failure("delivery", missing, "let the proxy pass WebSocket frames of 300 kB"),
    ];
  }
  // Proxies say 413, 502 or nothing at all to a body that is too large; a small one tells.
  const small = await post(trip.url, account.upload("smallest", trip.relayNowMs()));
  if (small !== "accepted") {
    const advice = "docs/protocol.md explains each refusal; look at the relay's log and metrics";
    return [failure("upload", small, advice)];
  }
  await connection.takeItem();
  const found = `an upload of ${size} is cut off (${sent}), a small one passes`;
  return [failure("body limit", found, proxyRemedy("body", trip.server))];
}

/** Sends an upload; why it was not accepted, else "accepted". */
async function post(url: string, body: Uint8Array): Promise<string> {
  const headers = { "content-type": "application/octet-stream" };
  const sent = await ask(`${url}/v1/envelopes`, { method: "POST", headers, body });
  if (!sent.ok) return sent.error;
  const { status, text } = sent.value;
  return status === 202 ? "accepted" : `HTTP ${status} ${errorCode(text)}`;
}

async function checkIdle(
  { idleMs, server }: RoundTrip,
  connection: DoctorConnection,
): Promise<Finding> {
  const { cut, lastedMs, pings } = await connection.idle(idleMs);
  const seconds = Math.round(lastedMs / 1000);
  return cut === undefined
    ? fine("idle", `the connection was quiet for ${seconds} s and lives (${pings} pings)`)
    : failure(
        "idle",
        `a quiet connection was cut after ${seconds} s (${cut})`,
        proxyRemedy("idle", server),
      );
}

function connectionFinding({ server }: RoundTrip, fault: ConnectionFault): Finding {
  if (fault.type === "upgrade") {
    const found = `the upgrade to WebSocket failed (${fault.reason})`;
    return failure("connection", found, proxyRemedy("upgrade", fault.server ?? server));
  }
  const found = fault.type === "conversation" ? fault.reason : "the relay does not know the device";
  return failure(
    "connection",
    found,
    "look at the relay's log; check public_url, which devices sign",
  );
}

function errorCode(text: string): string {
  const code = /"error":"([a-z-]+)"/.exec(text)?.[1];
  return code ?? "without a refusal of the relay, so from the proxy";
}
