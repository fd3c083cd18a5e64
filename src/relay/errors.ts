/**
 * Why a relay does not start, and how failures of the database are answered: the one place where
 * what happened inside becomes what is said outside.
 */
import { type Refusal, refusal } from "../shared/wire/errors.ts";
import type { DatabaseError } from "./db/database-error.ts";

/** Why `createRelay` failed. `message` is for the operator and holds no secret. */
export type RelayStartError =
  | { readonly type: "database"; readonly message: string; readonly cause: DatabaseError }
  | { readonly type: "database-failed"; readonly message: string }
  | { readonly type: "listen"; readonly message: string; readonly code: string }
  | { readonly type: "public-url"; readonly message: string };

/** The answer when the database did not do what it was asked. Units: `retryAfterMs`. */
export function databaseRefusal(): Refusal {
  return refusal("overloaded", "the relay cannot reach its database: try again", {
    retryAfterMs: 2_000,
  });
}
