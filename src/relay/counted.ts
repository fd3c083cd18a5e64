/**
 * Parts of the relay with their metrics around them, so that the parts themselves need not know that
 * they are counted.
 */
import type { OpenStream } from "./delivery/open-stream.ts";
import type { Submit } from "./delivery/submit.ts";
import type { Metrics } from "./metrics.ts";

/** Counts uploads by what became of them. */
export function counted(submit: Submit, metrics: Metrics): Submit {
  return async (bytes, address) => {
    const submitted = await submit(bytes, address);
    metrics.uploaded(submitted.ok ? "accepted" : submitted.error.code);
    if (submitted.ok) submitted.value.results.forEach(({ state }) => metrics.copied(state));
    return submitted;
  };
}

/** Counts what is handed to connections. */
export function delivering(metrics: Metrics, open: OpenStream): OpenStream {
  return (name, sink) =>
    open(name, {
      ...sink,
      send: (frame) => {
        metrics.delivered();
        sink.send(frame);
      },
    });
}
