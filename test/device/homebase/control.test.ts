/** Device control: who is heard, that one id acts once, and that what was begun is told honestly. */
import { afterEach, describe, expect, it } from "vitest";

import type { ApprovalView } from "../../../src/device/agent/port.ts";
import { type Approving, approveKind } from "../../../src/device/homebase/approve-kind.ts";
import { boundedReply, parseReply } from "../../../src/device/homebase/op.ts";
import { maxAttempts } from "../../../src/device/homebase/serve.ts";
import { maxOpenOps } from "../../../src/device/homebase/take-op.ts";
import { foreignHomebaseTexts } from "../../../src/device/store/homebase.ts";
import { members } from "../../../src/device/skills/strict-json.ts";
import { ok } from "../../../src/shared/result.ts";
import { utf8 } from "../../../src/shared/bytes.ts";
import { idText } from "../../../src/shared/ids.ts";
import { know } from "../../support/device-world.ts";
import { bob, carol, closeWorlds, item, rng, texts } from "../messaging/inbox-world.ts";
import { asked, heldKind, homebaseWorld, opText, sibling } from "./homebase-world.ts";

afterEach(closeWorlds);

const approvalView: ApprovalView = {
  approvalId: `${"q".repeat(21)}A`,
  runId: `${"r".repeat(21)}A`,
  tool: "tiny-echo",
  args: "{}",
  hash: "h",
  why: "it is not on the allow list",
  askedMs: 1,
  expiresMs: 2,
  state: "asked",
  answeredMs: undefined,
  answeredBy: undefined,
};

/** Lets everything that is ready run. */
async function turnOver(): Promise<void> {
  for (let i = 0; i < 50; i += 1) await Promise.resolve();
}

describe("who is heard", () => {
  it("a sibling is; what it asks is in no conversation", async () => {
    const { kind, runs } = heldKind(true);
    const { world, serving, ledger, replies } = homebaseWorld({ ask: kind });
    await world.deliver(asked(opText("ask", "a")));
    expect(ledger()).toMatchObject([{ direction: "in", peerDevice: sibling, state: "waiting" }]);
    expect(world.acknowledged).toEqual([1n]);
    expect(world.events).toContainEqual({ type: "homebase" });
    serving.start();
    await turnOver();
    runs[0]?.end("here");
    await turnOver();
    expect(replies()).toMatchObject([{ status: "running" }, { status: "done", text: "here" }]);
    expect(texts(world)).toEqual([]);
  });

  it("a contact and a stranger are not: the text is shown, acts as nothing and is counted", async () => {
    const { kind, runs } = heldKind(true);
    const { world, serving, ledger } = homebaseWorld({ ask: kind });
    know(world, bob);
    serving.start();
    const text = opText("ask", "a");
    await world.deliver(item(bob, { content: utf8(text) }), item(carol, { content: utf8(text) }));
    await turnOver();
    expect(texts(world, bob)).toEqual([text]);
    expect(texts(world, carol)).toEqual([text]);
    expect(ledger()).toEqual([]);
    expect(runs).toEqual([]);
    expect(world.parts.store.read(foreignHomebaseTexts)).toBe(2);
  });

  it("what is meant for another device is passed over, and so is a reply that nobody waits for", async () => {
    const { world, ledger } = homebaseWorld({});
    await world.deliver(
      asked(opText("ask", "a", { to: sibling })),
      asked(opText("reply", "b", { args: { re: `${"c".repeat(21)}A`, status: "done" } })),
    );
    expect(ledger()).toEqual([]);
    expect(texts(world)).toEqual([]);
  });

  it("a malformed one of our own is shown rather than lost", async () => {
    const { world, ledger } = homebaseWorld({});
    const broken = JSON.stringify({ pixie_homebase_op: { v: 1, op: "ask" } });
    await world.deliver(asked(broken));
    expect(ledger()).toEqual([]);
    expect(texts(world)).toEqual([broken]);
  });

  it("a device that was removed after it asked gets nothing done, and no answer", async () => {
    const { kind, runs } = heldKind(true);
    const { world, serving, ledger, replies } = homebaseWorld(
      { ask: kind },
      { standing: () => "revoked" },
    );
    await world.deliver(asked(opText("ask", "a")));
    serving.start();
    await turnOver();
    expect([runs, replies()]).toEqual([[], []]);
    expect(ledger()).toMatchObject([{ state: "dead" }]);
  });

  it("one that no list names is waited for a few times, and then given up and shown", async () => {
    const { kind, runs } = heldKind(true);
    const { world, serving, ledger } = homebaseWorld({ ask: kind }, { standing: () => "unknown" });
    await world.deliver(asked(opText("ask", "a")));
    serving.start();
    for (let hour = 0; hour < 24; hour += 1) {
      await turnOver();
      await world.clock.advance(3_600_000);
    }
    expect(runs).toEqual([]);
    expect(ledger()).toMatchObject([{ state: "dead", attempts: maxAttempts }]);
  });
});

describe("one id", () => {
  it("acts once; asked again, it is answered again", async () => {
    const { kind, runs } = heldKind(true);
    const { world, serving, ledger, replies } = homebaseWorld({ ask: kind });
    serving.start();
    const text = opText("ask", "a");
    await world.deliver(asked(text), asked(text));
    serving.look();
    await turnOver();
    runs[0]?.end("once");
    await turnOver();
    await world.deliver(asked(text));
    serving.look();
    await turnOver();
    expect(runs).toHaveLength(1);
    expect(ledger()).toHaveLength(1);
    expect(replies().slice(-2)).toMatchObject([
      { status: "done", text: "once" },
      { status: "done", text: "once" },
    ]);
  });

  it("that was taken back before it came never begins", async () => {
    const { kind, runs } = heldKind(true);
    const { world, serving, replies } = homebaseWorld({ ask: kind });
    const re = `${"a".repeat(21)}A`;
    await world.deliver(asked(opText("ask", "a")), asked(opText("cancel", "b", { args: { re } })));
    serving.start();
    await turnOver();
    expect(runs).toEqual([]);
    expect(replies()).toMatchObject([{ re, status: "cancelled" }]);
  });

  it("is taken back while it runs: the work hears it", async () => {
    const { kind, runs } = heldKind(true);
    const { world, serving, replies } = homebaseWorld({ ask: kind });
    serving.start();
    await world.deliver(asked(opText("ask", "a")));
    serving.look();
    await turnOver();
    await world.deliver(asked(opText("cancel", "b", { args: { re: `${"a".repeat(21)}A` } })));
    serving.look();
    await turnOver();
    expect(runs[0]?.signal.aborted).toBe(true);
    expect(replies().at(-1)).toMatchObject({ status: "cancelled" });
  });
});

describe("what cannot be done", () => {
  it("is answered by type: an unknown operation, another version, a full house", async () => {
    const { kind } = heldKind(true);
    const { world, serving, replies } = homebaseWorld({ ask: kind });
    serving.start();
    await world.deliver(asked(opText("dance", "a")), asked(opText("ask", "b", { v: 2 })));
    serving.look();
    await turnOver();
    expect(replies()).toMatchObject([{ status: "unknown-op" }, { status: "unknown-op" }]);
    for (let index = 0; index <= maxOpenOps; index += 1) {
      await world.deliver(asked(opText("ask", "x", { id: idText(rng(16)) })));
    }
    expect(replies().at(-1)).toMatchObject({ status: "refused", reason: "homebase-full" });
  });

  it("expires: a question of ten minutes ago is not begun, a look-up is", async () => {
    const ask = heldKind(true);
    const look = heldKind(false);
    const { world, serving, replies } = homebaseWorld({ ask: ask.kind, "find-file": look.kind });
    const agoMs = 10 * 60_000 + 1;
    await world.deliver(asked(opText("ask", "a"), agoMs), asked(opText("find-file", "b"), agoMs));
    serving.start();
    await turnOver();
    look.runs[0]?.end("found");
    await turnOver();
    expect(ask.runs).toEqual([]);
    expect(replies()).toMatchObject([{ status: "expired" }, { status: "done", text: "found" }]);
  });
});

describe("an answer to what the device asks its owner", () => {
  const agent: Approving = {
    approvals: () => [],
    answerApproval: ({ verdict, by }) =>
      ok({ ...approvalView, tool: `${verdict} by ${by}`, state: "allowed" }),
  };
  const args = { approval: approvalView.approvalId, verdict: "allow", hash: "h" };

  it("counts with the device that gave it; ten minutes later it does not", async () => {
    const { world, serving, replies } = homebaseWorld({ approve: approveKind(agent) });
    await world.deliver(
      asked(opText("approve", "a", { args })),
      asked(opText("approve", "b", { args }), 10 * 60_000 + 1),
      asked(opText("approve", "c", { args: { ...args, verdict: "perhaps" } })),
    );
    serving.start();
    await turnOver();
    const byId = replies().toSorted((one, other) => (one.re < other.re ? -1 : 1));
    expect(byId).toMatchObject([
      { status: "done", text: `allow by ${sibling}: allowed` },
      { status: "expired" },
      { status: "refused", reason: "malformed-args" },
    ]);
  });

  it("comes in when the house is full of questions", async () => {
    const { kind } = heldKind(true);
    const { world, serving, replies } = homebaseWorld({ ask: kind, approve: approveKind(agent) });
    for (let index = 0; index < maxOpenOps; index += 1) {
      await world.deliver(asked(opText("ask", "x", { id: idText(rng(16)) })));
    }
    await world.deliver(asked(opText("approve", "a", { args })));
    serving.start();
    await turnOver();
    expect(replies()).toContainEqual(expect.objectContaining({ status: "done" }));
  });

  it("is asked for with calls whole: one that does not fit is counted and left out", async () => {
    const { approvalId, tool, hash, why, expiresMs } = approvalView;
    const short = { approvalId, tool, args: "{}", hash, why, expiresMs };
    const long = { ...short, args: JSON.stringify({ text: "x".repeat(20_000) }) };
    const told = boundedReply({ re: approvalId, status: "done", approvals: [long, short] });
    expect(told).toMatchObject({ approvals: [short], shown: 1, total: 2 });
    const fields: unknown = JSON.parse(JSON.stringify(told));
    expect(parseReply({ args: members(fields) ?? new Map() })).toEqual(told);
    const broken = new Map<string, unknown>([...(members(fields) ?? []), ["approvals", [{}, 1]]]);
    expect(parseReply({ args: broken })?.approvals).toEqual([]);
  });
});

describe("a restart", () => {
  it("tells whose question was begun that it was interrupted, and begins it no second time", async () => {
    const { kind, runs } = heldKind(true);
    const { world, serving, again, replies } = homebaseWorld({ ask: kind });
    await world.deliver(asked(opText("ask", "a")));
    serving.start();
    await turnOver();
    expect(runs).toHaveLength(1);
    // The process is gone without a word; another one opens the store.
    const next = heldKind(true);
    again({ ask: next.kind }).start();
    await turnOver();
    expect(next.runs).toEqual([]);
    expect(replies().at(-1)).toMatchObject({ status: "interrupted" });
  });

  it("looks things up again", async () => {
    const { kind } = heldKind(false);
    const { world, serving, again, replies } = homebaseWorld({ "find-file": kind });
    await world.deliver(asked(opText("find-file", "a")));
    serving.start();
    await turnOver();
    const next = heldKind(false);
    again({ "find-file": next.kind }).start();
    await turnOver();
    next.runs[0]?.end("found");
    await turnOver();
    expect(replies()).toMatchObject([{ status: "done", text: "found" }]);
  });

  it("that is orderly leaves the question to the next start", async () => {
    const { kind, runs } = heldKind(true);
    const { world, serving, again, ledger, replies } = homebaseWorld({ ask: kind });
    await world.deliver(asked(opText("ask", "a")));
    serving.start();
    await turnOver();
    await serving.close();
    expect(runs[0]?.signal.aborted).toBe(true);
    expect(ledger()).toMatchObject([{ state: "running" }]);
    again().start();
    await turnOver();
    expect(replies().at(-1)).toMatchObject({ status: "interrupted" });
  });
});
