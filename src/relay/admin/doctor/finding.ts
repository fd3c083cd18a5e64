/** What the doctor found: one line each, with what to do where something is wrong. */

/** One finding. `fail` is what keeps the relay or its users from working. */
export interface Finding {
  readonly level: "ok" | "warn" | "fail";
  /** What was looked at. */
  readonly check: string;
  readonly found: string;
  /** What to do about it; lines to write are on lines of their own. */
  readonly remedy?: string;
}

/** Nothing to do. */
export function fine(check: string, found: string): Finding {
  return { level: "ok", check, found };
}

/** Works, and should not stay so. */
export function warning(check: string, found: string, remedy: string): Finding {
  return { level: "warn", check, found, remedy };
}

/** Does not work. */
export function failure(check: string, found: string, remedy: string): Finding {
  return { level: "fail", check, found, remedy };
}

/** A finding as text: one line, and its remedy indented below. */
export function findingText({ level, check, found, remedy }: Finding): string {
  const mark = { ok: "ok  ", warn: "WARN", fail: "FAIL" }[level];
  const advice = remedy === undefined ? "" : `\n${remedy.replaceAll(/^/gm, "       ")}`;
  return `${mark}  ${check}: ${found}${advice}\n`;
}
