/**
 * `find_file`: files of granted folders by name and content, on this device. The index is brought up
 * to date first, within a bound. File names are whoever's words, so results are untrusted.
 *
 * Other devices cannot be asked yet, and the answer says so. Spec: docs/sources.md "Files".
 */
import type { FileIndexer } from "../sources/file-indexer.ts";
import { type FoundFile, searchFiles, whyNotFound } from "../sources/file-search.ts";
import { grantedTargets } from "../store/context.ts";
import type { DeviceStore } from "../store/sqlite.ts";
import { dateOf, noWords } from "./check-notebook.ts";
import { entriesResult } from "./cut.ts";
import type { OwnedDevice } from "./list-devices.ts";
import { declarationOf, failure, type Tool } from "./tool.ts";

/** What the tool is built on. */
export interface FindFileParts {
  readonly store: DeviceStore;
  readonly indexer: FileIndexer;
  readonly ownedDevices: () => readonly OwnedDevice[];
}

/** Files in one result. */
const maxShown = 20;
/** Bringing the index up to date may take this long. Units: ms. */
const refreshMs = 3_000;

/** Builds the tool. */
export function findFile({ store, indexer, ownedDevices }: FindFileParts): Tool {
  return {
    declaration: declarationOf("find_file"),
    run: async (args, { zone, signal }) => {
      const place = placeOf(args["device"] ?? "", ownedDevices());
      if (!place.ok) return failure(place.reason);
      if (store.read((tx) => grantedTargets(tx, "files")).length === 0) {
        return failure(
          "no folder is granted to the agent: the owner adds one with pixie files add <folder>",
        );
      }
      const whole = await indexer.refresh(refreshMs, signal);
      if (signal.aborted) return failure("stopped before the files were searched");
      const query = args["description"] ?? "";
      const found = store.read((tx) => searchFiles(tx, query, maxShown));
      if (found === undefined) return failure(noWords.replace("query", "description"));
      const notes = [
        ...(whole ? [] : ["the index is not whole yet: pixie files index finishes it"]),
        ...place.notes,
      ];
      if (found.files.length === 0) {
        const why = store.read((tx) => whyNotFound(tx, query));
        const text = ["no file fits", ...why, ...notes].join("\n");
        return { ok: true, text, shown: 0, total: 0, untrusted: true };
      }
      const lines = found.files.map((file) => fileLine(file, zone));
      return entriesResult(lines, { untrusted: true, total: found.total, notes });
    },
  };
}

function fileLine({ path, bytes, modifiedMs, by }: FoundFile, zone: string): string {
  // A name may hold line breaks: it must not forge a second line.
  const shown = path.replace(/\p{Cc}/gu, "�");
  return `${shown} (changed ${dateOf(modifiedMs, zone)}, ${bytes} bytes, found by ${by})`;
}

type PlaceAnswer =
  | { readonly ok: true; readonly notes: readonly string[] }
  | { readonly ok: false; readonly reason: string };

function placeOf(asked: string, devices: readonly OwnedDevice[]): PlaceAnswer {
  const wanted = asked.trim().toLowerCase();
  const others = devices.filter(({ thisDevice }) => !thisDevice).length;
  if (["", "all", "any"].includes(wanted)) {
    const notes =
      others === 0 ? [] : [`only this device was searched: ${others} more cannot be asked yet`];
    return { ok: true, notes };
  }
  const named = devices.find(
    ({ deviceId, name }) => deviceId === asked.trim() || name?.toLowerCase() === wanted,
  );
  if (named === undefined) {
    return {
      ok: false,
      reason: `device: expected all or an id from list_devices, got ${JSON.stringify(asked.slice(0, 64))}`,
    };
  }
  return named.thisDevice
    ? { ok: true, notes: [] }
    : { ok: false, reason: "that device cannot be asked yet: only this one can be searched" };
}
