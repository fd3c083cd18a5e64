/**
 * `grep_memory`: lines of the memory log that hold the words, with date and author. A line that
 * somebody else wrote makes the result untrusted.
 *
 * Spec: docs/sources.md "Memory".
 */
import type { Meaning } from "../sources/meaning.ts";
import { catchUpMemory, type MessageText, searchMemory } from "../sources/memory-log.ts";
import type { MemoryRow } from "../store/memory.ts";
import type { DeviceStore, ReadTx } from "../store/sqlite.ts";
import { getContact } from "../store/contacts.ts";
import { dateOf, nothing, noWords } from "./check-notebook.ts";
import { entriesResult } from "./cut.ts";
import { declarationOf, failure, type Tool } from "./tool.ts";

/** Lines in one result. */
const maxShown = 20;

/** Builds the tool. `granted` is asked at every call. */
export function grepMemory(
  store: DeviceStore,
  textOf: MessageText,
  granted: () => boolean,
  meaning: Pick<Meaning, "nearest">,
): Tool {
  return {
    declaration: declarationOf("grep_memory"),
    run: async (args, { zone, signal }) => {
      if (!granted()) {
        return failure(
          "the memory log is not granted to the agent: the owner grants it with pixie context grant memory",
        );
      }
      catchUpMemory(store, textOf);
      const query = args["query"] ?? "";
      const near = await meaning.nearest("memory", query, signal);
      return store.read((tx) => {
        const found = searchMemory(tx, query, maxShown, near);
        if (found === undefined) return failure(noWords);
        if (found.total === 0) return nothing("the memory log has no line with these words");
        const lines = found.rows.map(
          (row) => `${dateOf(row.atMs, zone)} ${who(tx, row)}: ${row.text}`,
        );
        const untrusted = found.rows.some(({ foreign }) => foreign);
        return entriesResult(lines, { ...found, untrusted });
      });
    },
  };
}

function who(tx: ReadTx, { author, conversation, foreign }: MemoryRow): string {
  if (author === "agent") return "the agent";
  if (foreign) return getContact(tx, author)?.name ?? author;
  return conversation === ""
    ? "the owner asked the agent"
    : `the owner to ${getContact(tx, conversation)?.name ?? conversation}`;
}
