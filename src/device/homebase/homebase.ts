/**
 * The homebase of a device: asking siblings and being asked by them, over one ledger. It holds no
 * keys and opens nothing; who is who is told by the caller.
 *
 * Built by the runtime. Spec: docs/protocol.md "Device control".
 */
import { ok, type Result } from "../../shared/result.ts";
import { members } from "../skills/strict-json.ts";
import { foreignHomebaseTexts, type HomebaseRow, listHomebaseOps } from "../store/homebase.ts";
import type { ReadTx } from "../store/sqlite.ts";
import { askDevice, type AskingParts } from "./asking.ts";
import { storedReply } from "./op.ts";
import type { DeviceHomebase, HomebaseError, HomebaseOpView } from "./port.ts";

/** How devices of the account are found and called. */
export interface Siblings {
  /** A sibling by name or id. Errors say which there are. */
  readonly find: (nameOrId: string) => Result<string, HomebaseError>;
  readonly nameOf: (tx: ReadTx, deviceId: string) => string | undefined;
}

/** Operations that a list shows. */
const listedOps = 100;
/** A turn may take five minutes, and others may be first. Units: ms. */
const askPatienceMs = 15 * 60_000;

/** Builds the owner's side of it. `serve` is that of serve.ts. */
export function createHomebase(
  parts: AskingParts,
  siblings: Siblings,
  serve: () => void,
): DeviceHomebase {
  const { store } = parts;
  const viewOf = (row: HomebaseRow): HomebaseOpView =>
    store.read((tx) => opView(row, siblings.nameOf(tx, row.peerDevice)));
  return {
    serve,
    ask: async (device, question, { signal, onStatus, patienceMs = askPatienceMs } = {}) => {
      const found = siblings.find(device);
      if (!found.ok) return found;
      const wanted = { device: found.value, op: "ask", args: { question } } as const;
      const asked = await askDevice(parts, wanted, {
        patienceMs,
        signal,
        onStatus: (row) => onStatus?.(viewOf(row)),
      });
      return asked.ok ? ok(viewOf(asked.value)) : asked;
    },
    list: () =>
      store.read((tx) => ({
        operations: listHomebaseOps(tx, listedOps).map((row) =>
          opView(row, siblings.nameOf(tx, row.peerDevice)),
        ),
        foreignTexts: foreignHomebaseTexts(tx),
      })),
  };
}

function opView(row: HomebaseRow, deviceName: string | undefined): HomebaseOpView {
  const { opId, direction, peerDevice, op, state, sentMs, attempts } = row;
  const reply = row.reply === null ? undefined : storedReply(row.reply);
  const args = members(JSON.parse(row.args));
  const about = args?.get("question") ?? args?.get("description") ?? "";
  return {
    opId,
    direction,
    device: peerDevice,
    deviceName,
    op,
    about: typeof about === "string" ? about : "",
    state,
    sentMs,
    attempts,
    text: reply?.text,
    reason: reply?.reason,
    untrusted: reply?.untrusted === true,
    ahead: reply?.ahead,
  };
}
