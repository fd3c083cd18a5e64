/**
 * The way out through an HTTP proxy, as HTTPS_PROXY, HTTP_PROXY, ALL_PROXY and NO_PROXY say; Node asks
 * none of them by itself. It opens connections and knows nothing of what is fetched over them.
 *
 * Spec: RFC 9110, CONNECT; the variables have no standard, this follows curl.
 */
import { request as httpRequest } from "node:http";
import type { Socket } from "node:net";
import { connect as tlsConnect } from "node:tls";

import { ok, type Result } from "../../shared/result.ts";
import { weightsError, type WeightsError } from "./weights-error.ts";

/** The settings of a process. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** The proxy for that address; `undefined` to go directly. Errors: the setting names no HTTP proxy. */
export function proxyFor(url: URL, env: Environment): Result<URL | undefined, WeightsError> {
  const named = (name: string): string | undefined => env[name.toLowerCase()] ?? env[name];
  if (isExempt(url, named("NO_PROXY") ?? "")) return ok(undefined);
  const wanted = named(url.protocol === "https:" ? "HTTPS_PROXY" : "HTTP_PROXY");
  const setting = wanted ?? named("ALL_PROXY") ?? "";
  if (setting === "") return ok(undefined);
  const address = setting.includes("://") ? setting : `http://${setting}`;
  const proxy = URL.canParse(address) ? new URL(address) : undefined;
  if (proxy?.protocol === "http:") return ok(proxy);
  return weightsError(
    "refused",
    `expected the proxy setting to be http://host:port, got ${proxy === undefined ? "no address" : proxy.protocol}: change HTTPS_PROXY, HTTP_PROXY or ALL_PROXY`,
  );
}

function isExempt(url: URL, list: string): boolean {
  return list
    .split(",")
    .map((entry) =>
      entry
        .trim()
        .replace(/^\*?\./, "")
        .toLowerCase(),
    )
    .filter((entry) => entry !== "")
    .some((entry) => {
      if (entry === "*") return true;
      const [host = "", port] = entry.split(":");
      if (port !== undefined && port !== portOf(url)) return false;
      return url.hostname === host || url.hostname.endsWith(`.${host}`);
    });
}

/** What a proxy is told about whoever uses it. */
export function proxyHeaders(proxy: URL): Readonly<Record<string, string>> {
  if (proxy.username === "") return {};
  const login = `${decodeURIComponent(proxy.username)}:${decodeURIComponent(proxy.password)}`;
  return { "proxy-authorization": `Basic ${Buffer.from(login).toString("base64")}` };
}

/** An encrypted connection to the address through the proxy. Rejects where the proxy refuses. */
export function tunnel(proxy: URL, url: URL, signal: AbortSignal): Promise<Socket> {
  const target = `${url.hostname}:${portOf(url)}`;
  return new Promise((resolve, reject) => {
    const request = httpRequest({
      host: proxy.hostname,
      port: proxy.port === "" ? 80 : Number(proxy.port),
      method: "CONNECT",
      path: target,
      headers: { host: target, ...proxyHeaders(proxy) },
      agent: false,
      signal,
    });
    request.once("connect", (response, socket) => {
      if (response.statusCode === 200) {
        resolve(tlsConnect({ socket, servername: url.hostname }));
        return;
      }
      socket.destroy();
      reject(new Error(`the proxy ${proxy.host} answered ${response.statusCode} to ${target}`));
    });
    request.once("error", reject);
    request.end();
  });
}

function portOf(url: URL): string {
  if (url.port !== "") return url.port;
  return url.protocol === "https:" ? "443" : "80";
}
