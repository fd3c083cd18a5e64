/**
 * The module that a training leaves behind: the weights as one constant, under a header that names the
 * script and the bank that they came from, so that a test can tell when they are older than the text.
 */
import { writeFileSync } from "node:fs";

import { bankHash } from "./bank-hash.ts";

/** What goes into the module. */
export interface WeightsModule<T> {
  readonly out: string;
  /** Which router's they are: `static` or `embedding`. */
  readonly router: string;
  readonly script: string;
  readonly weights: T;
}

/** Writes it. Format the file after. */
export function writeWeights<T>({ out, router, script, weights }: WeightsModule<T>): void {
  const type = `${router.charAt(0).toUpperCase()}${router.slice(1)}Weights`;
  writeFileSync(
    out,
    `/**
 * Weights of the ${router} router: made by ${script} from the bank ${bankHash()}, never
 * edited.
 */
import type { ${type} } from "./weights.ts";

/** The weights that ship. */
export const ${router}Weights: ${type} = ${JSON.stringify(weights)};
`,
  );
}
