/**
 * Everything that can keep the relay's database from opening, as data: each carries what was found
 * and a text that says what to do. Only main.ts turns one into an exit code.
 */

/** Why the database did not open. `message` is for the operator and holds no secrets. */
export type DatabaseError =
  | { readonly type: "locked"; readonly message: string; readonly holderPid: number | undefined }
  | { readonly type: "no-binaries"; readonly message: string }
  | { readonly type: "data-folder"; readonly message: string }
  | { readonly type: "embedded-start"; readonly message: string }
  | { readonly type: "unreachable"; readonly message: string }
  | { readonly type: "server-too-old"; readonly message: string }
  | { readonly type: "schema-newer"; readonly message: string }
  | { readonly type: "schema-outdated"; readonly message: string }
  | { readonly type: "migration"; readonly message: string };

/** A thrown value as one line, without the connection string that some drivers put there. */
export function causeText(cause: unknown): string {
  const text = cause instanceof Error ? firstText(cause) : String(cause);
  return text
    .replaceAll(/postgres(?:ql)?:\/\/\S+/g, "postgres://…")
    .replaceAll(/\s+/g, " ")
    .trim();
}

// A refused connection to several addresses is an AggregateError with an empty message of its own, and
// what `fetch` throws says why only in its own cause.
function firstText(cause: Error): string {
  if (cause instanceof TypeError && cause.cause instanceof Error) return firstText(cause.cause);
  if (cause.message !== "") return cause.message;
  if (cause instanceof AggregateError)
    return cause.errors.map((each) => causeText(each)).join("; ");
  return cause.name;
}

/** Whether a thrown value is a system error with that code (`ENOENT`, `EEXIST` …). */
export function hasCode(cause: unknown, code: string): boolean {
  return cause instanceof Error && "code" in cause && cause.code === code;
}
