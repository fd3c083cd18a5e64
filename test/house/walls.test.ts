/**
 * Plants a violation of each wall, in each form in which a module can be named, and sees the lint
 * tools catch it; then sees the tree as it is pass. The walls are written out here a second time,
 * on purpose: a hole in scripts/walls/rooms.ts must not be a hole in its own test.
 */
import { posix } from "node:path";

import { describe, expect, it } from "vitest";

import { type PlantedTree, plantTree } from "./planted-tree.ts";

/** From, and what it must not reach. */
const walls: readonly (readonly [from: string, refused: readonly string[]])[] = [
  ["src/shared/wire/", ["src/relay/db/", "src/relay/log.ts", "src/device/crypto/", "src/cli.ts"]],
  [
    "src/relay/db/",
    ["src/relay/store/", "src/relay/delivery/", "src/relay/http/", "src/relay/ws/"],
  ],
  ["src/relay/store/", ["src/relay/delivery/", "src/relay/http/", "src/relay/ws/"]],
  [
    "src/relay/delivery/",
    ["src/relay/db/", "src/relay/http/", "src/relay/ws/", "src/relay/app.ts"],
  ],
  ["src/relay/http/", ["src/relay/db/", "src/relay/ws/", "src/relay/app.ts", "src/device/crypto/"]],
  ["src/relay/ws/", ["src/relay/db/", "src/relay/http/", "src/relay/app.ts", "src/device/crypto/"]],
  ["src/relay/admin/", ["src/relay/http/", "src/device/crypto/"]],
  ["src/relay/app.ts", ["src/device/crypto/", "src/device/index.ts", "src/cli.ts"]],
  ["src/device/runtime.ts", ["src/relay/db/", "src/relay/index.ts", "src/cli.ts"]],
  ["src/device/skills/", ["src/device/crypto/", "src/device/store/", "src/device/messaging/"]],
  ["src/device/crypto/", ["src/device/identity/", "src/device/store/", "src/relay/store/"]],
  ["src/device/store/", ["src/device/messaging/", "src/device/crypto/", "src/device/runtime.ts"]],
  ["src/device/transport/", ["src/device/crypto/", "src/device/store/", "src/relay/http/"]],
  ["src/device/identity/", ["src/device/messaging/", "src/device/transport/"]],
  ["src/device/messaging/", ["src/device/skills/", "src/device/agent/", "src/device/dispatch.ts"]],
  ["src/device/library/", ["src/device/messaging/", "src/device/crypto/", "src/device/api/"]],
  ["src/device/agent/", ["src/device/messaging/", "src/device/store/", "src/device/crypto/"]],
  ["src/device/tools/", ["src/device/agent/", "src/device/messaging/", "src/device/identity/"]],
  ["src/device/model/", ["src/device/agent/", "src/device/crypto/", "src/device/skills/"]],
  ["src/device/homebase/", ["src/device/crypto/", "src/device/transport/", "src/device/tools/"]],
  ["src/device/api/", ["src/device/crypto/", "src/device/transport/", "src/device/cli/"]],
  ["src/device/cli/", ["src/device/store/", "src/device/crypto/", "src/relay/index.ts"]],
  ["src/cli.ts", ["src/relay/db/", "src/device/crypto/", "src/device/runtime.ts"]],
];

/** Every way of naming a module; each entry is one line of a planted file. */
const forms: readonly ((specifier: string) => string)[] = [
  (specifier) => `import { planted as a } from "${specifier}";`,
  (specifier) => `import type { Planted } from "${specifier}";`,
  (specifier) => `import "${specifier}";`,
  (specifier) => `export * from "${specifier}";`,
  (specifier) => `export type { Planted as Again } from "${specifier}";`,
  (specifier) => `export const b = await import("${specifier}");`,
  (specifier) => `export const c = await import(\`${specifier}\`);`,
  (specifier) => `export type D = import("${specifier}").Planted;`,
  (specifier) => `export const e = createRequire(import.meta.url)("${specifier}");`,
  (specifier) => `const load = make(import.meta.url); export const f = load("${specifier}");`,
  (specifier) => `export const g = load.resolve("${specifier}");`,
  (specifier) => `export const h = import.meta.resolve("${specifier}");`,
  (specifier) => `export const i = new URL("${specifier}", import.meta.url);`,
];
const loaders = `import { createRequire, createRequire as make } from "node:module";`;

describe("the import walls", () => {
  it("pass on the tree as it is", () => {
    using tree = plantTree({ withSource: true });
    expect(tree.walls()).toEqual({ status: 0, output: "walls: 0 findings\n" });
  });

  it("catch every form of every refused import", () => {
    using tree = plantTree({ withSource: false });
    const expected = plantViolations(tree);
    const { status, output } = tree.walls();
    const missed = expected.filter((place) => !output.includes(place));
    expect(missed).toEqual([]);
    expect(status).toBe(1);
    expect(expected.length).toBeGreaterThan(800);
  });

  it("catch a program that names itself by its package name", () => {
    using tree = plantTree({ withSource: false });
    const programs = ["pixie/relay", "pixie/device", "pixie"];
    const lines = programs.flatMap((name) => forms.map((form) => form(name)));
    tree.write("src/relay/app.ts", [loaders, ...lines]);
    const { output } = tree.walls();
    const caught = lines.filter((_, index) => output.includes(`src/relay/app.ts:${index + 2}: `));
    expect(caught).toEqual(lines);
  });

  it("catch what cannot be followed and what the room was not given", () => {
    using tree = plantTree({ withSource: false });
    const lines = [
      "await import(computed);",
      `await import("./" + computed);`,
      "await import(`./${computed}.ts`);",
      "await import(`./planted.ts${computed}`);",
      "await import(`@${computed}/name`);",
      "await import(`node:${computed}`);",
      "require(computed);",
      "export const passedOn = [require];",
      "export const resolver = import.meta.resolve;",
      `import "../../../test/support/relay.ts";`,
      `import "./absent.ts";`,
      `import ".";`,
      `import "/etc/absolute.ts";`,
      `import "file:///etc/absolute.ts";`,
      `import "data:text/javascript,export{}";`,
      `import "#subpath";`,
      `import "fastify";`,
      `import "@fastify/websocket";`,
      `import "node:module";`,
      `import "fs";`,
      `process.getBuiltinModule("fastify");`,
      `declare module "fastify" {}`,
      `import old = require("fastify");`,
    ];
    tree.write("src/relay/delivery/planted.ts", lines);
    const { output } = tree.walls();
    const caught = lines.filter((_, index) =>
      output.includes(`/delivery/planted.ts:${index + 1}: `),
    );
    expect(caught).toEqual(lines);
  });

  it("catch a file that fits no room", () => {
    using tree = plantTree({ withSource: false });
    const files = ["src/new-program.ts", "src/elsewhere/planted.js", "src/device/new-room/a.ts"];
    for (const file of files) tree.write(file, ["export const a = 1;"]);
    const { output } = tree.walls();
    expect(files.filter((file) => output.includes(`${file}:1: no room fits`))).toEqual(files);
  });

  it("catch a cycle, type-only imports included", () => {
    using tree = plantTree({ withSource: false });
    tree.write("src/shared/a.ts", [`import type { B } from "./b.ts";`, "export type A = B;"]);
    tree.write("src/shared/b.ts", [`export type { A as B } from "./c.ts";`]);
    tree.write("src/shared/c.ts", [`export type { A } from "./a.ts";`]);
    const cycle = "src/shared/a.ts → src/shared/b.ts → src/shared/c.ts → src/shared/a.ts";
    expect(tree.walls().output).toContain(`import cycle: ${cycle}`);
  });

  it("refuse to pass on an empty tree", () => {
    using tree = plantTree({ withSource: false });
    tree.write("src/README.md", [""]);
    expect(tree.walls().status).toBe(1);
  });

  it("let pass what only looks like an import", () => {
    using tree = plantTree({ withSource: false });
    tree.write("src/shared/planted.ts", [
      `// import "../relay/db/planted.ts";`,
      `/* require("fastify") */`,
      `export const text = 'import "fastify"';`,
      'export const template = `import("fastify")`;',
      `export const pattern = /import("fastify")/;`,
      "export const own = { require: 1, resolve: (name: string) => name };",
      `export const answer = own.resolve("fastify");`,
    ]);
    expect(tree.walls()).toEqual({ status: 0, output: "walls: 0 findings\n" });
  });
});

describe("oxlint", () => {
  it.each([
    ["src/shared/planted.ts", "../relay/db/planted.ts", "shared is a leaf"],
    ["src/relay/planted.ts", "../device/crypto/planted.ts", "must not be able to open"],
    ["src/device/planted.ts", "../relay/db/planted.ts", "share only src/shared"],
    ["src/device/planted.ts", "pixie/relay", "share only src/shared"],
  ])("shows the walls between the programs while one types: %s", (file, specifier, message) => {
    using tree = plantTree({ withSource: false });
    for (const form of [`import "${specifier}";`, `export * from "${specifier}";`]) {
      tree.write(file, [form]);
      const { status, output } = tree.oxlint(file);
      expect(output).toContain(message);
      expect(status).toBe(1);
    }
  });
});

/** Plants every wall's violations, one a line; returns the places where a finding is due. */
function plantViolations(tree: PlantedTree): string[] {
  const places: string[] = [];
  const files = new Map<string, string[]>();
  const open = (room: string): string[] => {
    const file = fileIn(room);
    const lines = files.get(file) ?? [loaders];
    files.set(file, lines);
    return lines;
  };
  for (const [from, refused] of walls) {
    const lines = open(from);
    for (const to of refused) {
      open(to);
      for (const form of forms) {
        lines.push(form(relative(from, fileIn(to))));
        places.push(`${fileIn(from)}:${lines.length}: `);
      }
    }
  }
  for (const [file, lines] of files) tree.write(file, lines);
  return places;
}

/** A planted file of a room; a room that is one file is planted into that file. */
function fileIn(room: string): string {
  return room.endsWith("/") ? `${room}planted.ts` : room;
}

function relative(from: string, to: string): string {
  const path = posix.relative(posix.dirname(`${from}x`), to);
  return path.startsWith(".") ? path : `./${path}`;
}
