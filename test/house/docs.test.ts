/**
 * The documents are true: what comments cite exists, links lead somewhere, and every command, setting,
 * operation, exit code and refusal that a document names is one that the programs have, and the other
 * way round. Each check is shown a planted mistake, too.
 */
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { dirname, join, normalize } from "node:path";

import type { Command } from "commander";
import { beforeAll, describe, expect, it } from "vitest";

import { operations } from "../../src/device/api/operations.ts";
import { exitCodes as deviceExitCodes } from "../../src/device/cli/exit-codes.ts";
import { runCli, systemWorld } from "../../src/device/cli/program.ts";
import { registerRelayCommands } from "../../src/relay/cli.ts";
import { defaultConfig, settings } from "../../src/relay/config-settings.ts";
import { exitCodes as relayExitCodes } from "../../src/relay/exit-codes.ts";
import { refusalCodes, statusByRefusal } from "../../src/shared/wire/errors.ts";
import {
  anchorOf,
  type Citation,
  citationsIn,
  codeOf,
  headingsOf,
  linksOf,
  pixieCommand,
} from "./documents.ts";

const sourceFolders = ["src", "test", "bench", "demo", "scripts", "migrations"];
const documents = [
  "README.md",
  "CONTRIBUTING.md",
  "CHANGELOG.md",
  "SECURITY.md",
  "deploy/README.md",
  ...filesOf(["docs"]),
];
const operating = read("docs/operating.md");
const protocol = read("docs/protocol.md");

describe("what source files cite", () => {
  const cited = filesOf(sourceFolders)
    .filter((path) => /\.(ts|sql)$/.test(path) && !path.startsWith("test/house/"))
    .flatMap((path) => citationsIn(read(path)).map((citation) => ({ path, ...citation })));

  it("is a document with a section of that name", () => {
    expect(cited.length).toBeGreaterThan(100);
    expect(
      cited.flatMap((citation) => faultsOf(citation).map((fault) => [citation.path, fault])),
    ).toEqual([]);
  });

  it("is found over line ends, notes and lists, and missed when it is not there", () => {
    const source =
      '/**\n * Spec: docs/protocol.md "Records" (a\n * note), "Nowhere" and "Tags"; docs/gone.md\n */';
    expect(citationsIn(source).flatMap(faultsOf)).toEqual([
      'docs/protocol.md "Nowhere"',
      "docs/gone.md",
    ]);
  });

  it("is no section mark of a document that is not here", () => {
    const marks = filesOf(["src", "bench", "demo", "scripts"]).filter((path) =>
      /§\s?\d/.test(read(path)),
    );
    expect(marks).toEqual([]);
  });
});

describe("documents", () => {
  it("link only to files and headings that exist", () => {
    const broken = documents.flatMap((path) =>
      linksOf(read(path)).flatMap((target) =>
        leadsSomewhere(path, target) ? [] : [`${path}: ${target}`],
      ),
    );
    expect(documents.flatMap((path) => linksOf(read(path))).length).toBeGreaterThan(40);
    expect(broken).toEqual([]);
    expect(leadsSomewhere("README.md", "docs/protocol.md#nowhere")).toBe(false);
    expect(leadsSomewhere("docs/skills.md", "gone.md")).toBe(false);
  });

  it("name only source files that exist", () => {
    const sources = filesOf(sourceFolders);
    const named = documents
      .flatMap((path) => codeOf(read(path)))
      .filter((code) => /^[\w/.-]+\.(ts|sql)$/.test(code));
    expect(named.length).toBeGreaterThan(80);
    expect(
      named.filter((name) => !sources.some((path) => path === name || path.endsWith(`/${name}`))),
    ).toEqual([]);
  });

  it("describe every room of the three parts", () => {
    const rooms = ["relay", "device"].flatMap((part) =>
      readdirSync(join("src", part), { withFileTypes: true })
        .filter((entry) => entry.isDirectory())
        .map((entry) => `**\`${entry.name}/\`**`),
    );
    expect(rooms.filter((room) => !read("docs/architecture.md").includes(room))).toEqual([]);
  });

  it("name only scripts that package.json has", () => {
    const { scripts }: { readonly scripts: Readonly<Record<string, string>> } = JSON.parse(
      read("package.json"),
    );
    const named = documents
      .flatMap((path) => codeOf(read(path)))
      .flatMap((code) =>
        [...code.matchAll(/npm (?:run )?([a-z][a-z:-]*)/g)].map((found) => found[1] ?? ""),
      );
    const own = new Set([...Object.keys(scripts), "ci"]);
    expect(named.length).toBeGreaterThan(8);
    expect(named.filter((name) => !own.has(name))).toEqual([]);
  });
});

describe("commands", () => {
  let program: Command;
  beforeAll(async () => {
    const world = systemWorld();
    const quiet = { ...world, io: { ...world.io, writeOut: () => undefined } };
    await runCli(["--version"], quiet, (built) => {
      registerRelayCommands(built);
      program = built;
    });
  });

  it("that documents name exist, with their flags", () => {
    const lines = documents.flatMap((path) =>
      codeOf(read(path)).flatMap((code) => pixieCommand(code) ?? []),
    );
    expect(lines.length).toBeGreaterThan(40);
    const wrong = lines.filter(({ words, flags }) => {
      const command = commandAt(program, words);
      return command === undefined || flags.some((flag) => !hasFlag(command, flag));
    });
    expect(wrong).toEqual([]);
  });

  it("that do not exist are told apart", () => {
    expect(commandAt(program, ["device", "dissolve"])).toBeUndefined();
    const send = commandAt(program, pixieCommand("$ npx pixie send Bob --loudly")?.words ?? []);
    expect(send && hasFlag(send, "--loudly")).toBe(false);
  });

  it("are all documented", () => {
    const documented = codeOf(operating).flatMap(
      (code) => pixieCommand(code)?.words.join(" ") ?? [],
    );
    expect(leavesOf(program).filter((name) => !documented.includes(name))).toEqual([]);
  });

  it("end with the codes that are documented", () => {
    for (const [heading, codes] of [
      ["Starting a relay", relayExitCodes],
      ["Exit codes", deviceExitCodes],
    ] as const) {
      const told = [...sectionOf(operating, heading).matchAll(/^\| (\d)\s+\|/gm)].map((found) =>
        Number(found[1]),
      );
      expect(told).toEqual(Object.values(codes).toSorted((a, b) => a - b));
    }
  });
});

describe("settings of a relay", () => {
  const rows = new Map(
    [...sectionOf(operating, "Configuration").matchAll(/^\| `([a-z_]+)`\s*\| ([^|]*?)\s*\|/gm)].map(
      (found) => [found[1] ?? "", found[2] ?? ""] as const,
    ),
  );

  it("are all documented, and in the example file", () => {
    const example = [...read("relay.example.toml").matchAll(/^# ([a-z_]+) = /gm)].map(
      (found) => found[1],
    );
    const names = settings.map((setting) => setting.name);
    expect([...rows.keys()]).toEqual(names);
    expect(example).toEqual(names);
  });

  it("have the defaults that the document says", () => {
    // The folder depends on the machine; what is no plain value is told in words.
    const plain = settings
      .filter(({ field }) => field !== "dataDir")
      .map(({ name, field }) => ({ name, value: defaultConfig[field] }))
      .filter(({ value }) => ["number", "boolean", "string"].includes(typeof value));
    expect(plain.length).toBeGreaterThan(7);
    expect(plain.filter(({ name, value }) => rows.get(name) !== `\`${String(value)}\``)).toEqual(
      [],
    );
  });
});

it("documents every operation of the local API and its parameters", () => {
  const table = sectionOf(operating, "Local API");
  const rows = [...table.matchAll(/^\| `([a-z-]+)`\s*\| ([^|]*?)\s*\|/gm)].map(
    ([, name, params]) => [name, params?.replaceAll("`", "") ?? ""],
  );
  const real = Object.entries(operations).map(([name, { params }]) => {
    const required: readonly string[] = params.required ?? [];
    const fields = Object.keys(params.properties).map((field) =>
      required.includes(field) ? field : `${field}?`,
    );
    return [name, fields.join(", ")];
  });
  expect(rows).toEqual(real);
});

it("documents every refusal with its status", () => {
  const table = sectionOf(protocol, "Refusals").replaceAll("`retry_after_ms`", "");
  const rows = [...table.matchAll(/^\| (\d{3})\s+\| (.*?)\s*\|$/gm)];
  const told = rows.flatMap(([, status, cell = ""]) =>
    [...cell.matchAll(/`([a-z-]+)`/g)].map(([, code]) => `${status} ${code}`),
  );
  const real = refusalCodes.map((code) => `${statusByRefusal[code]} ${code}`);
  expect(told.toSorted()).toEqual(real.toSorted());
});

function faultsOf({ document, sections }: Citation): readonly string[] {
  if (!existsSync(document)) return [document];
  const headings = headingsOf(read(document));
  return sections.filter((name) => !headings.includes(name)).map((name) => `${document} "${name}"`);
}

function leadsSomewhere(from: string, target: string): boolean {
  const [path = "", anchor] = target.split("#");
  const file = path === "" ? from : normalize(join(dirname(from), path));
  if (!existsSync(file)) return false;
  return anchor === undefined || headingsOf(read(file)).map(anchorOf).includes(anchor);
}

/** The command that the words name; arguments may follow one that has no commands of its own. */
function commandAt(program: Command, words: readonly string[]): Command | undefined {
  let at: Command | undefined = program;
  for (const word of words) {
    if (at === undefined || at.commands.length === 0) break;
    at = at.commands.find((command) => command.name() === word);
  }
  return at;
}

function hasFlag(command: Command, flag: string): boolean {
  return flag === "--help" || command.options.some((option) => option.long === flag);
}

function leavesOf(command: Command, path: readonly string[] = []): readonly string[] {
  if (command.commands.length === 0) return [path.join(" ")];
  return command.commands.flatMap((inner) => leavesOf(inner, [...path, inner.name()]));
}

/** The text under a heading, up to the next one of the same or a higher rank. */
function sectionOf(markdown: string, heading: string): string {
  const start = new RegExp(`^(#+) ${heading}$`, "m").exec(markdown);
  if (start === null) throw new Error(`no section "${heading}"`);
  const rest = markdown.slice(start.index + start[0].length);
  const end = new RegExp(`^#{1,${start[1]?.length ?? 1}} `, "m").exec(rest);
  return end === null ? rest : rest.slice(0, end.index);
}

function read(path: string): string {
  return readFileSync(path, "utf8");
}

function filesOf(folders: readonly string[]): readonly string[] {
  return folders.flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: "utf8" })
      .map((name) => join(folder, name))
      .filter((path) => statSync(path).isFile()),
  );
}
