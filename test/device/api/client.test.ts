/** A daemon that is not what this program expects: noticed, named, and never misread. */
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer, type RequestListener, type Server } from "node:http";
import { tmpdir } from "node:os";
import path from "node:path";

import { afterEach, beforeEach, describe, expect, it } from "vitest";

import { findDaemon } from "../../../src/device/api/client.ts";

let folder: string;
let server: Server | undefined;
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), "pixie-client-"));
});
afterEach(() => {
  server?.close();
  rmSync(folder, { recursive: true, force: true });
});

async function daemonThat(answer: RequestListener): Promise<void> {
  server = createServer(answer).listen(path.join(folder, "device.sock"));
  await once(server, "listening");
}

const greeting = JSON.stringify({ version: "0.1.0", pid: 7 });

describe("findDaemon", () => {
  it("finds nobody where no socket is", async () => {
    expect(await findDaemon(folder)).toEqual({ ok: true, value: undefined });
  });

  it("refuses another version by both numbers, and says what to do", async () => {
    await daemonThat((_request, response) =>
      response.end(JSON.stringify({ version: "9.9.9", pid: 7 })),
    );
    expect(await findDaemon(folder)).toMatchObject({
      error: {
        type: "daemon-version",
        message: expect.stringMatching(/9\.9\.9.*0\.1\.0.*restart/),
      },
    });
  });

  it.each([["no JSON"], ["{}"], ["null"]])("refuses what answers %j", async (body) => {
    await daemonThat((_request, response) => response.end(body));
    expect(await findDaemon(folder)).toMatchObject({ error: { type: "daemon-trouble" } });
  });

  it("refuses an answer that has another form than the operation's", async () => {
    await daemonThat((request, response) =>
      response.end(request.url === "/daemon" ? greeting : '{"ok":true,"value":[{"name":"x"}]}'),
    );
    const found = await findDaemon(folder);
    if (!found.ok || found.value === undefined) throw new Error("no daemon");
    expect(await found.value.call("contacts", {})).toMatchObject({
      error: { type: "daemon-trouble", message: expect.stringContaining("contacts") },
    });
  });

  it("says so when the daemon goes away in the middle of an answer", async () => {
    await daemonThat((request, response) => {
      if (request.url === "/daemon") response.end(greeting);
      else response.write('{"ok":', () => response.destroy());
    });
    const found = await findDaemon(folder);
    if (!found.ok || found.value === undefined) throw new Error("no daemon");
    expect(await found.value.call("contacts", {})).toMatchObject({
      error: { type: "daemon-trouble", message: expect.stringContaining("went away") },
    });
  });
});
