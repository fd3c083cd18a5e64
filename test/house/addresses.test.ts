/**
 * O2: neither program knows a server of ours or of anybody. What a device talks to is what its owner
 * names; the one address in the sources is where models are downloaded when somebody asks for one.
 */
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";

import { expect, it } from "vitest";

const sources = readdirSync("src", { recursive: true, encoding: "utf8" })
  .filter((name) => name.endsWith(".ts"))
  .map((name) => path.join("src", name));

/** Names that lead nowhere: this machine, the reserved example domains, and the word for a host. */
const nowhere = /^(127\.0\.0\.1|localhost|([\w-]+\.)*example(\.(org|com))?|host)$/;

/** Hosts that code, comments left out, would reach by an address of its own. */
function hostsIn(source: string): readonly string[] {
  const code = source.replaceAll(/\/\*[\s\S]*?\*\//g, "").replaceAll(/(^|\s)\/\/ .*$/gm, "");
  return [...code.matchAll(/\b(?:https?|wss?):\/\/([\w-]+(?:\.[\w-]+)*)/g)]
    .map(([, host = ""]) => host)
    .filter((host) => !nowhere.test(host));
}

it("O2: no program has the address of a server, but where models are asked for", () => {
  const found = sources.flatMap((file) =>
    hostsIn(readFileSync(file, "utf8")).map((host) => `${file}: ${host}`),
  );
  expect(sources.length).toBeGreaterThan(300);
  expect(found).toEqual(["src/device/weights/catalogue.ts: huggingface.co"]);
});

it("finds a planted one, and none in a comment", () => {
  expect(hostsIn('const cloud = "https://cloud.pixie.chat/v1";')).toEqual(["cloud.pixie.chat"]);
  expect(hostsIn("/** See https://github.com/x. */ // https://github.com/y")).toEqual([]);
});
