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
import { askDevice, type AskingParts, type Wanted } from "./asking.ts";
import { storedReply } from "./op.ts";
import type { DeviceHomebase, HomebaseError, HomebaseFollowing, HomebaseOpView } from "./port.ts";

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
/** What needs no turn is answered as soon as the other device has it. Units: ms. */
const lookPatienceMs = 60_000;

/** Builds the owner's side of it. `serve` is that of serve.ts. */
export function createHomebase(
  parts: AskingParts,
  siblings: Siblings,
  serve: () => void,
): DeviceHomebase {
  const { store } = parts;
  const viewOf = (row: HomebaseRow): HomebaseOpView =>
    store.read((tx) => opView(row, siblings.nameOf(tx, row.peerDevice)));
  const asked = async (
    wanted: Wanted,
    { signal, onStatus, patienceMs = lookPatienceMs }: HomebaseFollowing = {},
  ): Promise<Result<HomebaseOpView, HomebaseError>> => {
    const found = siblings.find(wanted.device);
    if (!found.ok) return found;
    const over = await askDevice(
      parts,
      { ...wanted, device: found.value },
      { patienceMs, signal, onStatus: (row) => onStatus?.(viewOf(row)) },
    );
    return over.ok ? ok(viewOf(over.value)) : over;
  };
  return {
    serve,
    ask: (device, question, following) =>
      asked({ device, op: "ask", args: { question } }, { patienceMs: askPatienceMs, ...following }),
    approvals: (device) => asked({ device, op: "list-approvals", args: {} }),
    answerApproval: (device, { approvalId, verdict, hash }) =>
      asked({ device, op: "approve", args: { approval: approvalId, verdict, hash } }),
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
  const { approvals = [], shown = 0, total = 0 } = reply ?? {};
  return {
    opId,
    direction,
    device: peerDevice,
    deviceName,
    op,
    about: aboutOf(row),
    state,
    sentMs,
    attempts,
    text: reply?.text,
    reason: reply?.reason,
    untrusted: reply?.untrusted === true,
    ahead: reply?.ahead,
    approvals,
    untoldApprovals: reply?.approvals === undefined ? 0 : Math.max(0, total - shown),
  };
}

/** What was asked, in the asker's words where there are some. */
function aboutOf({ args }: HomebaseRow): string {
  const given = members(JSON.parse(args));
  const about = given?.get("question") ?? given?.get("description") ?? given?.get("verdict");
  return typeof about === "string" ? about : "";
}
