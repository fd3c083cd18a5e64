/** Registration behind codes: who gets in, how often, and that a code is told nowhere. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";

import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { type InviteOrder, runInvite } from "../../../src/relay/admin/invite-commands.ts";
import { createRelay, defaultConfig, type Relay } from "../../../src/relay/index.ts";
import { createLog } from "../../../src/relay/log.ts";
import {
  codeHashOf,
  createCode,
  listCodes,
  revokeCode,
} from "../../../src/relay/store/registration-codes.ts";
import { dayMs } from "../../../src/shared/clock.ts";
import { systemRng } from "../../../src/shared/rng.ts";
import { newAccount, type RelayAccount, registrationOf } from "../../support/accounts.ts";
import { createManualClock } from "../../support/manual-clock.ts";
import { openTestDatabase, type TestDatabase } from "../../support/postgres.ts";
import { postJson, startRelay } from "../../support/relay.ts";

describe("registration by code", () => {
  const clock = createManualClock();
  const logged: string[] = [];
  let db: TestDatabase;
  let relay: Relay;
  beforeAll(async () => {
    db = await openTestDatabase();
    const destination = { write: (line: string) => void logged.push(line) };
    const log = createLog({ level: "trace", destination });
    relay = await startRelay({
      databaseUrl: db.url,
      clock,
      log,
      config: { registration: "codes" },
    });
  });
  afterAll(async () => {
    await relay.close();
    await db.drop();
  });

  const make = async (uses = 1, days = 7): Promise<{ id: string; code: string }> => {
    const wish = { uses, expiresMs: clock.nowMs() + days * dayMs };
    return createCode(db.sql, systemRng, wish, clock.nowMs());
  };
  /** 201, or why not. */
  const register = async (
    code?: string,
    account: RelayAccount = newAccount(clock.nowMs()),
  ): Promise<number | string | undefined> => {
    const change = code === undefined ? {} : { registration_code: code };
    const body = registrationOf(account, relay.origin, clock.nowMs(), change);
    const answer = await postJson(relay, "/v1/accounts", body);
    return answer.status === 201 ? 201 : answer.body.error;
  };
  const used = async (id: string): Promise<number | undefined> =>
    (await listCodes(db.sql)).find((each) => each.id === id)?.used;

  it("is closed without one, and with a wrong one", async () => {
    const { code, id } = await make();
    const wrong = [undefined, "", "x", code.slice(1), `${code}A`, `${code.toLowerCase()}b`];
    for (const each of wrong) expect(await register(each)).toBe("registration-closed");
    expect(await used(id)).toBe(0);
  });

  it("is open once, and for the very same registration again", async () => {
    const { code, id } = await make();
    const change = { registration_code: ` ${code}\n` };
    const bob = newAccount(clock.nowMs());
    const body = registrationOf(bob, relay.origin, clock.nowMs(), change);
    expect((await postJson(relay, "/v1/accounts", body)).status).toBe(201);
    expect((await postJson(relay, "/v1/accounts", body)).status).toBe(201);
    expect(await register(code)).toBe("registration-closed");
    expect(await used(id)).toBe(1);
  });

  it("is open as often as was said, however many come at once", async () => {
    const { code, id } = await make(3);
    const all = await Promise.all(Array.from({ length: 12 }, () => register(code)));
    expect(all.filter((each) => each === 201)).toHaveLength(3);
    expect(all.filter((each) => each === "registration-closed")).toHaveLength(9);
    expect(await used(id)).toBe(3);
  });

  it("a refused registration uses nothing up", async () => {
    const { code, id } = await make(2);
    const bob = newAccount(clock.nowMs());
    expect(await register(code, bob)).toBe(201);
    const thief = { ...newAccount(clock.nowMs()), accountMailbox: bob.accountMailbox };
    expect(await register(code, thief)).toBe("conflict");
    expect(await used(id)).toBe(1);
  });

  it("ends with its time, and when it is revoked", async () => {
    const [short, other] = [await make(5, 1), await make(5, 9)];
    expect(await register(short.code)).toBe(201);
    await clock.advance(dayMs);
    expect(await register(short.code)).toBe("registration-closed");
    expect(await register(other.code)).toBe(201);
    expect(await revokeCode(db.sql, other.id, clock.nowMs())).toBe(true);
    expect(await revokeCode(db.sql, "no such id", clock.nowMs())).toBe(false);
    expect(await register(other.code)).toBe("registration-closed");
  });

  it("O14: a code is neither stored nor logged", async () => {
    const { code, id } = await make(5);
    await register(code);
    await register(`${code}x`);
    const [row] = await db.sql<{ text: string }[]>`
      select row_to_json(c)::text as text from registration_code c where id = ${id}`;
    expect(row?.text).not.toContain(code);
    expect(row?.text).not.toContain(Buffer.from(code, "base64url").toString("hex"));
    expect(row?.text).toContain(Buffer.from(codeHashOf(code)).toString("hex"));
    expect(logged.length).toBeGreaterThan(0);
    expect(logged.join("")).not.toContain(code);
  });
});

it("codes are made, listed and revoked beside a running relay that brings its own database", async () => {
  const dataDir = mkdtempSync(path.join(tmpdir(), "pixie-codes-"));
  const config = { ...defaultConfig, dataDir, port: 0, registration: "codes" as const };
  const ask = async (order: InviteOrder): Promise<Record<string, unknown>[]> => {
    const done = await runInvite({ ...config, logLevel: "silent" }, order);
    if (!done.ok) throw new Error(done.error.message);
    return done.value.map((line): Record<string, unknown> => JSON.parse(line));
  };
  try {
    // Before the first start, too: the database is made, and stopped again.
    const [early] = await ask({ type: "create", uses: "2", days: "1" });
    const started = await createRelay({ config, log: createLog({ level: "silent" }) });
    if (!started.ok) throw new Error(started.error.message);
    await using relay = started.value;
    const [made] = await ask({ type: "create", uses: "1", days: "7" });
    const nowMs = Date.now();
    const change = { registration_code: String(made?.["code"]) };
    const body = registrationOf(newAccount(nowMs), relay.origin, nowMs, change);
    expect((await postJson(relay, "/v1/accounts", body)).status).toBe(201);
    const [revoked] = await ask({ type: "revoke", id: String(early?.["id"]) });
    expect(revoked).toEqual({ id: early?.["id"], revoked: true });
    const listed = await ask({ type: "list" });
    expect(
      listed.map(({ id, uses, used, revokedMs }) => [id, uses, used, revokedMs !== null]),
    ).toEqual([
      [made?.["id"], 1, 1, false],
      [early?.["id"], 2, 0, true],
    ]);
    expect(JSON.stringify(listed)).not.toContain(String(made?.["code"]));
    await expect(ask({ type: "create", uses: "0", days: "7" })).rejects.toThrow(/--uses from 1/);
    await expect(ask({ type: "revoke", id: "gone" })).rejects.toThrow(/no code has the id gone/);
  } finally {
    rmSync(dataDir, { recursive: true, force: true });
  }
});
