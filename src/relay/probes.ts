/**
 * Which address the relay takes a client for: the doctor asks for `/v1/info` through the proxy with a
 * mark of its own in a header, and reads at the operator's listener where that request came from.
 *
 * Only requests with the header are remembered, the last few, in memory. Spec: docs/operating.md
 * "Looking for what is wrong".
 */

/** Marks that were seen. */
export interface Probes {
  readonly seen: (mark: string, address: string) => void;
  readonly list: () => Readonly<Record<string, string>>;
}

/** What a mark looks like. */
const markPattern = /^[0-9a-f]{16}$/;
/** More push the oldest out. */
const maxProbes = 16;

/** Remembers none yet. */
export function createProbes(): Probes {
  const addressByMark = new Map<string, string>();
  return {
    seen: (mark, address) => {
      if (!markPattern.test(mark)) return;
      addressByMark.set(mark, address);
      const [oldest] = addressByMark.keys();
      if (addressByMark.size > maxProbes && oldest !== undefined) addressByMark.delete(oldest);
    },
    list: () => Object.fromEntries(addressByMark),
  };
}
