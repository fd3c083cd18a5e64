/**
 * Queries that run for every item that arrives, prepared once per store instead of built and
 * compiled each time: catching up is mostly such queries.
 */
import type { ReadTx } from "./sqlite.ts";

/** A query built once for each store, on its first use. */
export function preparedOn<T>(build: (tx: ReadTx) => T): (tx: ReadTx) => T {
  const builtByStore = new WeakMap<ReadTx, T>();
  return (tx) => {
    const known = builtByStore.get(tx);
    if (known !== undefined) return known;
    const built = build(tx);
    builtByStore.set(tx, built);
    return built;
  };
}
