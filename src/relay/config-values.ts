/**
 * How each kind of setting is understood, whether it was written in TOML, in the environment or as a
 * flag. Pure; which setting takes which is config-settings.ts.
 */
import { isIP } from "node:net";
import path from "node:path";

import { err, ok, type Result } from "../shared/result.ts";

/** A value that was not understood: what was expected. */
export type SettingError = { readonly type: "setting"; readonly expected: string };

/** Understands a written value. */
export type Parse<T> = (written: unknown) => Result<T, SettingError>;

/** A text that is not empty. */
export const text = (written: unknown): Result<string, SettingError> =>
  typeof written === "string" && written !== ""
    ? ok(written)
    : err({ type: "setting", expected: "a text that is not empty" });

/** A folder; made absolute. */
export const folder = (written: unknown): Result<string, SettingError> => {
  const parsed = text(written);
  return parsed.ok ? ok(path.resolve(parsed.value)) : parsed;
};

/** A whole number within bounds, both included. */
export function integer(low: number, high: number): Parse<number> {
  return (written) => {
    const value =
      typeof written === "string" && /^\d{1,9}$/.test(written) ? Number(written) : written;
    return typeof value === "number" && Number.isInteger(value) && value >= low && value <= high
      ? ok(value)
      : err({ type: "setting", expected: `a whole number from ${low} to ${high}` });
  };
}

/** One of a closed set of words. */
export function oneOf<T extends string>(
  choices: readonly T[],
): (written: unknown) => Result<T, SettingError> {
  return (written) => {
    const choice = choices.find((each) => each === written);
    return choice === undefined
      ? err({ type: "setting", expected: `one of ${choices.join(", ")}` })
      : ok(choice);
  };
}

/** true or false, as such or as text. */
export const flag: Parse<boolean> = (written) => {
  if (written === true || written === "true") return ok(true);
  if (written === false || written === "false") return ok(false);
  return err({ type: "setting", expected: "true or false" });
};

/** An address or a host name to listen on. */
export const host: Parse<string> = (written) =>
  typeof written === "string" && (isIP(written) !== 0 || /^[a-z0-9][a-z0-9.-]*$/i.test(written))
    ? ok(written)
    : err({ type: "setting", expected: "an address or a host name, without a port" });

/** An http(s) origin. */
export const publicUrl: Parse<string> = (written) => {
  const expected = "http(s)://host[:port] without path, query or user";
  if (typeof written !== "string" || !URL.canParse(written))
    return err({ type: "setting", expected });
  const url = new URL(written);
  const bare =
    url.href === `${url.origin}/` && (url.protocol === "https:" || url.protocol === "http:");
  return bare ? ok(url.origin) : err({ type: "setting", expected });
};

/** Where a Postgres is. */
export const databaseUrl: Parse<string> = (written) =>
  typeof written === "string" && /^postgres(ql)?:\/\/\S+$/.test(written)
    ? ok(written)
    : err({ type: "setting", expected: "postgres://user:password@host:port/database" });

/** Networks, as a list or comma-separated. */
export const networks: Parse<readonly string[]> = (written) => {
  const list: readonly unknown[] | undefined = Array.isArray(written)
    ? written
    : typeof written === "string"
      ? written.split(",").map((each) => each.trim())
      : undefined;
  const valid = list?.filter((each): each is string => typeof each === "string" && isNetwork(each));
  return list !== undefined && valid !== undefined && valid.length === list.length
    ? ok(valid)
    : err({
        type: "setting",
        expected: "networks such as 10.0.0.0/8, never bare addresses or names",
      });
};

function isNetwork(written: string): boolean {
  const [address = "", bits = "", ...rest] = written.split("/");
  const version = isIP(address);
  return (
    rest.length === 0 &&
    version !== 0 &&
    /^\d{1,3}$/.test(bits) &&
    Number(bits) <= (version === 4 ? 32 : 128)
  );
}
