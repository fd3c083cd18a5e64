/**
 * NATS JetStream with `sync_interval: always`: what it acknowledges was synced to disk.
 */
import { writeFileSync } from "node:fs";
import { homedir } from "node:os";
import path from "node:path";

import { findProgram, freePort, onPath, type Peer, peerFolder, startPeer } from "./peer.ts";

/** The peer. */
export const nats: Peer = {
  label: "NATS JetStream, sync_interval always",
  install: "go install github.com/nats-io/nats-server/v2@latest",
  start: async () => {
    const goFolder = process.env["GOBIN"] ?? path.join(homedir(), "go", "bin");
    const program = findProgram([...onPath("nats-server"), path.join(goFolder, "nats-server")]);
    if (program === undefined) return undefined;
    const folder = peerFolder();
    const port = await freePort();
    const config = path.join(folder, "nats.conf");
    writeFileSync(
      config,
      `listen: "127.0.0.1:${port}"\njetstream { store_dir: "${folder}/store", sync_interval: always }\n`,
    );
    const stop = await startPeer({ program, words: ["-c", config], port, folder });
    return { target: { system: "nats", port }, stop };
  },
};
