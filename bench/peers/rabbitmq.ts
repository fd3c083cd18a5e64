/**
 * RabbitMQ with quorum queues: what it confirms was synced to disk. One node with its own name,
 * folders and port mapper, so that it meets no other one on the machine.
 */
import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import path from "node:path";

import { findProgram, freePort, onPath, type Peer, peerFolder, startPeer } from "./peer.ts";

/** The peer. */
export const rabbitmq: Peer = {
  label: "RabbitMQ quorum queues with confirms",
  install: "apt install rabbitmq-server",
  start: async () => {
    // Debian's wrapper on PATH insists on its own user and folders; the script behind it does not.
    const program = findProgram(["/usr/lib/rabbitmq/bin/rabbitmq-server"]);
    const epmd = findProgram(onPath("epmd"));
    if (program === undefined || epmd === undefined) return undefined;
    const folder = peerFolder();
    const [port, distribution, mapper] = [await freePort(), await freePort(), await freePort()];
    const config = path.join(folder, "rabbitmq.conf");
    writeFileSync(config, `listeners.tcp.1 = 127.0.0.1:${port}\nloopback_users.guest = true\n`);
    writeFileSync(path.join(folder, "enabled_plugins"), "[].\n");
    const env = {
      RABBITMQ_NODENAME: `pixie${port}@localhost`,
      RABBITMQ_DIST_PORT: String(distribution),
      RABBITMQ_MNESIA_BASE: path.join(folder, "mnesia"),
      RABBITMQ_LOG_BASE: path.join(folder, "log"),
      RABBITMQ_CONFIG_FILE: config,
      RABBITMQ_ENABLED_PLUGINS_FILE: path.join(folder, "enabled_plugins"),
      RABBITMQ_CONF_ENV_FILE: path.join(folder, "none"),
      RABBITMQ_PID_FILE: path.join(folder, "pid"),
      ERL_EPMD_PORT: String(mapper),
      ERL_EPMD_ADDRESS: "127.0.0.1",
    };
    const stop = await startPeer({ program, words: [], env, port, folder }, async () => {
      // The port mapper is a daemon of its own, on a port of our own.
      execFileSync(epmd, ["-port", String(mapper), "-kill"], { stdio: "ignore", env });
    });
    return { target: { system: "amqp", port }, stop };
  },
};
