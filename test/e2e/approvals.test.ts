/**
 * One person's laptop wants to call something and asks its owner, who answers from the phone, over a
 * relay. The brain is the real engine over scripted weights, the tool a real MCP server.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";

import { afterAll, beforeAll, describe, expect, it } from "vitest";

import type { ApprovalView } from "../../src/device/agent/port.ts";
import type { Device, DeviceError } from "../../src/device/device.ts";
import type { HomebaseOpView } from "../../src/device/homebase/port.ts";
import { directPlan } from "../../src/device/model/llama/plan-grammar.ts";
import type { Relay } from "../../src/relay/index.ts";
import { ok, type Result } from "../../src/shared/result.ts";
import { tinyServer } from "../support/assistant.ts";
import { cli } from "../support/cli.ts";
import { generatedModels } from "../support/gguf/generated.ts";
import { scriptedLlama, type ScriptedReply } from "../support/gguf/scripted-llama.ts";
import { expectOk, linkDevice, newPerson, until } from "../support/pair.ts";
import { openTestDatabase, type TestDatabase } from "../support/postgres.ts";
import { startRelay } from "../support/relay.ts";

const call = (tool: string, args: object): string => JSON.stringify({ tool, args });
/** Words that a prompt holds once the tool was found, and once it has answered. */
const [found, said] = ["tiny-echo(", "polly"];
const parrot: readonly ScriptedReply[] = [
  { when: ["parrot"], say: call("ToolSearch", { query: "tiny-echo" }) },
  { when: ["parrot", found], say: call("tiny-echo", { text: said }) },
  { when: ["parrot", found, said], say: JSON.stringify({ answer: "It said it again." }) },
  { when: ["parrot", found, "not allowed"], say: JSON.stringify({ answer: "I may not." }) },
  { when: ["parrot", found, said, "not allowed"], say: JSON.stringify({ answer: "I may not." }) },
  { when: ["good morning"], say: JSON.stringify({ answer: "Good morning to you." }) },
  { when: ["tomorrow"], say: directPlan },
  { when: [], say: JSON.stringify({ answer: "I do not know." }) },
];

const models = generatedModels();
const folder = mkdtempSync(path.join(tmpdir(), "pixie-approvals-"));
let database: TestDatabase;
let relay: Relay;
let laptop: Device;
let phone: Device;
let laptopName: string;

beforeAll(async () => {
  database = await openTestDatabase();
  relay = await startRelay({ databaseUrl: database.url });
  laptop = await newPerson(relay.url, "Alice", { models: { folder, threads: 1, idleMs: 0 } });
  phone = await linkDevice(laptop, "phone");
  laptopName = laptop.identity()?.deviceName ?? "";
  await until([laptop, phone], "both know each other's names", () =>
    [laptop, phone].every((device) => device.devices().every(({ name }) => name !== undefined)),
  );
  const file = models.write("parrot.gguf", scriptedLlama(parrot));
  const { name } = expectOk(await laptop.models.import(file));
  expectOk(await laptop.models.use(name));
  laptop.agent.setHarness("resident");
  expectOk(await laptop.mcp.add(tinyServer("good")));
  laptop.homebase.serve();
});
afterAll(async () => {
  await Promise.all([phone.close(), laptop.close()]);
  await relay.close();
  await database.drop();
  rmSync(folder, { recursive: true });
});

interface Asked {
  readonly over: Promise<HomebaseOpView>;
  readonly approval: HomebaseOpView["approvals"][number];
  readonly states: readonly string[];
}

/** Asks from the phone, and waits until that hears what the laptop wants to call. */
async function askParrot(): Promise<Asked> {
  const states: string[] = [];
  let over: Promise<HomebaseOpView> | undefined;
  const heard = await new Promise<HomebaseOpView>((resolve) => {
    const onStatus = (view: HomebaseOpView): void => {
      states.push(`${view.state} ${view.approvals.length}`);
      if (view.approvals.length > 0) resolve(view);
    };
    over = phone.homebase.ask(laptopName, "ask the parrot", { onStatus }).then(expectOk);
  });
  const [approval] = heard.approvals;
  if (over === undefined || approval === undefined) throw new Error("nothing was asked");
  return { over, approval, states };
}

function onLaptop(approvalId: string): ApprovalView | undefined {
  return laptop.agent.approvals().find((one) => one.approvalId === approvalId);
}

function leaveOpen(): Promise<void> {
  return Promise.resolve();
}

/** The phone for a command, which closes what it opens. */
function openPhone(): Promise<Result<Device, DeviceError>> {
  return Promise.resolve(ok({ ...phone, close: leaveOpen, [Symbol.asyncDispose]: leaveOpen }));
}

describe("a call that the laptop asks about", () => {
  it("is told to the phone with what it would do, allowed there, and runs; others go on meanwhile", async () => {
    const { over, approval, states } = await askParrot();
    expect(approval).toMatchObject({ tool: "tiny-echo", args: '{"text":"polly"}' });
    expect(expectOk(await laptop.agent.ask("good morning")).at(-1)).toMatchObject({
      reason: "answered",
    });
    const { approvalId, hash } = approval;
    const answer = { approvalId, verdict: "allow", hash } as const;
    const given = expectOk(await phone.homebase.answerApproval(laptopName, answer));
    expect(given).toMatchObject({ op: "approve", state: "done", text: "tiny-echo: allowed" });
    expect(await over).toMatchObject({ state: "done", text: "It said it again.", approvals: [] });
    expect(states.slice(-3)).toEqual(["running 1", "running 0", "done 0"]);
    expect(onLaptop(approvalId)).toMatchObject({
      state: "allowed",
      answeredBy: phone.identity()?.deviceId,
    });
    expect(expectOk(await phone.homebase.answerApproval(laptopName, answer))).toMatchObject({
      state: "refused",
      reason: "already-answered",
    });
  });

  it("is denied from the command line of the phone, and the brain reads that", async () => {
    const { over, approval } = await askParrot();
    const { approvalId } = approval;
    // The command line looks for a device before it opens one: this stands for the phone's folder.
    writeFileSync(path.join(folder, "store-key.json"), "{}", { mode: 0o600 });
    const setting = { dataDir: folder, openDevice: openPhone };
    const listed = await cli(["approvals", "list"], setting);
    expect(listed.out).toContain(
      `${approvalId.slice(0, 8)}  asked on ${laptopName}  tiny-echo {"text":"polly"}`,
    );
    const there = await cli(["approvals", "list", "--on", laptopName], setting);
    expect(there.out).toContain(`${approvalId.slice(0, 8)}  asked  tiny-echo`);
    const command = ["approvals", "deny", approvalId.slice(0, 8), "--on", laptopName];
    const denied = await cli(command, setting);
    expect(denied).toMatchObject({ code: 0, err: "" });
    expect(await over).toMatchObject({ state: "done", text: "I may not." });
    expect(onLaptop(approvalId)?.state).toBe("denied");
    expect((await cli(command, setting)).code).toBe(3);
  });

  it("is answered by the hash of what was looked at alone", async () => {
    const { over, approval } = await askParrot();
    const { approvalId, hash } = approval;
    const wrong = { approvalId, verdict: "allow", hash: `${hash}x` } as const;
    expect(expectOk(await phone.homebase.answerApproval(laptopName, wrong))).toMatchObject({
      state: "refused",
      reason: "approval-outdated",
    });
    expect(onLaptop(approvalId)?.state).toBe("asked");
    expectOk(await phone.homebase.answerApproval(laptopName, { ...wrong, verdict: "deny", hash }));
    await over;
  });

  it("of a turn that the laptop was asked itself is answered from the phone as well", async () => {
    const here = laptop.agent.ask("ask the parrot");
    await until(laptop, "it asks", () =>
      laptop.agent.approvals().some(({ state }) => state === "asked"),
    );
    const [waits] = expectOk(await phone.homebase.approvals(laptopName)).approvals;
    const { approvalId = "", hash = "" } = waits ?? {};
    expectOk(
      await phone.homebase.answerApproval(laptopName, { approvalId, verdict: "allow", hash }),
    );
    expect(expectOk(await here).at(-1)).toMatchObject({ reason: "answered" });
  });
});
