/**
 * `find_file`: files of granted folders by name and content, on this device, on one of the owner's
 * others, or wherever there is one. A sibling searches what is granted there and answers in its own
 * words; one that does not answer in time is named.
 *
 * Spec: docs/sources.md "Files".
 */
import type { FileIndexer } from "../sources/file-indexer.ts";
import type { DeviceStore } from "../store/sqlite.ts";
import type { OwnedDevice } from "./list-devices.ts";
import { searchHere } from "./search-here.ts";
import { declarationOf, failure, type Tool, type ToolContext, type ToolResult } from "./tool.ts";

/** Searches another own device. Its answer, or why there is none, is a tool result like any other. */
export type AskSibling = (
  deviceId: string,
  description: string,
  bounds: { readonly signal: AbortSignal; readonly patienceMs: number },
) => Promise<ToolResult>;

/** What the tool is built on. */
export interface FindFileParts {
  readonly store: DeviceStore;
  readonly indexer: FileIndexer;
  readonly ownedDevices: () => readonly OwnedDevice[];
  readonly askSibling: AskSibling;
}

/** What a sibling's question names as its device: it is answered from here alone. */
export const thisDeviceOnly = "here";
/** A sibling that was named is waited for this long. Units: ms. */
const namedPatienceMs = 30_000;
/** Siblings that are asked because nothing fits here. Units: ms. */
const allPatienceMs = 10_000;

/** Builds the tool. */
export function findFile(parts: FindFileParts): Tool {
  return {
    declaration: declarationOf("find_file"),
    run: async (args, context) => {
      const query = args["description"] ?? "";
      const asked = (args["device"] ?? "").trim();
      const devices = parts.ownedDevices();
      if (["", "all", "any"].includes(asked.toLowerCase())) {
        return await everywhere(parts, query, context);
      }
      if (asked.toLowerCase() === thisDeviceOnly) return await searchHere(parts, query, context);
      const named = devices.filter(
        ({ deviceId, name }) => deviceId === asked || name?.toLowerCase() === asked.toLowerCase(),
      );
      const [device, another] = named;
      if (device === undefined || another !== undefined)
        return failure(notOne(asked, named.length));
      if (device.thisDevice) return await searchHere(parts, query, context);
      return await onSibling(parts, device, query, { ...context, patienceMs: namedPatienceMs });
    },
  };
}

/** This device first; the others only when nothing fits here, because they cost time. */
async function everywhere(
  parts: FindFileParts,
  query: string,
  context: ToolContext,
): Promise<ToolResult> {
  const others = parts.ownedDevices().filter(({ thisDevice }) => !thisDevice);
  const here = await searchHere(
    parts,
    query,
    context,
    others.length === 0 ? [] : [`${others.length} more devices can be asked by name`],
  );
  const isFound = here.ok && here.total > 0;
  if (isFound || others.length === 0 || context.signal.aborted) return here;
  const bounds = { ...context, patienceMs: allPatienceMs };
  const answers = await Promise.all(
    others.map((device) => onSibling(parts, device, query, bounds)),
  );
  const found = answers.filter((answer) => answer.ok && answer.total > 0);
  const told = found.length > 0 ? found : [here, ...answers];
  const text = told.map((answer) => (answer.ok ? answer.text : answer.reason)).join("\n");
  const [shown, total] = [sumOf(found, "shown"), sumOf(found, "total")];
  const entries = found.flatMap((answer) => (answer.ok ? (answer.entries ?? []) : []));
  return { ok: true, text, shown, total, entries, untrusted: true };
}

async function onSibling(
  { askSibling }: FindFileParts,
  { deviceId, name = deviceId }: OwnedDevice,
  query: string,
  { signal, patienceMs }: { readonly signal: AbortSignal; readonly patienceMs: number },
): Promise<ToolResult> {
  const answer = await askSibling(deviceId, query, { signal, patienceMs });
  // A device's name is its owner's words, and what it lists is anybody's.
  const shown = name.replace(/\p{Cc}/gu, "�");
  if (!answer.ok) return failure(`${shown}: ${answer.reason}`);
  const text = `on ${shown}:\n${answer.text}`;
  return { ...answer, text, entries: answer.total > 0 ? [text] : [], untrusted: true };
}

function sumOf(answers: readonly ToolResult[], what: "shown" | "total"): number {
  return answers.reduce((sum, answer) => sum + (answer.ok ? answer[what] : 0), 0);
}

function notOne(asked: string, fitting: number): string {
  const got = JSON.stringify(asked.slice(0, 64));
  return fitting === 0
    ? `device: expected all, or a name or id from list_devices, got ${got}`
    : `device: several are called ${got}: give the id from list_devices`;
}
