/**
 * The six tools over one device's sources. Grants are read from the store at every call, so taking one
 * back works at once, whatever a prompt says.
 *
 * Spec: docs/sources.md "Grants".
 */
import type { FileIndexer } from "../sources/file-indexer.ts";
import type { Meaning } from "../sources/meaning.ts";
import type { MessageText } from "../sources/memory-log.ts";
import { grantedTargets } from "../store/context.ts";
import type { DeviceStore } from "../store/sqlite.ts";
import { checkNotebook } from "./check-notebook.ts";
import { currentDate } from "./current-date.ts";
import { type AskSibling, findFile } from "./find-file.ts";
import { grepMemory } from "./grep-memory.ts";
import { listDevices, type OwnedDevice } from "./list-devices.ts";
import { queryCalendar } from "./query-calendar.ts";
import type { ToolBox } from "./tool.ts";

/** What the tools are built on. */
export interface ToolParts {
  readonly store: DeviceStore;
  readonly textOf: MessageText;
  readonly indexer: FileIndexer;
  /** The owner's devices that are not revoked. */
  readonly ownedDevices: () => readonly OwnedDevice[];
  readonly askSibling: AskSibling;
  readonly meaning: Pick<Meaning, "nearest">;
}

/** Builds the tools. */
export function createToolBox(parts: ToolParts): ToolBox {
  const { store, textOf, ownedDevices } = parts;
  const targets = (kind: "notebook" | "memory" | "files" | "calendar"): readonly string[] =>
    store.read((tx) => grantedTargets(tx, kind));
  const tools = [
    checkNotebook(store, () => targets("notebook").length > 0, parts.meaning),
    findFile(parts),
    listDevices(ownedDevices),
    grepMemory(store, textOf, () => targets("memory").length > 0, parts.meaning),
    currentDate,
    queryCalendar(() => targets("calendar")),
  ];
  return new Map(tools.map((tool) => [tool.declaration.toolName, tool]));
}
