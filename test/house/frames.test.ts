/**
 * The written contract of the mailbox connection says every frame and field that the schema has. The
 * schema is read as text: what it exports is for programs, not for this test.
 */
import { readFileSync } from "node:fs";

import { expect, it } from "vitest";

interface Frame {
  readonly type: string;
  readonly fields: readonly string[];
}

/** The `{…}` that begins at or after a position, without its braces. */
function objectAt(source: string, from: number): string {
  const start = source.indexOf("{", from);
  let depth = 0;
  for (let at = start; at < source.length; at++) {
    if ("({[".includes(source[at] ?? "")) depth += 1;
    if (")}]".includes(source[at] ?? "")) depth -= 1;
    if (depth === 0) return source.slice(start + 1, at);
  }
  throw new Error("an object without an end");
}

/** Names at the top level of an object's inside: `a: …, b`. */
function keysOf(inside: string): readonly string[] {
  let flat = inside;
  for (let before = ""; before !== flat;) {
    before = flat;
    flat = flat.replaceAll(/\([^()[\]{}]*\)|\[[^()[\]{}]*\]|\{[^()[\]{}]*\}/g, "");
  }
  return flat
    .split(",")
    .map((part) => part.split(":")[0]?.trim() ?? "")
    .filter((key) => key !== "");
}

function framesIn(source: string): readonly Frame[] {
  return [...source.matchAll(/const \w+Frame = Type\.Object\(/g)].map((found) => {
    const inside = objectAt(source, found.index + found[0].length);
    const type = /type: Type\.Literal\("([a-z-]+)"\)/.exec(inside)?.[1] ?? "";
    return { type, fields: keysOf(inside).filter((key) => key !== "type" && key !== "id") };
  });
}

/** Frames and fields that the rows of a document do not name. */
function undocumented(frames: readonly Frame[], document: string): readonly string[] {
  const rows = document.split("\n").filter((line) => line.startsWith("|"));
  return frames.flatMap(({ type, fields }) => {
    const row = rows.filter((line) => line.includes(`\`${type}\``) || line.includes(`\`${type} {`));
    if (row.length === 0) return [type];
    return fields.filter((field) => !row.some((line) => new RegExp(`\\b${field}\\b`).test(line)));
  });
}

it("docs/protocol.md names every frame of the mailbox connection, with its fields", () => {
  const frames = framesIn(readFileSync("src/shared/wire/frames.ts", "utf8"));
  const document = readFileSync("docs/protocol.md", "utf8").split("### The mailbox connection")[1];
  const requests = "invite-key mailbox-status publish-prekey rotate-access-key update-device-list";
  const others = "ack auth challenge displaced drained ready refused reply";
  const known = `${requests} ${others}`.split(" ").toSorted();
  expect(frames.map(({ type }) => type).toSorted()).toEqual(known);
  expect(undocumented(frames, document ?? "")).toEqual([]);
});

it("a frame or field that is not written down is found", () => {
  const planted = `const aFrame = Type.Object({ type: Type.Literal("auth"), device_id: x(1, "y: z"), planted: x });
    const bFrame = Type.Object(\n  { type: Type.Literal("planted-frame"), id },\n strict);`;
  expect(undocumented(framesIn(planted), "| device | `auth {device_id, sig}` |")).toEqual([
    "planted",
    "planted-frame",
  ]);
});
