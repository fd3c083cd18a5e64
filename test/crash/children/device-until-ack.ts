/**
 * A device in a process of its own that dies between its journal and its acknowledgement: the
 * moment it would acknowledge a delivery, it kills itself with SIGKILL.
 *
 * Arguments: the device's folder. Prints "started" once its mailbox is connected.
 */
import { createDevice } from "../../../src/device/index.ts";
import { createRelayTransport } from "../../../src/device/transport/relay-client.ts";
import { systemClock } from "../../../src/shared/clock.ts";
import { systemRng } from "../../../src/shared/rng.ts";

const [dataDir] = process.argv.slice(2);
if (dataDir === undefined) throw new Error("expected the device's folder");

const real = createRelayTransport({ clock: systemClock, rng: systemRng });
const opened = await createDevice({
  dataDir,
  storeKey: { type: "passphrase", passphrase: "crash test" },
  delays: { echoMs: [0, 0], receiptMs: [0, 0] },
  transport: {
    ...real,
    openMailbox: (identity, events) => {
      const mailbox = real.openMailbox(identity, events);
      return {
        state: () => mailbox.state(),
        request: (request) => mailbox.request(request),
        acknowledge: () => process.kill(process.pid, "SIGKILL"),
        close: () => mailbox.close(),
        [Symbol.asyncDispose]: () => mailbox.close(),
      };
    },
  },
});
if (!opened.ok) throw new Error(opened.error.message);
const started = opened.value.start();
if (!started.ok) throw new Error(started.error.message);
process.stdout.write("started\n");
// Stays until it kills itself; the test has a bound.
setInterval(() => {}, 60_000);
