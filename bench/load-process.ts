/**
 * The sending side of relay benches, in a process of its own: posts prepared uploads over HTTP
 * keep-alive connections, one at a time on each, and measures every reply.
 *
 * It reads replies just well enough to know status and end; a full HTTP client would measure itself.
 */
import { connect, type Socket } from "node:net";

/** What it is given. */
export interface LoadOrder {
  readonly port: number;
  readonly connections: number;
  readonly uploads: readonly Uint8Array[];
}

/** What it found. Units: ms. */
export interface LoadReport {
  readonly elapsedMs: number;
  readonly latenciesMs: readonly number[];
  /** Replies other than 202, by status. */
  readonly failures: Readonly<Record<string, number>>;
}

async function send(order: LoadOrder): Promise<LoadReport> {
  const latenciesMs: number[] = [];
  const failures: Record<string, number> = {};
  let next = 0;
  const startMs = performance.now();
  const sender = async (): Promise<void> => {
    const socket = connect(order.port, "127.0.0.1");
    socket.setNoDelay(true);
    for (let upload = order.uploads[next++]; upload !== undefined; upload = order.uploads[next++]) {
      const sentMs = performance.now();
      const status = await exchange(socket, upload);
      latenciesMs.push(performance.now() - sentMs);
      if (status !== "202") failures[status] = (failures[status] ?? 0) + 1;
    }
    socket.destroy();
  };
  await Promise.all(Array.from({ length: order.connections }, sender));
  return { elapsedMs: performance.now() - startMs, latenciesMs, failures };
}

function exchange(socket: Socket, upload: Uint8Array): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = "";
    const read = (chunk: Buffer): void => {
      text += chunk.toString("latin1");
      const end = text.indexOf("\r\n\r\n");
      const length = /content-length: (\d+)/i.exec(text)?.[1];
      if (end === -1 || length === undefined || text.length < end + 4 + Number(length)) return;
      socket.off("data", read);
      socket.off("error", reject);
      resolve(text.slice(9, 12));
    };
    socket.on("data", read);
    socket.once("error", reject);
    const head = `POST /v1/envelopes HTTP/1.1\r\nhost: relay\r\ncontent-type: application/octet-stream\r\ncontent-length: ${upload.length}\r\n\r\n`;
    socket.write(Buffer.concat([Buffer.from(head, "latin1"), upload]));
  });
}

const answer = async (order: LoadOrder): Promise<void> => {
  process.send?.(await send(order));
};
process.on("message", (order: LoadOrder) => void answer(order));
process.send?.("ready");
