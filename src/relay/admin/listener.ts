/**
 * The operator's listener: metrics and health, apart from what clients reach, on loopback unless the
 * configuration says otherwise. It only ever reads, and shows nothing of anybody.
 *
 * A page in a browser may reach loopback by a name of its own (DNS rebinding), so a loopback listener
 * answers loopback names only (O15). Spec: docs/operating.md "Metrics".
 */
import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";

import { err, ok, type Result } from "../../shared/result.ts";

/** One answer. */
export interface AdminReply {
  readonly status: number;
  readonly type: string;
  readonly body: string;
}

/** How to listen. */
export interface AdminOptions {
  readonly host: string;
  /** 0 takes any free port. */
  readonly port: number;
  /** Whether only programs on this machine reach `host`. */
  readonly isLoopback: boolean;
  /** Answers to GET by path. None rejects. */
  readonly pages: ReadonlyMap<string, () => Promise<AdminReply>>;
}

/** It listens. */
export interface AdminListener {
  readonly url: string;
  readonly close: () => Promise<void>;
}

const loopbackName = /^(localhost|127(\.\d{1,3}){3}|\[::1\])(:\d+)?$/i;

/** Opens it. Errors: the address cannot be listened on. */
export async function openAdminListener(
  options: AdminOptions,
): Promise<Result<AdminListener, { readonly type: "listen"; readonly cause: unknown }>> {
  const { host, port } = options;
  const server = createServer((request, response) => void serve(options, request, response));
  try {
    server.listen({ host, port });
    await once(server, "listening");
  } catch (cause) {
    return err({ type: "listen", cause });
  }
  const name = host.includes(":") ? `[${host}]` : host;
  return ok({ url: `http://${name}:${boundPort(server)}`, close: () => close(server) });
}

async function serve(
  { isLoopback, pages }: AdminOptions,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { status, type, body } = await answer(pages, request, isLoopback);
  response.writeHead(status, { "content-type": type, "cache-control": "no-store" });
  response.end(request.method === "HEAD" ? undefined : body);
}

async function answer(
  pages: AdminOptions["pages"],
  { method, url = "", headers }: IncomingMessage,
  isLoopback: boolean,
): Promise<AdminReply> {
  if (isLoopback && !loopbackName.test(headers.host ?? "")) {
    return refuse(
      403,
      "the host header names another host, and on a loopback admin_host only 127.0.0.1, [::1] and localhost are answered: ask by one of these, or set admin_host to an address of this machine\n",
    );
  }
  const page = pages.get(url.split("?")[0] ?? "");
  if (page === undefined) return refuse(404, `the paths are ${[...pages.keys()].join(", ")}\n`);
  if (method !== "GET" && method !== "HEAD") return refuse(405, "expected GET\n");
  return page();
}

function refuse(status: number, body: string): AdminReply {
  return { status, type: "text/plain; charset=utf-8", body };
}

async function close(server: Server): Promise<void> {
  const closed = once(server, "close");
  server.close();
  server.closeAllConnections();
  await closed;
}

function boundPort(server: Server): number {
  const address = server.address();
  return address === null || typeof address === "string" ? 0 : address.port;
}
