/**
 * Mosquitto, QoS 1. It puts nothing on disk before it acknowledges: what is lost in a crash is the
 * price of its speed, so it is a landmark and no peer.
 */
import { writeFileSync } from "node:fs";
import path from "node:path";

import { findProgram, freePort, onPath, type Peer, peerFolder, startPeer } from "./peer.ts";

/** The peer. */
export const mosquitto: Peer = {
  label: "mosquitto QoS 1, nothing on disk",
  install: "apt install mosquitto",
  start: async () => {
    const program = findProgram([...onPath("mosquitto"), "/usr/sbin/mosquitto"]);
    if (program === undefined) return undefined;
    const folder = peerFolder();
    const port = await freePort();
    const config = path.join(folder, "mosquitto.conf");
    writeFileSync(
      config,
      `listener ${port} 127.0.0.1\nallow_anonymous true\npersistence false\nmax_inflight_messages 256\nmax_queued_messages 0\n`,
    );
    const stop = await startPeer({ program, words: ["-c", config], port, folder });
    return { target: { system: "mqtt", port }, stop };
  },
};
