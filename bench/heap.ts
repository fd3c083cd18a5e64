/**
 * The heap of another Node process after a full collection, through its inspector.
 *
 * Spec: Chrome DevTools Protocol, HeapProfiler.collectGarbage and Runtime.getHeapUsage.
 */
import { once } from "node:events";
import { WebSocket } from "ws";

interface Reply {
  readonly id?: number;
  readonly result?: { readonly usedSize?: number };
}

/** Bytes that live objects take. */
export async function heapBytes(inspectorUrl: string): Promise<number> {
  const socket = new WebSocket(inspectorUrl);
  await once(socket, "open");
  try {
    await call(socket, 1, "HeapProfiler.collectGarbage");
    await call(socket, 2, "HeapProfiler.collectGarbage");
    const usage = await call(socket, 3, "Runtime.getHeapUsage");
    if (usage.result?.usedSize === undefined) throw new Error("the inspector tells no heap usage");
    return usage.result.usedSize;
  } finally {
    socket.terminate();
  }
}

async function call(socket: WebSocket, id: number, method: string): Promise<Reply> {
  socket.send(JSON.stringify({ id, method }));
  for (;;) {
    const [data]: Buffer[] = await once(socket, "message");
    const reply: Reply = JSON.parse(String(data));
    if (reply.id === id) return reply;
  }
}
