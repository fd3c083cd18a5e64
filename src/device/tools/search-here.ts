/**
 * The granted folders of this device, searched by name and content for `find_file` and for a sibling's
 * question. The index is brought up to date first, within a bound. File names are whoever's words, so
 * results are untrusted.
 *
 * Spec: docs/sources.md "Files".
 */
import type { FileIndexer } from "../sources/file-indexer.ts";
import { type FoundFile, searchFiles, whyNotFound } from "../sources/file-search.ts";
import { grantedTargets } from "../store/context.ts";
import type { DeviceStore } from "../store/sqlite.ts";
import { dateOf, noWords } from "./check-notebook.ts";
import { entriesResult } from "./cut.ts";
import { failure, type ToolContext, type ToolResult } from "./tool.ts";

/** Files in one result. */
const maxShown = 20;
/** Bringing the index up to date may take this long. Units: ms. */
const refreshMs = 3_000;

/** Searches this device. `notes` follow the result. Failures: no folder is granted, no words, stopped. */
export async function searchHere(
  { store, indexer }: { readonly store: DeviceStore; readonly indexer: FileIndexer },
  query: string,
  { zone, signal }: ToolContext,
  notes: readonly string[] = [],
): Promise<ToolResult> {
  if (store.read((tx) => grantedTargets(tx, "files")).length === 0) return failure(nothingGranted);
  const whole = await indexer.refresh(refreshMs, signal);
  if (signal.aborted) return failure("stopped before the files were searched");
  const found = store.read((tx) => searchFiles(tx, query, maxShown));
  if (found === undefined) return failure(noWords.replace("query", "description"));
  const remarks = [
    ...(whole ? [] : ["the index is not whole yet: pixie files index finishes it"]),
    ...notes,
  ];
  if (found.files.length === 0) {
    const why = store.read((tx) => whyNotFound(tx, query));
    const text = ["no file fits", ...why, ...remarks].join("\n");
    return { ok: true, text, shown: 0, total: 0, untrusted: true };
  }
  const lines = found.files.map((file) => fileLine(file, zone));
  return entriesResult(lines, {
    untrusted: true,
    total: found.total,
    near: found.near,
    notes: remarks,
  });
}

const nothingGranted =
  "no folder is granted to the agent: the owner adds one with pixie files add <folder>";

function fileLine({ path, bytes, modifiedMs, by }: FoundFile, zone: string): string {
  // A name may hold line breaks: it must not forge a second line.
  const shown = path.replace(/\p{Cc}/gu, "�");
  return `${shown} (changed ${dateOf(modifiedMs, zone)}, ${bytes} bytes, found by ${by})`;
}
