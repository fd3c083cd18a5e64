/**
 * One device that is asked by its sibling: what arrives is sealed and opened for real, what is carried
 * out is scripted, and what it answers is read from its outbox.
 */
import { parseOp, parseReply, type HomebaseReply } from "../../../src/device/homebase/op.ts";
import {
  createServing,
  type OpKind,
  type ServeParts,
  type Serving,
} from "../../../src/device/homebase/serve.ts";
import { ownDeviceStanding } from "../../../src/device/identity/devices.ts";
import { parseSentinel } from "../../../src/device/sentinel.ts";
import { type HomebaseRow, listHomebaseOps } from "../../../src/device/store/homebase.ts";
import { outbox } from "../../../src/device/store/schema.ts";
import { utf8 } from "../../../src/shared/bytes.ts";
import { idText } from "../../../src/shared/ids.ts";
import { aikOf, type DeviceWorld } from "../../support/device-world.ts";
import { at, testNowMs } from "../../support/people.ts";
import { fromSibling, me, newWorld, rng } from "../messaging/inbox-world.ts";

const ownDevice = idText(at(me.devices, 0).deviceId);
export const sibling = idText(at(me.devices, 1).deviceId);

/** A world and the work for siblings in it. */
export interface HomebaseWorld {
  readonly world: DeviceWorld;
  readonly serving: Serving;
  /** Another process over the same store: what a restart is. */
  readonly again: (kinds?: Kinds) => Serving;
  readonly ledger: () => readonly HomebaseRow[];
  /** Replies that were queued, oldest first. */
  readonly replies: () => readonly HomebaseReply[];
}

export type Kinds = Readonly<Record<string, OpKind>>;

/** Builds one; nothing is carried out before `serving.start()`. */
export function homebaseWorld(kinds: Kinds, parts: Partial<ServeParts> = {}): HomebaseWorld {
  const world = newWorld();
  const { store, clock } = world.parts;
  const again = (other: Kinds = kinds): Serving =>
    createServing({
      store,
      clock,
      moment: () => ({ nowMs: clock.nowMs(), relayNowMs: clock.nowMs(), rng }),
      standing: (deviceId) => store.read((tx) => ownDeviceStanding(tx, deviceId)),
      kinds: new Map(Object.entries(other)),
      wakePump: () => undefined,
      changed: () => undefined,
      ...parts,
    });
  return {
    world,
    serving: again(),
    again,
    ledger: () => store.read((tx) => listHomebaseOps(tx, 100)),
    replies: () =>
      store
        .read((tx) => tx.select().from(outbox).orderBy(outbox.row).all())
        .filter(({ recipientAik, typeTag }) => recipientAik === aikOf(me) && typeTag === 0)
        .flatMap(({ content }) => replyIn(content) ?? []),
  };
}

function replyIn(content: Uint8Array): HomebaseReply | undefined {
  const op = parseOp(parseSentinel(Buffer.from(content).toString())?.value);
  return op?.op === "reply" && op.to === sibling ? parseReply(op) : undefined;
}

/** Text of an operation. Its id is made of one letter. */
export function opText(op: string, letter: string, fields: object = {}): string {
  const whole = { v: 1, op, id: `${letter.repeat(21)}A`, to: ownDevice, args: {}, ...fields };
  return JSON.stringify({ pixie_homebase_op: whole });
}

let sent = 0;

/** The sealed message of a sibling with that text. `agoMs`: how long ago it was composed. */
export function asked(text: string, agoMs = 0): Uint8Array {
  sent += 1;
  const messageId = new Uint8Array(16).fill(7);
  new DataView(messageId.buffer).setUint32(0, sent);
  return fromSibling({ messageId, content: utf8(text), sentAtMs: BigInt(testNowMs - agoMs) });
}

/** An operation that acts, and is over when the test says so. */
export function heldKind(acts: boolean): {
  readonly kind: OpKind;
  readonly runs: { readonly signal: AbortSignal; readonly end: (text: string) => void }[];
} {
  const runs: { readonly signal: AbortSignal; readonly end: (text: string) => void }[] = [];
  return {
    runs,
    kind: {
      lane: acts ? undefined : "look",
      acts,
      run: ({ signal, tell }) =>
        new Promise((resolve) => {
          if (acts) tell({ status: "running" });
          signal.addEventListener("abort", () => resolve({ status: "cancelled" }));
          runs.push({ signal, end: (text) => resolve({ status: "done", text }) });
        }),
    },
  };
}
