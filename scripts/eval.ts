/**
 * `npm run eval -- --suite choice --brain NAME [--cases FILE] [--every N] [--json] [--each]`: measures
 * how well a brain chooses, beside BM25, on committed requests or on anyone's own.
 *
 * Prints a table, or one JSON row a line. It judges nothing: docs/evaluation.md keeps the results.
 */
import { parseArgs } from "node:util";

import { choiceSuite } from "./eval/choice-suite.ts";

const { values: options } = parseArgs({
  options: {
    suite: { type: "string", default: "choice" },
    brain: { type: "string", default: "basic" },
    cases: { type: "string" },
    every: { type: "string", default: "1" },
    json: { type: "boolean", default: false },
    each: { type: "boolean", default: false },
  },
});

if (options.suite !== "choice") {
  process.stderr.write(`eval: expected --suite choice, got ${options.suite}\n`);
  process.exitCode = 2;
} else {
  const text = await choiceSuite({
    brain: options.brain,
    file: options.cases ?? "test/eval/choice-cases.json",
    every: Number(options.every),
    json: options.json,
    onCase: (line) => {
      if (options.each) process.stderr.write(`${line}\n`);
    },
  });
  process.stdout.write(`${text}\n`);
  // What was opened for the run ends with it.
  process.exit();
}
