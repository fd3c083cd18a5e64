/**
 * What a router worked out about a menu line, kept for the next question. The menu seldom changes,
 * so nearly every question finds all its lines here.
 */

/** Lines that are remembered; the oldest goes when a further one comes. */
const maxLines = 2_048;

/** Remembers by text. */
export interface LineMemory<T> {
  readonly get: (text: string) => T | undefined;
  readonly put: (text: string, known: T) => void;
}

/** An empty memory. */
export function createLineMemory<T>(): LineMemory<T> {
  const known = new Map<string, T>();
  return {
    get: (text) => known.get(text),
    put: (text, value) => {
      const [oldest] = known.keys();
      if (known.size >= maxLines && oldest !== undefined && !known.has(text)) known.delete(oldest);
      known.set(text, value);
    },
  };
}
