/**
 * A bar that shows how far something is, drawn where a person looks at the error output and nowhere
 * else. Drawing is a library's; which numbers are shown is the caller's.
 */
import { SingleBar } from "cli-progress";

/** A bar. `update` draws at most ten times a second. */
export interface ProgressBar {
  readonly update: (doneBytes: number, totalBytes: number) => void;
  readonly stop: () => void;
}

const mib = 1_024 ** 2;

/** Starts a bar of bytes on the error output; without a terminal there, one that draws nothing. */
export function byteBar(title: string): ProgressBar {
  if (!process.stderr.isTTY) return { update: () => undefined, stop: () => undefined };
  const bar = new SingleBar({
    format: `${title} [{bar}] {percentage}% | {value} of {total} MiB | {eta_formatted} left`,
    barCompleteChar: "#",
    barIncompleteChar: ".",
    stream: process.stderr,
    hideCursor: true,
  });
  let started = false;
  return {
    update: (doneBytes, totalBytes) => {
      if (!started) bar.start(Math.ceil(totalBytes / mib), 0);
      started = true;
      bar.update(Math.floor(doneBytes / mib));
    },
    stop: () => bar.stop(),
  };
}
