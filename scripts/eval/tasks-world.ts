/**
 * The world that the `tasks` suite asks about, built from its committed parts: a calendar, notes, files
 * and messages on a device of its own, with every source granted.
 *
 * Spec: docs/evaluation.md "Whether a task is done".
 */
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";

import { type Static, Type } from "typebox";
import { Value } from "typebox/value";

import { createBackground } from "../../src/device/background.ts";
import { createOwnSources } from "../../src/device/own-sources.ts";
import { putContact } from "../../src/device/store/contacts.ts";
import { putOwnAccount } from "../../src/device/store/identity.ts";
import { addMessage } from "../../src/device/store/messages.ts";
import { type DeviceStore, openDeviceStore } from "../../src/device/store/sqlite.ts";
import type { Clock } from "../../src/shared/clock.ts";
import type { ToolBox, ToolResult } from "../../src/device/tools/tool.ts";

const worldSchema = Type.Object({
  zone: Type.String(),
  now: Type.String(),
  notes: Type.Array(Type.String()),
  files: Type.Record(Type.String(), Type.String()),
  messages: Type.Array(Type.Tuple([Type.String(), Type.String(), Type.String()])),
});

/** A world that can be asked. */
export interface TaskWorld extends Disposable {
  readonly tools: ToolBox;
  readonly clock: Clock;
  readonly zone: string;
}

const ownAik = "owner";

/** Builds the world of a folder with `world.json` and `calendar.ics`. Throws on a malformed one. */
export function openTaskWorld(folder: string): TaskWorld {
  const value: unknown = JSON.parse(readFileSync(path.join(folder, "world.json"), "utf8"));
  const world = Value.Parse(worldSchema, value);
  const nowMs = Date.parse(world.now);
  const clock: Clock = { nowMs: () => nowMs, schedule: () => () => undefined };
  const opened = openDeviceStore({ path: ":memory:", key: new Uint8Array(32) });
  if (!opened.ok) throw new Error(opened.error.message);
  const store = opened.value;
  const base = realpathSync(mkdtempSync(path.join(tmpdir(), "pixie-tasks-")));
  writeFiles(base, world.files);
  fillMessages(store, world.messages);
  const { sources, tools } = createOwnSources({
    background: createBackground(),
    store,
    clock,
    askSibling: nobodyElse,
  });
  for (const text of world.notes) sources.saveNote({ text });
  sources.grant("calendar", path.resolve(folder, "calendar.ics"));
  sources.grant("files", base);
  sources.grant("notebook", "all");
  sources.grant("memory", "all");
  return {
    tools,
    clock,
    zone: world.zone,
    [Symbol.dispose]: () => {
      store.close();
      rmSync(base, { recursive: true });
    },
  };
}

async function nobodyElse(): Promise<ToolResult> {
  return { ok: false, reason: "there is no other device" };
}

function writeFiles(base: string, files: Readonly<Record<string, string>>): void {
  for (const [name, text] of Object.entries(files)) {
    const file = path.join(base, name);
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, text);
  }
}

function fillMessages(store: DeviceStore, messages: Static<typeof worldSchema>["messages"]): void {
  store.write((tx) => {
    putOwnAccount(tx, {
      aik: ownAik,
      aikSeed: null,
      accountMailbox: "mailbox",
      accessKey: Buffer.alloc(32),
      relayOrigin: "https://relay.example",
      name: ownAik,
    });
    for (const [at, [sender, day, text]] of messages.entries()) {
      putContact(tx, { aik: sender, name: sender, relation: "contact", addedMs: 0 });
      const sentMs = Date.parse(`${day}T09:00:00Z`);
      addMessage(tx, {
        conversation: sender,
        senderAik: sender,
        senderDevice: "device",
        messageId: `message-${at}`,
        typeTag: 0,
        content: Buffer.from(text),
        sentMs,
        arrivedMs: sentMs,
        clockOff: false,
      });
    }
  });
}
