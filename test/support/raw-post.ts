/**
 * POST requests over a few kept connections, without a client library's care: the body is whatever it
 * is. Tens of thousands of them in seconds.
 */
import { Agent, request } from "node:http";

/** What one relay is sent. */
export interface RawPoster extends Disposable {
  /** Resolves with the status. Rejects when the relay ends the connection without an answer. */
  readonly post: (path: string, contentType: string, body: Uint8Array) => Promise<number>;
}

/** Connections at a time. */
const postersAtOnce = 8;

/** Opens connections to a relay. */
export function createRawPoster(url: string): RawPoster {
  const agent = new Agent({ keepAlive: true, maxSockets: postersAtOnce });
  const { hostname, port } = new URL(url);
  return {
    post: (path, contentType, body) =>
      new Promise((resolve, reject) => {
        const headers = { "content-type": contentType, "content-length": body.length };
        const sent = request({ agent, hostname, port, path, method: "POST", headers }, (reply) => {
          reply.on("error", reject);
          reply.on("end", () => resolve(reply.statusCode ?? 0));
          reply.resume();
        });
        sent.on("error", reject);
        sent.end(body);
      }),
    [Symbol.dispose]: () => agent.destroy(),
  };
}

/** Runs `work` for 0 to `count` − 1, a few at a time. */
export async function spread(
  count: number,
  work: (index: number) => Promise<void>,
  atOnce = postersAtOnce,
): Promise<void> {
  let next = 0;
  const lane = async (): Promise<void> => {
    while (next < count) {
      const index = next;
      next += 1;
      await work(index);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, lane));
}
