/**
 * Operations that own devices ask of each other, as they travel: a sentinel in an ordinary message to
 * the own account, `{"pixie_homebase_op": {"v", "op", "id", "to", "args"}}`.
 *
 * Pure: bytes in, typed operation out. Who may ask is judged in take-op.ts, what is done in serve.ts.
 * Spec: docs/protocol.md "Device control".
 */
import { parseId } from "../../shared/ids.ts";
import { members } from "../skills/strict-json.ts";

/** The only version. A higher one is answered as unknown. */
const homebaseVersion = 1;

/** One operation, or a reply to one. Whether `op` is known is judged later: the asker gets an answer. */
export interface HomebaseOp {
  readonly version: number;
  readonly op: string;
  /** Drawn by whoever asks: one id acts once. */
  readonly id: string;
  /** The device that is meant; every other one passes it over. */
  readonly to: string;
  readonly args: ReadonlyMap<string, unknown>;
}

/** How far an operation has come, as the device that was asked tells it. */
export type ReplyStatus = "accepted" | "running" | FinalStatus;
/** Statuses after which nothing follows. */
export type FinalStatus =
  | "done"
  | "failed"
  | "refused"
  | "expired"
  | "interrupted"
  | "cancelled"
  | "unknown-op";

/** A call that a device asks its owner about, as it tells another of the owner's devices. */
export interface AskedApproval {
  readonly approvalId: string;
  readonly tool: string;
  /** JSON of the arguments, never shortened: nobody approves what they cannot see. */
  readonly args: string;
  /** Over tool and arguments; an answer names it. */
  readonly hash: string;
  readonly why: string;
  readonly expiresMs: number;
}

/** A reply. */
export interface HomebaseReply {
  /** Id of the operation that is answered. */
  readonly re: string;
  readonly status: ReplyStatus;
  /** Questions ahead, while it is accepted and waits. */
  readonly ahead?: number;
  /** The answer, the result, or why there is none. */
  readonly text?: string;
  /** Type of a refusal or failure. */
  readonly reason?: string;
  /** Whether the text holds words that the owner did not write. */
  readonly untrusted?: boolean;
  /** Calls that wait for the owner's word. */
  readonly approvals?: readonly AskedApproval[];
  /** Entries in the text or approvals, and entries that there are. */
  readonly shown?: number;
  readonly total?: number;
  /** The run on the device that answered. */
  readonly runId?: string;
}

/** Longest text of a reply: it fits the second largest bucket. Units: characters. */
const maxReplyText = 20_000;
/** Longest approvals of a reply, as JSON. Units: characters. */
const maxReplyApprovals = 16_000;

/** The operation under a sentinel's key. `undefined`: no operation of any version. */
export function parseOp(value: unknown): HomebaseOp | undefined {
  const object = members(value);
  const [version, op, id, to] = ["v", "op", "id", "to"].map((key) => object?.get(key));
  const args = members(object?.get("args"));
  if (typeof version !== "number" || !Number.isInteger(version) || version < 1) return undefined;
  if (typeof op !== "string" || !/^[a-z][a-z-]{0,31}$/.test(op)) return undefined;
  if (!isId(id) || !isId(to) || args === undefined) return undefined;
  return { version, op, id, to, args };
}

/** The text of a message that asks. */
export function encodeOp(op: {
  readonly op: string;
  readonly id: string;
  readonly to: string;
  readonly args: object;
}): string {
  return JSON.stringify({ pixie_homebase_op: { v: homebaseVersion, ...op } });
}

/** A reply that fits its envelope: a text is cut visibly, approvals are left out whole and counted. */
export function boundedReply(reply: HomebaseReply): HomebaseReply {
  const { text, approvals } = reply;
  return {
    ...reply,
    ...(text !== undefined && text.length > maxReplyText
      ? { text: `${text.slice(0, maxReplyText)}… [cut]` }
      : {}),
    ...(approvals === undefined ? {} : fitting(approvals)),
  };
}

function fitting(
  approvals: readonly AskedApproval[],
): Pick<HomebaseReply, "approvals" | "shown" | "total"> {
  let left = maxReplyApprovals;
  const shown = approvals.filter((approval) => {
    const size = JSON.stringify(approval).length;
    if (size > left) return false;
    left -= size;
    return true;
  });
  return { approvals: shown, shown: shown.length, total: approvals.length };
}

/** A reply as it is kept in the ledger. Throws on anything else than what was stored. */
export function storedReply(json: string): HomebaseReply {
  const args = members(JSON.parse(json));
  const reply = args === undefined ? undefined : parseReply({ args });
  if (reply === undefined) throw new Error("a stored reply is damaged");
  return reply;
}

/** A reply among operations. `undefined`: malformed, or of a newer version. */
export function parseReply({ args }: Pick<HomebaseOp, "args">): HomebaseReply | undefined {
  const [re, status] = [args.get("re"), args.get("status")];
  if (!isId(re) || !isStatus(status)) return undefined;
  const text = textIn(args, "text", maxReplyText + 16);
  const reason = textIn(args, "reason", 64);
  const runId = textIn(args, "runId", 64);
  const approvals = approvalsIn(args.get("approvals"));
  const [ahead, shown, total] = ["ahead", "shown", "total"].map((name) => countIn(args, name));
  return {
    re,
    status,
    ...(text === undefined ? {} : { text }),
    ...(reason === undefined ? {} : { reason }),
    ...(runId === undefined ? {} : { runId }),
    ...(ahead === undefined ? {} : { ahead }),
    ...(shown === undefined ? {} : { shown }),
    ...(total === undefined ? {} : { total }),
    ...(approvals === undefined ? {} : { approvals }),
    ...(args.get("untrusted") === true ? { untrusted: true } : {}),
  };
}

/** Approvals among a reply's members; one that is malformed cannot be answered and is left out. */
function approvalsIn(value: unknown): readonly AskedApproval[] | undefined {
  if (!Array.isArray(value)) return undefined;
  return value.flatMap((one: unknown) => {
    const fields = members(one) ?? new Map<string, unknown>();
    const [tool, args, hash, why] = ["tool", "args", "hash", "why"].map((name) =>
      textIn(fields, name, maxReplyApprovals),
    );
    const approvalId = fields.get("approvalId");
    const expiresMs = countIn(fields, "expiresMs");
    if (tool === undefined || args === undefined || hash === undefined) return [];
    if (!isId(approvalId) || why === undefined || expiresMs === undefined) return [];
    return [{ approvalId, tool, args, hash, why, expiresMs }];
  });
}

const statuses: ReadonlySet<string> = new Set<ReplyStatus>([
  "accepted",
  "running",
  "done",
  "failed",
  "refused",
  "expired",
  "interrupted",
  "cancelled",
  "unknown-op",
]);

function isStatus(value: unknown): value is ReplyStatus {
  return typeof value === "string" && statuses.has(value);
}

function isId(value: unknown): value is string {
  return typeof value === "string" && parseId(value).ok;
}

function textIn(args: HomebaseOp["args"], name: string, maxLength: number): string | undefined {
  const value = args.get(name);
  return typeof value === "string" && value.length <= maxLength ? value : undefined;
}

function countIn(args: HomebaseOp["args"], name: string): number | undefined {
  const value = args.get(name);
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0 ? value : undefined;
}
