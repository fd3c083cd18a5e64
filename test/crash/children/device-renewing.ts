/**
 * A device in a process of its own that renews its account and kills itself with SIGKILL when it is about
 * to ask the relay, or the moment the relay has answered.
 *
 * Arguments: the device's folder, and "before" or "after".
 */
import { createDevice } from "../../../src/device/index.ts";
import { createRelayTransport } from "../../../src/device/transport/relay-client.ts";
import { systemClock } from "../../../src/shared/clock.ts";
import { systemRng } from "../../../src/shared/rng.ts";

const [dataDir, when] = process.argv.slice(2);
if (dataDir === undefined) throw new Error("expected the device's folder");

const real = createRelayTransport({ clock: systemClock, rng: systemRng });
const opened = await createDevice({
  dataDir,
  storeKey: { type: "passphrase", passphrase: "crash test" },
  delays: { echoMs: [0, 0], receiptMs: [0, 0] },
  transport: {
    ...real,
    renew: async (origin, request) => {
      if (when === "after") await real.renew(origin, request);
      process.kill(process.pid, "SIGKILL");
      return await real.renew(origin, request);
    },
  },
});
if (!opened.ok) throw new Error(opened.error.message);
const started = opened.value.start();
if (!started.ok) throw new Error(started.error.message);
const renewed = await opened.value.renewAccount({ remove: [] });
throw new Error(`expected to be dead, got ${JSON.stringify(renewed)}`);
