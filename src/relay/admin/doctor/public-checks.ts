/**
 * The relay as its users reach it: a real device goes through name, TLS and proxy to the relay and
 * back, and what the proxy gets wrong is named with the line that puts it right.
 */
import { randomBytes } from "node:crypto";
import { lookup } from "node:dns/promises";

import { Value } from "typebox/value";

import type { Clock } from "../../../shared/clock.ts";
import { infoReply } from "../../../shared/wire/http.ts";
import { causeText } from "../../db/database-error.ts";
import { type Answer, ask, serverName } from "./ask.ts";
import { checkRoundTrip, type RoundTrip } from "./round-trip.ts";
import { failure, fine, type Finding, warning } from "./finding.ts";
import { proxyRemedy } from "./proxy-remedies.ts";

/** What to look at, and with what. */
export interface PublicOrder extends Omit<RoundTrip, "origin" | "server" | "relayNowMs"> {
  /** Where the relay itself listens on this machine. */
  readonly localUrl: string;
  /** Where metrics and probes are; undefined when its port is not known. */
  readonly adminUrl: string | undefined;
  readonly clock: Clock;
}

interface Info {
  readonly origin: string;
  readonly epoch: string;
  readonly time: string;
}

const maxSkewMs = 30_000;
const certificateDays = 14;
const dayMs = 86_400_000;
/** A documentation address, which nobody has: a relay that believes it believes anybody. */
const forgedAddress = "203.0.113.7";

/** Looks. Findings come in order; what cannot be looked at after a failure is left out. */
export async function checkPublic(order: PublicOrder): Promise<readonly Finding[]> {
  const { url } = order;
  const families = await checkFamilies(url);
  const answered = await ask(`${url}/v1/info`);
  if (!answered.ok) {
    const remedy =
      "check that the name leads to this machine, the proxy runs, and its certificate is valid for the name";
    return [...families, failure("reachable", answered.error, remedy)];
  }
  const info = parseInfo(answered.value);
  if (info === undefined) return [...families, notARelay(url, answered.value)];
  const server = serverName(answered.value.headers);
  const skewMs = Number(info.time) - order.clock.nowMs();
  return [
    ...families,
    fine("reachable", `${url}/v1/info answers`),
    checkTls(url, answered.value, order.clock.nowMs()),
    checkOrigin(url, info.origin),
    await checkOwnership(order, info.epoch),
    Math.abs(skewMs) <= maxSkewMs
      ? fine("relay clock", `${Math.abs(Math.round(skewMs))} ms from this machine's`)
      : failure(
          "relay clock",
          `${Math.round(skewMs / 1000)} s from this machine's`,
          "set both clocks (chrony, systemd-timesyncd): tokens and prekeys carry times",
        ),
    await checkAddress(order, server),
    ...(await checkRoundTrip({
      ...order,
      origin: info.origin,
      server,
      relayNowMs: () => order.clock.nowMs() + skewMs,
    })),
  ];
}

async function checkFamilies(url: string): Promise<readonly Finding[]> {
  const { hostname } = new URL(url);
  const name = hostname.replace(/^\[|\]$/g, "");
  try {
    const addresses = await lookup(name, { all: true });
    const families = [4, 6] as const;
    const asked = families.map(async (family) => {
      const check = `IPv${family}`;
      if (!addresses.some((each) => each.family === family)) {
        return fine(check, "no address: nobody connects that way");
      }
      const answered = await ask(`${url}/health/live`, { family });
      return answered.ok && answered.value.status === 200
        ? fine(check, "answers")
        : failure(
            check,
            answered.ok ? `HTTP ${answered.value.status}` : answered.error,
            `let the proxy listen on IPv${family}, or remove the ${family === 6 ? "AAAA" : "A"} record`,
          );
    });
    return await Promise.all(asked);
  } catch (cause) {
    return [failure("name", causeText(cause), `make an A or AAAA record for ${name}`)];
  }
}

function parseInfo({ status, text }: Answer): Info | undefined {
  if (status !== 200) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return Value.Check(infoReply, value) ? value : undefined;
  } catch {
    // Somebody's page.
    return undefined;
  }
}

function notARelay(url: string, { status, headers }: Answer): Finding {
  const found = `${url}/v1/info answers HTTP ${status}, and not as a relay does`;
  if (status >= 300 && status < 400) {
    return failure(
      "reachable",
      `${found}: it redirects to ${headers.location ?? "nowhere"}`,
      "use that address as public_url, or do not redirect",
    );
  }
  return failure(
    "reachable",
    found,
    status === 502 || status === 504
      ? "the proxy does not reach the relay: check that it runs and which port the proxy asks"
      : "let the proxy pass every path below / to the relay",
  );
}

function checkTls(url: string, { certificateEndsMs }: Answer, nowMs: number): Finding {
  if (certificateEndsMs === undefined) {
    return /^http:\/\/(localhost|127\.|\[::1\])/.test(url)
      ? fine("TLS", "none, on this machine")
      : failure(
          "TLS",
          "none",
          "put a proxy with a certificate before the relay: devices refuse http to other machines",
        );
  }
  const days = Math.floor((certificateEndsMs - nowMs) / dayMs);
  return days >= certificateDays
    ? fine("TLS", `valid for ${days} days`)
    : warning(
        "TLS",
        `ends in ${days} days`,
        "renew the certificate; look why it was not renewed by itself",
      );
}

function checkOrigin(url: string, origin: string): Finding {
  return origin === new URL(url).origin
    ? fine("public_url", origin)
    : failure(
        "public_url",
        `the relay calls itself ${origin}`,
        `public_url = "${new URL(url).origin}"\nAccounts that are there signed the old one: change it before anybody registers.`,
      );
}

async function checkOwnership({ localUrl }: PublicOrder, epoch: string): Promise<Finding> {
  const local = await ask(`${localUrl}/v1/info`);
  const own = local.ok ? parseInfo(local.value) : undefined;
  if (own === undefined) {
    return warning(
      "ownership",
      `no relay answers at ${localUrl} on this machine, so it cannot be compared`,
      "run the doctor where the relay runs, with its configuration",
    );
  }
  return own.epoch === epoch
    ? fine("ownership", "it is the relay of this machine")
    : failure(
        "ownership",
        "another relay answers there",
        "the name or the proxy leads to another relay: check both",
      );
}

async function checkAddress(order: PublicOrder, server: string | undefined): Promise<Finding> {
  const check = "client address";
  const { url, adminUrl } = order;
  const remedy = "admin_port = 9470    # a fixed one, so that the doctor finds it";
  if (adminUrl === undefined)
    return warning(check, "admin_port is 0, so it cannot be looked up", remedy);
  const mark = randomBytes(8).toString("hex");
  // From an address of its own on loopback, where proxy and doctor would otherwise have the same one.
  const loopback = /^https?:\/\/(localhost|127\.)/.test(url) && process.platform === "linux";
  const asked = await ask(`${url}/v1/info`, {
    headers: { "pixie-probe": mark, "x-forwarded-for": forgedAddress },
    ...(loopback ? { localAddress: "127.0.0.77", family: 4 } : {}),
  });
  const seen = await ask(`${adminUrl}/probes`);
  if (!asked.ok || !seen.ok) return warning(check, `cannot be looked up at ${adminUrl}`, remedy);
  const address = new RegExp(`"${mark}":"([^"]+)"`).exec(seen.value.text)?.[1];
  const from = asked.value.localAddress;
  if (address === undefined)
    return warning(
      check,
      "the relay did not see the question",
      "the name leads to another relay, or a cache answered: do not cache /v1/",
    );
  if (address === forgedAddress) {
    return failure(
      check,
      "the relay believes any address that a client claims",
      `${proxyRemedy("address", server)}\nand trusted_proxies only the proxy's own network`,
    );
  }
  if (address === from) return fine(check, `${address}, as it is`);
  if (/^(127\.|::1$|::ffff:127\.)/.test(address)) {
    return failure(
      check,
      `every client looks like ${address}, the proxy: all share one rate limit`,
      `trusted_proxies = ["127.0.0.0/8", "::1/128"]\n${proxyRemedy("address", server)}`,
    );
  }
  return fine(check, `${address}: right if that is how this machine looks from outside`);
}
