/**
 * A temporary copy of what the lint tools read, in which a test may plant violations.
 *
 * The copy has its own src, so nothing planted can reach the real tree, and borrows the installed
 * tools. Running a tool means starting the very program that `npm run lint` starts.
 */
import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

/** What one run of a tool said. */
export interface ToolRun {
  readonly status: number | null;
  readonly output: string;
}

/** The copy. Dispose of it with `using`. */
export interface PlantedTree extends Disposable {
  readonly write: (file: string, lines: readonly string[]) => void;
  readonly walls: () => ToolRun;
  readonly oxlint: (...args: readonly string[]) => ToolRun;
}

const root = process.cwd();

/** Copies src, scripts and the configuration; `withSource: false` leaves src to the test. */
export function plantTree(options: { readonly withSource: boolean }): PlantedTree {
  const folder = mkdtempSync(join(tmpdir(), "pixie-walls-"));
  const copied = [".oxlintrc.json", "tsconfig.json", "package.json", "scripts"];
  for (const path of options.withSource ? [...copied, "src"] : copied) {
    cpSync(join(root, path), join(folder, path), { recursive: true });
  }
  symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
  const start = (...args: string[]): ToolRun => {
    const ran = spawnSync(process.execPath, args, { cwd: folder, encoding: "utf8" });
    if (ran.error !== undefined) throw ran.error;
    return { status: ran.status, output: `${ran.stdout}${ran.stderr}` };
  };
  return {
    write: (file, lines) => {
      mkdirSync(dirname(join(folder, file)), { recursive: true });
      writeFileSync(join(folder, file), `${lines.join("\n")}\n`);
    },
    walls: () => start("node_modules/tsx/dist/cli.mjs", "scripts/walls.ts"),
    oxlint: (...args) => start("node_modules/oxlint/bin/oxlint", "--deny-warnings", ...args),
    [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }),
  };
}
