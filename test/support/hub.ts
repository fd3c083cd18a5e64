/**
 * A hub of model files on the loopback, as well or as badly behaved as a test wants it: ranges,
 * redirects, bodies that end early, stop, or are something else.
 */
import { createHash } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { Socket } from "node:net";

import type { CatalogueEntry } from "../../src/device/weights/catalogue.ts";

/** What the hub does with one request. `from` is where the asked range begins. */
export type HubAnswer = (request: HubRequest, response: ServerResponse) => void;

/** A request, as far as an answer depends on it. */
export interface HubRequest {
  readonly path: string;
  readonly from: number;
  /** Whether a range was asked for. */
  readonly ranged: boolean;
  readonly headers: IncomingMessage["headers"];
}

/** The hub. */
export interface Hub extends AsyncDisposable {
  readonly url: string;
  /** Requests so far, in order. */
  readonly requests: readonly HubRequest[];
  /** The next requests are answered so, one each; after them, well. */
  readonly next: (...answers: readonly HubAnswer[]) => void;
}

/** Starts a hub that has `content` under every path. */
export async function startHub(content: Uint8Array): Promise<Hub> {
  const requests: HubRequest[] = [];
  const queued: HubAnswer[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((incoming, response) => {
    const range = /^bytes=(\d+)-$/.exec(incoming.headers.range ?? "");
    const request: HubRequest = {
      path: incoming.url ?? "",
      from: Number(range?.[1] ?? 0),
      ranged: range !== null,
      headers: incoming.headers,
    };
    requests.push(request);
    (queued.shift() ?? whole(content))(request, response);
  });
  server.on("connection", (socket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (typeof address !== "object" || address === null) throw new Error("the hub has no port");
  return {
    url: `http://127.0.0.1:${address.port}/`,
    requests,
    next: (...answers) => void queued.push(...answers),
    [Symbol.asyncDispose]: async () => {
      const closed = new Promise((resolve) => server.close(resolve));
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}

/** Answers as a server with ranges does. */
export function whole(content: Uint8Array): HubAnswer {
  return ({ from, ranged }, response) => {
    if (from >= content.length) {
      response.writeHead(416, { "content-range": `bytes */${content.length}` }).end();
      return;
    }
    writeHead(response, content, ranged ? from : undefined);
    response.end(content.subarray(from));
  };
}

/** Sends so many bytes and then hangs up. */
export function cut(content: Uint8Array, bytes: number): HubAnswer {
  return ({ from, ranged }, response) => {
    writeHead(response, content, ranged ? from : undefined);
    response.write(content.subarray(from, from + bytes), () => response.destroy());
  };
}

/** Sends so many bytes and then nothing more. */
export function stall(content: Uint8Array, bytes: number): HubAnswer {
  return ({ from, ranged }, response) => {
    writeHead(response, content, ranged ? from : undefined);
    response.write(content.subarray(from, from + bytes));
  };
}

/** Answers with the whole file whatever range is asked for. */
export function withoutRanges(content: Uint8Array): HubAnswer {
  return (_request, response) => {
    writeHead(response, content, undefined);
    response.end(content);
  };
}

/** A bare answer. */
export function status(code: number, headers: Readonly<Record<string, string>> = {}): HubAnswer {
  return (_request, response) => void response.writeHead(code, headers).end();
}

/** A model of the catalogue that has this content. */
export function entryFor(content: Uint8Array): CatalogueEntry {
  return {
    name: "tiny",
    use: "chat",
    title: "a file for tests",
    file: "tiny.gguf",
    bytes: content.length,
    sha256: createHash("sha256").update(content).digest("hex"),
    licence: "none",
    memoryBytes: 0,
    tried: false,
    origin: { type: "hub", path: "someone/tiny/resolve/main/tiny.gguf" },
  };
}

function writeHead(response: ServerResponse, content: Uint8Array, from: number | undefined): void {
  if (from === undefined) {
    response.writeHead(200, { "content-length": content.length });
    return;
  }
  response.writeHead(206, {
    "content-length": content.length - from,
    "content-range": `bytes ${from}-${content.length - 1}/${content.length}`,
  });
}
