/**
 * Bringing the index of files up to date from the command line: a bar for a person, lines for a log.
 * The walk is asked for in short steps, so that progress shows and Ctrl-C loses little.
 *
 * Spec: docs/sources.md "Files".
 */
import { Presets, SingleBar } from "cli-progress";

import { ok } from "../../shared/result.ts";
import type { ResultOf } from "../api/operations.ts";
import type { Session } from "../api/session.ts";
import type { Invocation, Outcome } from "./command.ts";

type IndexView = ResultOf<"index-files">;

/** One step. Units: ms. */
const stepMs = 500;

/** Walks until the index is whole or the person stops it; either way what is done is kept. */
export async function indexFiles(session: Session, invocation: Invocation): Promise<Outcome> {
  const stop = new AbortController();
  void invocation.io.stopped().then(() => stop.abort());
  using progress = showProgress(invocation);
  for (;;) {
    const view = await session.call("index-files", { budgetMs: stepMs });
    if (!view.ok) return view;
    progress.tell(view.value);
    if (view.value.state === "done" || stop.signal.aborted) return indexOutput(view.value);
  }
}

interface ProgressDisplay extends Disposable {
  readonly tell: (view: IndexView) => void;
}

function showProgress({ io, note }: Invocation): ProgressDisplay {
  if (!io.interactive) {
    const tell = ({ state, seen }: IndexView): void => {
      if (state === "running") note(`${seen} entries looked at`);
    };
    return { tell, [Symbol.dispose]: () => undefined };
  }
  const format = "indexing {bar} {value} of about {total}";
  const bar = new SingleBar({ format, hideCursor: true }, Presets.shades_classic);
  bar.start(0, 0);
  return {
    tell: ({ seen, expected, state }) => {
      // What a first walk will meet is not known: the bar then fills as it goes.
      bar.setTotal(state === "done" ? seen : Math.max(expected, seen));
      bar.update(seen);
    },
    [Symbol.dispose]: () => bar.stop(),
  };
}

function indexOutput(view: IndexView): Outcome {
  const { state, text, nameOnly, passedOver, problems } = view;
  return ok({
    json: view,
    lines: [
      `${state === "done" ? "indexed" : "stopped, kept what is done"}: ${text} files by content, ${nameOnly} by name only, ${passedOver} passed over`,
    ],
    notes: problems,
  });
}
