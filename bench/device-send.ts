/**
 * `device-send`: how fast one device hands messages for one contact to its relay, from `send` to the
 * durable commit. Everything counts: two transactions of the store per message, sealing to a
 * post-quantum prekey, one HTTP round trip, and the relay's own commit on the same machine.
 *
 * Peer: posting ready-made uploads of the same size, one after the other, as the pump does for one
 * contact. What the ratio lacks to 1 is what the device itself costs.
 */
import type { Relay } from "../src/relay/index.ts";
import { createRelayTransport } from "../src/device/transport/relay-client.ts";
import { systemClock } from "../src/shared/clock.ts";
import { systemRng } from "../src/shared/rng.ts";
import { newAccount, registrationOf, uploadTo } from "../test/support/accounts.ts";
import { expectOk, type Pair, startPair, until } from "../test/support/pair.ts";
import { type Bench, type BenchOptions, machineName, quantile } from "./bench.ts";

/** Messages in a round; six rounds stay below the 500 items that Bob's mailbox holds. */
const messagesPerRound = 70;

/** The benchmark. */
export const deviceSend: Bench = { name: "device-send", run };

async function run({ quick, emit }: BenchOptions): Promise<void> {
  const rounds = quick ? 3 : 6;
  const pair = await startPair();
  try {
    // Nobody answers: only sending is measured.
    await pair.bob.close();
    const ours: number[] = [];
    const peer: number[] = [];
    for (let round = 0; round < rounds; round++) {
      ours.push(await sendRound(pair));
      peer.push(await postRound(pair.relay));
    }
    const [value, peerValue] = [quantile(ours, 0.5), quantile(peer, 0.5)];
    emit({
      bench: deviceSend.name,
      value: Math.round(value),
      unit: "messages/s",
      samples: ours.length,
      median: Math.round(value),
      // The rate that 99 % of the rounds reached.
      p99: Math.round(quantile(ours, 0.01)),
      peer: "ready-made uploads of the same size, posted one after the other",
      peerValue: Math.round(peerValue),
      ratio: Number((value / peerValue).toFixed(3)),
      machine: machineName(),
    });
  } finally {
    await pair.close();
  }
}

/** Messages per second of one round of the device. */
async function sendRound({ alice }: Pair): Promise<number> {
  const startMs = performance.now();
  const ids = Array.from(
    { length: messagesPerRound },
    (_, index) => expectOk(alice.send("Bob", `message ${index}`)).messageId,
  );
  const last = ids.at(-1) ?? "";
  // Messages to one contact go out in order: the last one is the end.
  await until(alice, "the relay has them all", () => alice.delivery(last)?.state === "accepted");
  return (messagesPerRound / (performance.now() - startMs)) * 1_000;
}

/** Uploads per second of one round without a device, to a mailbox of its own. */
async function postRound(relay: Relay): Promise<number> {
  await using transport = createRelayTransport({ clock: systemClock, rng: systemRng });
  const nowMs = Date.now();
  const account = newAccount(nowMs);
  const request = registrationOf(account, relay.origin, nowMs);
  const registered = await transport.register(relay.origin, request);
  if (!registered.ok) throw new Error(`the relay refused a registration: ${registered.error.type}`);
  const mailboxes = account.devices.map((device) => device.mailbox);
  const uploads = Array.from({ length: messagesPerRound }, () =>
    uploadTo(account, mailboxes, { origin: relay.origin, nowMs }),
  );
  const startMs = performance.now();
  for (const upload of uploads) {
    const answer = await transport.upload(relay.origin, upload);
    if (!answer.ok) throw new Error(`the relay refused an upload: ${answer.error.type}`);
  }
  return (messagesPerRound / (performance.now() - startMs)) * 1_000;
}
