/**
 * What a turn has used up so far: tokens, as its brain counts them, and time, which stands still while
 * the owner is asked. The limits themselves are in limits.ts.
 *
 * Spec: docs/agent.md "Guards".
 */
import type { Usage } from "../model/port.ts";

/** Tokens of a turn. A brain that counts none spends none. */
export interface Spending {
  readonly add: (usage: Usage | undefined) => void;
  /** Evaluated and generated tokens; what came from a cache costs nothing. */
  readonly tokens: () => number;
}

/** Nothing spent yet. */
export function createSpending(): Spending {
  let spent = 0;
  return {
    add: (usage) => (spent += (usage?.evaluatedTokens ?? 0) + (usage?.completionTokens ?? 0)),
    tokens: () => spent,
  };
}
