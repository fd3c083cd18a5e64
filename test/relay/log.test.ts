/** What reaches the log, and above all what does not. */
import { describe, expect, it } from "vitest";

import { createLog } from "../../src/relay/log.ts";

function logged(write: (log: ReturnType<typeof createLog>) => void): string {
  let text = "";
  write(createLog({ level: "debug", destination: { write: (line) => void (text += line) } }));
  return text;
}

describe("createLog", () => {
  it("O14: drops tokens, ids, addresses and bodies, however deep a caller puts them", () => {
    const secret = "planted-secret";
    const fields = [
      "token",
      "mailbox",
      "account",
      "deviceId",
      "slot",
      "body",
      "remoteAddress",
      "databaseUrl",
    ];
    const text = logged((log) => {
      for (const field of fields) {
        log.info({ [field]: secret }, "top");
        log.info({ request: { [field]: secret, count: 1 } }, "nested");
      }
    });
    expect(text).not.toContain(secret);
    expect(text.match(/"count":1/g)).toHaveLength(fields.length);
  });

  it("keeps what is counted and typed", () => {
    expect(
      JSON.parse(logged((log) => log.warn({ reason: "overloaded", rows: 3 }, "refused"))),
    ).toMatchObject({
      program: "relay",
      level: 40,
      reason: "overloaded",
      rows: 3,
      msg: "refused",
    });
  });

  it("is silent below its level", () => {
    let text = "";
    createLog({ level: "error", destination: { write: (line) => void (text += line) } }).info("no");
    expect(text).toBe("");
  });
});
