/**
 * Servers that a device meets in place of a well-behaved relay, and a log to wait on. Each server
 * listens on a free port of the loopback and closes with everything that it holds.
 */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { createServer as createTcpServer, type Server, type Socket } from "node:net";
import type { Duplex } from "node:stream";

/** A server under a test's control. */
export interface TestServer extends AsyncDisposable {
  readonly origin: string;
  /** Connections that were made, in all. */
  readonly connections: () => number;
}

/** Serves HTTP; `upgrade` takes over WebSocket upgrades, which are cut without it. */
export async function serveHttp(
  answer: (request: IncomingMessage, response: ServerResponse) => void,
  upgrade?: (request: IncomingMessage, socket: Duplex, head: Buffer) => void,
): Promise<TestServer> {
  const server = createServer(answer);
  if (upgrade !== undefined) server.on("upgrade", upgrade);
  return await listening(server);
}

/** Serves raw TCP. */
export async function serveTcp(answer: (socket: Socket) => void): Promise<TestServer> {
  return await listening(createTcpServer(answer));
}

/** An origin at which nothing listens. */
export async function deadOrigin(): Promise<string> {
  const server = await serveTcp((socket) => socket.destroy());
  await server[Symbol.asyncDispose]();
  return server.origin;
}

async function listening(server: Server): Promise<TestServer> {
  const sockets = new Set<Socket>();
  let connections = 0;
  server.on("connection", (socket: Socket) => {
    connections += 1;
    sockets.add(socket);
    socket.on("error", () => socket.destroy());
    socket.on("close", () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("not listening on TCP");
  return {
    origin: `http://127.0.0.1:${address.port}`,
    connections: () => connections,
    [Symbol.asyncDispose]: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => {
        server.close(resolve);
      });
    },
  };
}

/** What happened so far, and a way to wait for what must happen. */
export interface EventLog<T> {
  readonly items: readonly T[];
  readonly push: (item: T) => void;
  /** The first item, already there or to come, that matches. */
  readonly until: (matches: (item: T) => boolean) => Promise<T>;
}

/** An empty log. */
export function createEventLog<T>(): EventLog<T> {
  const items: T[] = [];
  const waiting = new Set<(item: T) => void>();
  return {
    items,
    push: (item) => {
      items.push(item);
      for (const wake of Array.from(waiting)) wake(item);
    },
    until: (matches) => {
      const there = items.find(matches);
      if (there !== undefined) return Promise.resolve(there);
      return new Promise((resolve) => {
        const wake = (item: T): void => {
          if (!matches(item)) return;
          waiting.delete(wake);
          resolve(item);
        };
        waiting.add(wake);
      });
    },
  };
}
