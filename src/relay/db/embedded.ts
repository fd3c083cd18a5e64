/** Placeholder signature, filled by the next commit. */
import type { Result } from "../../shared/result.ts";
import type { Logger } from "../log.ts";
import type { DatabaseError } from "./database-error.ts";

/** A running embedded server. */
export interface EmbeddedServer {
  readonly socketFolder: string;
  readonly pid: number;
  readonly stop: () => Promise<void>;
}

/** Starts it. */
export function startEmbedded(_options: {
  readonly dataDir: string;
  readonly log: Logger;
}): Promise<Result<EmbeddedServer, DatabaseError>> {
  return Promise.reject(new Error("not built yet"));
}
