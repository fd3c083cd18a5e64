/**
 * Holds every specifier of src against the table of rooms, and finds import cycles.
 *
 * It reads the tree from disk (any kind of source file, so that a .js file cannot slip past the
 * compiler's list), resolves relative paths to files that exist, and returns findings; printing
 * and exit codes are `../walls.ts`. The linter has no-restricted-imports, but that sees neither
 * dynamic import, require, nor the package's own name, which is why this exists.
 */
import { readdirSync } from "node:fs";
import { join, posix } from "node:path";

import { API } from "typescript/unstable/sync";

import type { Room } from "./room.ts";
import { rooms } from "./rooms.ts";
import { readSpecifiers, type Specifier } from "./specifiers.ts";

/** One thing to mend. */
export interface Finding {
  readonly file: string;
  readonly line: number;
  readonly text: string;
}

/** Where one specifier leads: a file of src, a package, or nowhere we allow. */
type Target =
  | { readonly type: "file"; readonly path: string }
  | { readonly type: "package"; readonly name: string }
  | { readonly type: "outside" }
  | { readonly type: "refused"; readonly reason: string };

/** Checks the tree under root. Throws when there is nothing to check: an empty pass proves nothing. */
export function checkWalls(root: string): Finding[] {
  const files: ReadonlySet<string> = new Set(sourceFiles(root));
  if (files.size === 0) throw new Error("expected source files under src, got none");
  const findings: Finding[] = [];
  const edges = new Map<string, string[]>();
  for (const [file, specifiers] of readTree(root, files)) {
    const room = roomOf(file);
    if (room === undefined) {
      findings.push({ file, line: 1, text: "no room fits: add one to scripts/walls/rooms.ts" });
      continue;
    }
    for (const specifier of specifiers) {
      const target = resolve(file, specifier, files);
      if (target.type === "file") edges.set(file, [...(edges.get(file) ?? []), target.path]);
      const text = judge(room, target);
      if (text === undefined) continue;
      const shown = specifier.text === undefined ? "" : ` "${specifier.text}"`;
      findings.push({ file, line: specifier.line, text: `${specifier.form}${shown}: ${text}` });
    }
  }
  return [...findings, ...cycles(edges)];
}

/** The room of a file: the longest prefix that fits. */
function roomOf(file: string): Room | undefined {
  let best: Room | undefined;
  for (const room of rooms) {
    if (!fits(room.path, file)) continue;
    if (best === undefined || room.path.length > best.path.length) best = room;
  }
  return best;
}

function fits(path: string, file: string): boolean {
  if (path.endsWith("*")) return posix.dirname(file) === path.slice(0, -2);
  return file.startsWith(path);
}

function judge(from: Room, target: Target): string | undefined {
  if (target.type === "refused") return target.reason;
  if (target.type === "outside") return undefined;
  if (target.type === "package") {
    if (from.packages.some((pattern) => packageFits(pattern, target.name))) return undefined;
    return `${from.path} may not use the package ${target.name} (${from.why})`;
  }
  const to = roomOf(target.path);
  if (to === undefined || to === from || to.path === "src/shared/") return undefined;
  // A listed single file opens no more than itself, even where its folder is one room.
  if (from.imports.includes(target.path) || from.imports.includes(to.path)) return undefined;
  return `${from.path} may not import ${to.path} (${from.why})`;
}

function packageFits(pattern: string, name: string): boolean {
  if (pattern === "node:*") return name.startsWith("node:") && name !== "node:module";
  if (pattern.endsWith("/*")) return name.startsWith(pattern.slice(0, -1));
  return pattern === name;
}

function resolve(file: string, specifier: Specifier, files: ReadonlySet<string>): Target {
  const { text, open, form } = specifier;
  if (text === undefined) return refused("expected a literal specifier, got an expression");
  if (/^\.\.?(\/|$)/.test(text)) {
    if (open) return refused("expected a literal path, got a template");
    const path = posix.normalize(posix.join(posix.dirname(file), text));
    if (files.has(path)) return { type: "file", path };
    // new URL also names data files, such as the migrations: only code is this check's business.
    if (form === "new URL") return { type: "outside" };
    return refused(`expected a source file of src, got ${path}`);
  }
  const name = packageOf(text);
  if (form === "new URL" || name === undefined) return refused("expected a relative path");
  if (open && !text.startsWith(`${name}/`)) {
    // A template is as good as a literal once its head holds the scope: "@scope/…".
    if (!/^@[^/]+\/$/.test(text)) return refused("expected a literal specifier, got a template");
  }
  return { type: "package", name };
}

function refused(reason: string): Target {
  return { type: "refused", reason };
}

/**
 * "@scope/name", "name" or "node:name" of a bare specifier; undefined for paths, URLs, "#…". The
 * package's own name is one like any other, and no room was given it.
 */
function packageOf(text: string): string | undefined {
  if (text.startsWith("node:")) return text.split("/")[0];
  const found = /^(@[^/:#]+\/[^/:]*|[^@./#:][^/:]*)(\/[^:]*)?$/.exec(text);
  return found?.[1];
}

function sourceFiles(root: string): string[] {
  return readdirSync(join(root, "src"), { recursive: true, encoding: "utf8" })
    .map((path) => posix.join("src", path.replaceAll("\\", "/")))
    .filter((path) => /\.[cm]?[jt]sx?$/.test(path))
    .toSorted();
}

/** Parses all files in one go. The project is virtual: every source file, nothing resolved. */
function readTree(root: string, files: ReadonlySet<string>): Map<string, Specifier[]> {
  const config = join(root, "tsconfig.walls.json");
  const options = { allowJs: true, noResolve: true, noLib: true, types: [], jsx: "preserve" };
  const content = JSON.stringify({ compilerOptions: options, files: [...files] });
  const api = new API({
    cwd: root,
    fs: { readFile: (path) => (path === config ? content : undefined) },
  });
  try {
    const project = api.updateSnapshot({ openProjects: [config] }).getProject(config);
    const read = new Map<string, Specifier[]>();
    for (const file of files) {
      const parsed = project?.program.getSourceFile(join(root, file));
      if (parsed === undefined)
        throw new Error(`expected the compiler to parse ${file}, got nothing`);
      read.set(file, readSpecifiers(parsed));
    }
    return read;
  } finally {
    api.close();
  }
}

/** Depth-first search; each back edge is one finding that spells its cycle out. */
function cycles(edges: ReadonlyMap<string, readonly string[]>): Finding[] {
  const findings: Finding[] = [];
  const done = new Set<string>();
  const visit = (file: string, path: readonly string[]): void => {
    const at = path.indexOf(file);
    if (at !== -1) {
      const text = `import cycle: ${[...path.slice(at), file].join(" → ")}`;
      findings.push({ file, line: 1, text });
      return;
    }
    if (done.has(file)) return;
    for (const next of edges.get(file) ?? []) visit(next, [...path, file]);
    done.add(file);
  };
  for (const file of edges.keys()) visit(file, []);
  return findings;
}
