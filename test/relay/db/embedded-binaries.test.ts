/** Which binaries the embedded server runs, and what is done where those of npm cannot be. */
import { chmodSync, cpSync, lstatSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";

import { afterEach, beforeEach, describe, expect, it } from "vitest";

import { clusterFolder } from "../../../src/relay/db/cluster.ts";
import { findBinaries, usableBinaries } from "../../../src/relay/db/embedded-binaries.ts";
import { serverUser } from "../../../src/relay/db/embedded-user.ts";

let dataDir = "";
beforeEach(() => {
  dataDir = mkdtempSync(path.join(tmpdir(), "pixie-binaries-"));
});
afterEach(() => rmSync(dataDir, { recursive: true, force: true }));

describe("embedded binaries", () => {
  it("asks for DATABASE_URL where there are none for the platform", async () => {
    const found = await findBinaries(path.join(dataDir, "copy"), undefined, "sunos-sparc");
    expect(found).toMatchObject({ ok: false, error: { type: "no-binaries" } });
    expect(found.ok ? "" : found.error.message).toContain(
      "no embedded database for sunos-sparc: set DATABASE_URL",
    );
  });

  it("copies them when npm was told not to run the script that links their libraries", async () => {
    const installed = await findBinaries(path.join(dataDir, "unused"), undefined);
    if (!installed.ok) throw new Error(installed.error.message);
    const native = path.dirname(path.dirname(installed.value.postgres));
    const crippled = path.join(dataDir, "crippled");
    cpSync(native, crippled, {
      recursive: true,
      filter: (file) => !lstatSync(file).isSymbolicLink(),
    });
    const copy = path.join(dataDir, "copy");
    const binaries = {
      initdb: path.join(crippled, "bin", "initdb"),
      postgres: path.join(crippled, "bin", "postgres"),
    };
    expect(usableBinaries(binaries, copy, undefined)).toMatchObject({
      ok: true,
      value: { postgres: path.join(copy, "bin", "postgres") },
    });
  });

  it.runIf(process.getuid?.() === 0)(
    "copies them out of a home that the server's user may not enter",
    async () => {
      const installed = await findBinaries(path.join(dataDir, "unused"), undefined);
      const user = serverUser(clusterFolder(dataDir));
      if (!installed.ok || !user.ok) throw new Error("no binaries or no user");
      const home = mkdtempSync(path.join(tmpdir(), "pixie-home-"));
      const native = path.join(home, "native");
      cpSync(path.dirname(path.dirname(installed.value.postgres)), native, {
        recursive: true,
        verbatimSymlinks: true,
      });
      const reachable = mkdtempSync(path.join(tmpdir(), "pixie-copy-"));
      chmodSync(reachable, 0o711);
      const binaries = {
        initdb: path.join(native, "bin", "initdb"),
        postgres: path.join(native, "bin", "postgres"),
      };
      const usable = usableBinaries(binaries, path.join(reachable, "copy"), user.value);
      rmSync(home, { recursive: true });
      rmSync(reachable, { recursive: true });
      expect(usable).toMatchObject({
        ok: true,
        value: { postgres: path.join(reachable, "copy", "bin", "postgres") },
      });
    },
  );
});
