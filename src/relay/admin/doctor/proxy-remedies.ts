/**
 * The exact lines that a reverse proxy needs, by fault and proxy. The same lines stand in deploy/,
 * which a test runs through real proxies.
 */

/** What a proxy gets wrong. */
export type ProxyFault = "upgrade" | "idle" | "body" | "address";

const linesByFault: Readonly<Record<ProxyFault, Readonly<Record<string, string>>>> = {
  upgrade: {
    nginx:
      'proxy_http_version 1.1;\nproxy_set_header Upgrade $http_upgrade;\nproxy_set_header Connection "upgrade";',
    caddy:
      "reverse_proxy 127.0.0.1:7470    # passes upgrades by itself: look for a matcher that sends /v1/device elsewhere",
    traefik:
      "passHostHeader: true            # passes upgrades by itself: look for a middleware that buffers or removes headers",
  },
  idle: {
    nginx: "proxy_read_timeout 1h;\nproxy_send_timeout 1h;",
    caddy:
      "servers { timeouts { idle 1h } }  # and no read_timeout or write_timeout in the transport",
    traefik: "entryPoints.<name>.transport.respondingTimeouts: { readTimeout: 0, idleTimeout: 1h }",
  },
  body: {
    nginx: "client_max_body_size 1m;",
    caddy: "request_body { max_size 1MB }",
    traefik: "remove the buffering middleware, or give it maxRequestBodyBytes: 1048576",
  },
  address: {
    nginx: "proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;",
    caddy: "reverse_proxy sets X-Forwarded-For by itself: remove a header_up that changes it",
    traefik: "entryPoints.<name>.forwardedHeaders.trustedIPs: []   # and no insecure: true",
  },
};

/** The lines for the proxy that the `server` header names, or for each one when it names none. */
export function proxyRemedy(fault: ProxyFault, serverHeader: string | undefined): string {
  const byProxy = linesByFault[fault];
  const named = Object.keys(byProxy).find((name) => serverHeader?.toLowerCase().includes(name));
  const shown = named === undefined ? Object.keys(byProxy) : [named];
  return shown.map((name) => `in ${name}:\n${byProxy[name] ?? ""}`).join("\n");
}
