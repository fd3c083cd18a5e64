/**
 * A device in a process of its own that works for its siblings, until it is killed. With "dies" it kills
 * itself with SIGKILL the moment a question of theirs has begun.
 *
 * Arguments: the device's folder, and "dies" or "lives". Prints "serving" once it does.
 */
import { createDevice } from "../../../src/device/index.ts";

const [dataDir, fate] = process.argv.slice(2);
if (dataDir === undefined) throw new Error("expected the device's folder");

const opened = await createDevice({
  dataDir,
  storeKey: { type: "passphrase", passphrase: "crash test" },
  delays: { echoMs: [0, 0], receiptMs: [0, 0] },
});
if (!opened.ok) throw new Error(opened.error.message);
const { homebase } = opened.value;
opened.value.onEvent(() => {
  const begun = homebase.list().operations.some(({ state }) => state === "running");
  if (fate === "dies" && begun) process.kill(process.pid, "SIGKILL");
});
const started = opened.value.start();
if (!started.ok) throw new Error(started.error.message);
homebase.serve();
process.stdout.write("serving\n");
// Stays until it is killed; the test has a bound.
setInterval(() => {}, 60_000);
