/**
 * Joins the homebase over one device: what siblings may ask is the agent's turn, the owner's word on
 * what that wants to call, and look-ups with the tools and the grants of this device.
 *
 * Built by the runtime. Spec: docs/protocol.md "Device control".
 */
import { err, ok } from "../shared/result.ts";
import type { Device, DeviceAgent } from "./device.ts";
import { approveKind, listApprovalsKind, waitingApprovals } from "./homebase/approve-kind.ts";
import { askKind } from "./homebase/ask-kind.ts";
import { askDevice, type AskingParts } from "./homebase/asking.ts";
import { createHomebase } from "./homebase/homebase.ts";
import { storedReply } from "./homebase/op.ts";
import type { DeviceHomebase } from "./homebase/port.ts";
import { createServing, type OpKind, type Outcome, type Serving } from "./homebase/serve.ts";
import { deviceViews, findSibling, ownDeviceStanding } from "./identity/devices.ts";
import type { DeviceParts } from "./parts.ts";
import { getOwnAccount } from "./store/identity.ts";
import { type AskSibling, thisDeviceOnly } from "./tools/find-file.ts";
import { failure, type ToolBox, type ToolResult } from "./tools/tool.ts";

/** What it is joined from. */
export interface OwnHomebaseParts {
  readonly parts: DeviceParts;
  readonly agent: DeviceAgent;
  readonly tools: ToolBox;
  readonly zone: () => string;
  readonly asking: AskingParts;
}

/** The owner's side of it, and its work for siblings. */
export interface OwnHomebase {
  readonly homebase: DeviceHomebase;
  readonly serving: Serving;
}

/** What asking another device is made of. */
export function askingParts(
  { store, clock, rng, relayTime, pump }: DeviceParts,
  onEvent: Device["onEvent"],
): AskingParts {
  return {
    store,
    clock,
    wakePump: pump.wake,
    moment: () => ({
      nowMs: clock.nowMs(),
      relayNowMs: relayTime.nowMs(store.read(getOwnAccount)?.relayOrigin ?? ""),
      rng,
    }),
    onChange: (listener) =>
      onEvent((event) => {
        if (event.type === "homebase") listener();
      }),
  };
}

/** Searching a sibling's files, for the tool of the agent here. */
export function siblingSearch(asking: AskingParts): AskSibling {
  return async (device, description, { signal, patienceMs }) => {
    const wanted = { device, op: "find-file", args: { description } } as const;
    const asked = await askDevice(asking, wanted, { patienceMs, signal });
    if (!asked.ok) {
      return asked.error.type === "not-answered-yet"
        ? failure(`no answer within ${patienceMs / 1_000} s`)
        : failure(asked.error.message);
    }
    const { state, reply } = asked.value;
    const { text = "", shown = 0, total = 0, reason } = reply === null ? {} : storedReply(reply);
    if (state === "done") return { ok: true, text, shown, total, untrusted: true };
    return failure(text === "" ? `${state}${reason === undefined ? "" : ` (${reason})`}` : text);
  };
}

/** Joins them. */
export function createOwnHomebase({ parts, asking, ...own }: OwnHomebaseParts): OwnHomebase {
  const { store, emit } = parts;
  const serving = createServing({
    ...asking,
    standing: (deviceId) => store.read((tx) => ownDeviceStanding(tx, deviceId)),
    kinds: new Map([
      ["ask", askKind(own.agent.ask, (runId) => waitingApprovals(own.agent, runId))],
      ["list-approvals", listApprovalsKind(own.agent)],
      ["approve", approveKind(own.agent)],
      ["find-file", lookUp(parts, own, "find_file")],
      ["list-devices", lookUp(parts, own, "list_devices")],
    ]),
    changed: () => emit({ type: "homebase" }),
  });
  asking.onChange(serving.look);
  const homebase = createHomebase(
    asking,
    {
      find: (nameOrId) => {
        const found = store.read((tx) => findSibling(tx, nameOrId));
        return found.ok ? ok(found.value.deviceId) : err(found.error);
      },
      nameOf: (tx, deviceId) =>
        deviceViews(tx).find((device) => device.deviceId === deviceId)?.name,
    },
    serving.start,
  );
  return { homebase, serving };
}

/** A tool of this device, for a sibling: with this device's grants, and on this device alone. */
function lookUp(
  { clock }: DeviceParts,
  { tools, zone }: Pick<OwnHomebaseParts, "tools" | "zone">,
  toolName: "find_file" | "list_devices",
): OpKind {
  return {
    lane: "look",
    acts: false,
    run: async ({ args, signal }) => {
      const description = args.get("description");
      const tool = tools.get(toolName);
      if (tool === undefined) throw new Error(`there is no tool ${toolName}`);
      const words: Readonly<Record<string, string>> =
        toolName === "find_file"
          ? {
              description: typeof description === "string" ? description : "",
              device: thisDeviceOnly,
            }
          : {};
      const context = { nowMs: clock.nowMs(), zone: zone(), signal };
      return outcomeOf(await tool.run(words, context));
    },
  };
}

function outcomeOf(result: ToolResult): Outcome {
  if (!result.ok) return { status: "failed", reason: "tool-failed", text: result.reason };
  const { text, shown, total, untrusted } = result;
  return { status: "done", text, shown, total, untrusted };
}
