/**
 * Following one operation of a daemon while it runs: every line is a step, the last one the answer.
 * Going away is how a client takes the operation back.
 *
 * Which answers fit an operation is judged by client.ts. Spec: docs/operating.md "Local API".
 */
import { request as httpRequest } from "node:http";
import { createInterface } from "node:readline";

import { Type } from "typebox";
import { Value } from "typebox/value";

import { err, ok, type Result } from "../../shared/result.ts";
import { type Following, progressView } from "./agent-operations.ts";

/** Where to send what. */
export interface FollowTarget {
  readonly socketPath: string;
  readonly path: string;
  readonly body: string;
}

/** Why there is no answer: it was taken back, or the daemon went away. */
export type NotAnswered = "taken-back" | "gone";

const step = Type.Object({ progress: progressView });

/** Sends an operation and hears its steps. Returns the last line, unjudged. */
export function follow(
  { socketPath, path, body }: FollowTarget,
  { signal, onProgress }: Following,
): Promise<Result<unknown, NotAnswered>> {
  return new Promise((resolve) => {
    const end = (): void => resolve(err(signal?.aborted === true ? "taken-back" : "gone"));
    const request = httpRequest({
      socketPath,
      path,
      method: "POST",
      headers: { "content-type": "application/json", accept: "application/x-ndjson" },
      ...(signal === undefined ? {} : { signal }),
    });
    request.on("error", end);
    request.on("response", (response) => {
      response.on("error", end);
      const lines = createInterface({ input: response, crlfDelay: Infinity });
      lines.on("line", (line) => {
        const value = parseLine(line);
        if (Value.Check(step, value)) onProgress?.(value.progress);
        else resolve(ok(value));
      });
      lines.on("close", end);
    });
    request.end(body);
  });
}

function parseLine(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch (cause) {
    // A daemon that dies in the middle of a line: the end of the stream says so.
    if (cause instanceof SyntaxError) return undefined;
    throw cause;
  }
}
