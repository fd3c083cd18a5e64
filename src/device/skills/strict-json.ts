/**
 * JSON as a stranger must write it: what `JSON.parse` accepts, minus repeated keys, which it would
 * settle silently by letting the last one win while another reader may take the first.
 */
import { err, ok, type Result } from "../../shared/result.ts";

/** Why a text is not accepted. */
export interface JsonError {
  readonly type: "not-json" | "duplicate-key";
}

/** Parses JSON. Never throws. Errors: a syntax error, or an object that repeats a key. */
export function parseStrictJson(text: string): Result<unknown, JsonError> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return err({ type: "not-json" });
  }
  return hasDuplicateKey(text) ? err({ type: "duplicate-key" }) : ok(value);
}

/** The members of a JSON object, or undefined for any other value. A Map: any text may be a key. */
export function members(value: unknown): ReadonlyMap<string, unknown> | undefined {
  return typeof value === "object" && value !== null && !Array.isArray(value)
    ? new Map<string, unknown>(Object.entries(value))
    : undefined;
}

// In a text that has parsed, a string before a colon is a key, and braces outside strings nest objects.
function hasDuplicateKey(json: string): boolean {
  const open: Set<string>[] = [];
  for (const [token, written] of json.matchAll(
    /("[^"\\]*(?:\\.[^"\\]*)*")\s*:|"[^"\\]*(?:\\.[^"\\]*)*"|[{}]/g,
  )) {
    if (token === "{") open.push(new Set());
    else if (token === "}") open.pop();
    else if (written !== undefined) {
      // Two spellings of one key (`\u0061` and `a`) are the same key.
      const key = String(JSON.parse(written));
      const keys = open.at(-1);
      if (keys === undefined || keys.has(key)) return true;
      keys.add(key);
    }
  }
  return false;
}
