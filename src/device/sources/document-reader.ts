/**
 * Reads PDF and DOCX documents one after the other in a worker thread. A document that takes too long
 * or too much memory costs its worker and is told as such; the next one gets a new one.
 *
 * What a document says is its author's words. Spec: docs/sources.md "Files".
 */
import { Worker } from "node:worker_threads";

import type { Clock } from "../../shared/clock.ts";

/** What is read. */
export type DocumentKind = "pdf" | "docx";

/** A document as the worker gets it. */
export interface DocumentQuestion {
  readonly kind: DocumentKind;
  readonly bytes: Uint8Array<ArrayBuffer>;
}

/** What goes to the worker and what comes back, under one number: a worker may say other things, too. */
export interface DocumentJob extends DocumentQuestion {
  readonly job: number;
}
export interface DocumentReply {
  readonly job: number;
  readonly reading: DocumentReading;
}

/** What became of it: its text, or why there is none. */
export type DocumentReading =
  | { readonly state: "text"; readonly text: string }
  | { readonly state: "encrypted" | "broken" | "too-heavy" };

/** Reads documents. Disposing it ends the worker. */
export interface DocumentReader extends Disposable {
  readonly read: (question: DocumentQuestion) => Promise<DocumentReading>;
}

/** A document that takes longer is given up. Units: ms. */
const readMs = 20_000;
/** Memory of the worker's objects. Units: MiB. */
const maxHeapMb = 256;
/** A worker that nobody needed for so long ends. Units: ms. */
const idleMs = 30_000;

/** Builds the reader; the worker starts with the first document. Bound: one document at a time. */
export function createDocumentReader(clock: Pick<Clock, "schedule">): DocumentReader {
  let worker: Worker | undefined;
  let jobs = 0;
  let last: Promise<unknown> = Promise.resolve();
  let cancelIdle: (() => void) | undefined;
  const end = (): void => {
    cancelIdle?.();
    const ended = worker;
    worker = undefined;
    // Nothing is left to hear from it.
    void ended?.terminate();
  };
  const readNow = async (question: DocumentQuestion): Promise<DocumentReading> => {
    cancelIdle?.();
    const current = worker ?? startWorker();
    if (worker === undefined) {
      worker = current;
      current.once("exit", () => {
        if (worker === current) worker = undefined;
      });
    }
    const reading = await answerOf(current, { ...question, job: (jobs += 1) }, (giveUp) =>
      clock.schedule(readMs, giveUp),
    );
    if (reading === undefined) end();
    else cancelIdle = clock.schedule(idleMs, end);
    return reading ?? { state: "too-heavy" };
  };
  return {
    read: (question) => {
      const mine = last.then(() => readNow(question));
      // A failure is the caller's to hear; the next only waits for the end.
      last = Promise.allSettled([mine]);
      return mine;
    },
    [Symbol.dispose]: end,
  };
}

function startWorker(): Worker {
  const options = { env: {}, resourceLimits: { maxOldGenerationSizeMb: maxHeapMb } };
  const compiled = new URL("./document-worker.js", import.meta.url);
  if (!import.meta.url.endsWith(".ts")) return quiet(new Worker(compiled, options));
  // In a checkout the source itself runs: a worker inherits no loader, so it registers its own.
  const [loader, source] = [import.meta.resolve("tsx/esm/api"), compiled.href.replace(/js$/, "ts")];
  const start = `import("${loader}").then(({ register }) => (register(), import("${source}")))`;
  return quiet(new Worker(start, { ...options, eval: true }));
}

/** A worker that ends while nobody waits for it is replaced at the next document. */
function quiet(worker: Worker): Worker {
  return worker.on("error", () => undefined);
}

/** The worker's answer; `undefined` when it ended, or was given up, before it had one. */
function answerOf(
  worker: Worker,
  job: DocumentJob,
  bound: (giveUp: () => void) => () => void,
): Promise<DocumentReading | undefined> {
  return new Promise((resolve) => {
    const hear = (reply: Partial<DocumentReply>): void => {
      if (reply.job === job.job) end(reply.reading);
    };
    const giveUp = (): void => end(undefined);
    const end = (reading: DocumentReading | undefined): void => {
      cancel();
      worker.off("message", hear).off("error", giveUp).off("exit", giveUp);
      resolve(reading);
    };
    const cancel = bound(giveUp);
    worker.on("message", hear).on("error", giveUp).on("exit", giveUp);
    worker.postMessage(job, [job.bytes.buffer]);
  });
}
