/**
 * Reading what the database threw. The store itself lets failures of the database through; callers
 * above ask here what kind they are, so that no other file knows SQLSTATE codes.
 */

/** SQLSTATE, or the driver's own code, of a thrown value. */
export function failureCode(cause: unknown): string {
  if (cause instanceof Error && "code" in cause && typeof cause.code === "string") {
    return cause.code;
  }
  return cause instanceof Error ? cause.name : "unknown";
}

/** Whether a unique key was already taken. */
export function isUniqueViolation(cause: unknown): boolean {
  return failureCode(cause) === "23505";
}

/** Whether the same statement may simply be run again: deadlock or serialization failure. */
export function isRetryable(cause: unknown): boolean {
  return ["40P01", "40001"].includes(failureCode(cause));
}

/** Whether the database had no room to write; the statement changed nothing. */
export function isDiskFull(cause: unknown): boolean {
  return failureCode(cause) === "53100";
}

/** Whether no partition holds the row's day. */
export function isMissingPartition(cause: unknown): boolean {
  return failureCode(cause) === "23514";
}
