/**
 * `check_notebook`: notes that fit a few words, with their dates. The owner's own words are trusted; a
 * note that the agent wrote may repeat what others said, and is not.
 *
 * Spec: docs/sources.md "Notebook".
 */
import type { Meaning } from "../sources/meaning.ts";
import { searchNotes } from "../sources/notebook.ts";
import { dayText, isZone, wallTimeAt } from "../sources/zoned-time.ts";
import type { DeviceStore } from "../store/sqlite.ts";
import { entriesResult } from "./cut.ts";
import { declarationOf, failure, type Tool } from "./tool.ts";

/** Notes in one result. */
const maxShown = 20;

/** Builds the tool. `granted` is asked at every call. */
export function checkNotebook(
  store: DeviceStore,
  granted: () => boolean,
  meaning: Pick<Meaning, "nearest">,
): Tool {
  return {
    declaration: declarationOf("check_notebook"),
    run: async (args, { zone, signal }) => {
      if (!granted()) {
        return failure(
          "the notebook is not granted to the agent: the owner grants it with pixie context grant notebook",
        );
      }
      const query = args["query"] ?? "";
      const near = await meaning.nearest("notebook", query, signal);
      const found = store.read((tx) => searchNotes(tx, query, maxShown, near));
      if (found === undefined) return failure(noWords);
      if (found.total === 0) return nothing("the notebook has no entry with these words");
      const lines = found.rows.map(
        ({ changedMs, writer, text }) =>
          `${dateOf(changedMs, zone)}${writer === "agent" ? " (noted by the agent)" : ""}: ${text}`,
      );
      const untrusted = found.rows.some(({ writer }) => writer === "agent");
      return entriesResult(lines, { untrusted, total: found.total, near: found.near });
    },
  };
}

/** A query without a word that could be found. */
export const noWords = "query: expected words to look for, got none with a letter or a digit";

/** A result without entries. */
export function nothing(text: string): Awaited<ReturnType<Tool["run"]>> {
  return { ok: true, text, shown: 0, total: 0, untrusted: false };
}

/** The day of an instant for the asker, or in UTC where their zone is not known. */
export function dateOf(ms: number, zone: string): string {
  return dayText(wallTimeAt(ms, isZone(zone) ? zone : "UTC").day);
}
