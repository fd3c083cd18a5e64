/**
 * Runs once around a test run. Clusters belong to this process and are started when the first test
 * file asks, over a loopback port (test files run in processes of their own): a run without
 * database tests pays nothing. The run ends by printing which stores and which models it covered.
 */
import { createServer, type ServerResponse } from "node:http";

import postgres from "postgres";
import type { TestProject } from "vitest/node";

import {
  findExternal,
  prepareTemplate,
  startEmbeddedCluster,
  type StoreName,
  type TestCluster,
} from "./clusters.ts";

declare module "vitest" {
  export interface ProvidedContext {
    /** Where to ask for a cluster. */
    testStoreBroker: string;
    testStoreNames: readonly StoreName[];
  }
}

/** What a test file is told about a cluster. */
export interface ClusterReply {
  readonly url: string;
  readonly template: string;
}

interface Started {
  readonly cluster: TestCluster;
  readonly reply: ClusterReply;
  readonly version: string;
}

/** Opens the broker; the returned function ends everything and prints what was covered. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const external = await findExternal();
  const starters: Partial<Record<StoreName, () => Promise<TestCluster>>> = {
    embedded: startEmbeddedCluster,
    ...(external === undefined ? {} : { external: external.start }),
  };
  const started = new Map<StoreName, Promise<Started>>();
  const start = (name: StoreName): Promise<Started> => {
    const running = started.get(name) ?? startWithTemplate(starters[name]);
    started.set(name, running);
    return running;
  };

  const models: Record<"used" | "left-out", Set<string>> = {
    used: new Set(),
    "left-out": new Set(),
  };
  const broker = createServer((request, response) => {
    const noted = /^\/models\/(used|left-out)\/(.+)$/.exec(request.url ?? "");
    if (noted !== null) {
      models[noted[1] === "used" ? "used" : "left-out"].add(decodeURIComponent(noted[2] ?? ""));
      answer(response, 200, "");
      return;
    }
    const name = request.url === "/external" ? "external" : "embedded";
    start(name).then(
      ({ reply }) => answer(response, 200, JSON.stringify(reply)),
      (cause: unknown) => answer(response, 500, String(cause)),
    );
  });
  await new Promise<void>((resolve) => broker.listen(0, "127.0.0.1", resolve));
  const address = broker.address();
  if (typeof address !== "object" || address === null) throw new Error("the broker has no port");
  project.provide("testStoreBroker", `http://127.0.0.1:${address.port}`);
  project.provide(
    "testStoreNames",
    external === undefined ? ["embedded"] : ["embedded", "external"],
  );

  return async () => {
    broker.close();
    const covered: string[] = [];
    for (const running of started.values()) {
      const { cluster, reply, version } = await running;
      covered.push(`${cluster.label} ${version}`);
      await dropTemplate(reply);
      await cluster.stop();
    }
    const missing =
      external === undefined
        ? "; no external Postgres found (set PIXIE_TEST_DATABASE_URL, start Docker, or install postgresql)"
        : started.has("external")
          ? ""
          : `; ${external.label} was found, and no test of this run asked for it`;
    process.stdout.write(
      `stores covered: ${covered.join(", ") || "none, no test asked for one"}${missing}\n${modelsLine(models)}\n`,
    );
  };
}

/** Which real weights the run had. What is after the ";" went untested: fetch it and run again. */
function modelsLine(models: Readonly<Record<"used" | "left-out", ReadonlySet<string>>>): string {
  const used = [...models.used].toSorted().join(", ");
  const leftOut = [...models["left-out"]].toSorted().join(", ");
  const told = `models covered: ${used || "none"}`;
  return leftOut === "" ? told : `${told}; left out: ${leftOut}. npm run models fetches them`;
}

function answer(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status).end(text);
}

async function startWithTemplate(
  starter: (() => Promise<TestCluster>) | undefined,
): Promise<Started> {
  if (starter === undefined) throw new Error("there is no external Postgres: ask testStores()");
  const cluster = await starter();
  const template = `pixie_template_${process.pid}`;
  const admin = postgres(cluster.url, { max: 1, onnotice: () => {} });
  await admin`create database ${admin(template)}`;
  await admin.end();
  const url = new URL(cluster.url);
  url.pathname = `/${template}`;
  const version = await prepareTemplate(url.href);
  return { cluster, reply: { url: cluster.url, template }, version };
}

async function dropTemplate(reply: ClusterReply): Promise<void> {
  const admin = postgres(reply.url, { max: 1, onnotice: () => {} });
  await admin`drop database if exists ${admin(reply.template)} with (force)`;
  await admin.end();
}
