/** The document at /v1/openapi.json: well formed, complete, and true of what the relay answers. */
import { Check } from "typebox/schema";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

import type { Relay } from "../../../src/relay/index.ts";
import { systemClock } from "../../../src/shared/clock.ts";
import { bundleRequestOf, newAccount, registrationOf, uploadTo } from "../../support/accounts.ts";
import { openTestDatabase, type TestDatabase } from "../../support/postgres.ts";
import { startRelay } from "../../support/relay.ts";

type Json = Record<string, unknown>;
interface Operation {
  readonly summary?: string;
  readonly parameters?: readonly {
    readonly name: string;
    readonly in: string;
    readonly required: boolean;
  }[];
  readonly requestBody?: {
    readonly required?: boolean;
    readonly content: Record<string, { readonly schema: Json }>;
  };
  readonly responses: Record<
    string,
    { readonly description: string; readonly content?: Record<string, { readonly schema: Json }> }
  >;
}
interface Document {
  readonly openapi: string;
  readonly info: { readonly title: string; readonly version: string };
  readonly paths: Record<string, Record<string, Operation>>;
}

let db: TestDatabase;
let relay: Relay;
let document: Document;
beforeAll(async () => {
  db = await openTestDatabase();
  relay = await startRelay({ databaseUrl: db.url });
  const response = await fetch(`${relay.url}/v1/openapi.json`);
  document = JSON.parse(await response.text());
});
afterAll(async () => {
  await relay.close();
  await db.drop();
});

function operations(): readonly { readonly name: string; readonly operation: Operation }[] {
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      name: `${method} ${path}`,
      operation,
    })),
  );
}

/** What a tool that reads OpenAPI would stumble over in one operation. */
function operationFlaws(path: string, operation: Operation): readonly string[] {
  const { parameters = [], responses, requestBody, summary } = operation;
  const inPath = [...path.matchAll(/\{(\w+)\}/g)].map((found) => found[1]);
  const declared = parameters.filter((each) => each.in === "path" && each.required);
  const contents = [requestBody, ...Object.values(responses)].flatMap((each) =>
    Object.entries(each?.content ?? {}),
  );
  return [
    ...(summary ? [] : ["no summary"]),
    ...(String(inPath) === String(declared.map(({ name }) => name)) ? [] : ["path parameters"]),
    ...Object.keys(responses).filter((status) => !/^([1-5]\d\d|[1-5]XX)$/.test(status)),
    ...Object.entries(responses).flatMap(([status, { description }]) =>
      typeof description === "string" ? [] : [`${status} without description`],
    ),
    ...contents.flatMap(([type, { schema }]) =>
      /^application\/(json|octet-stream)$/.test(type) && typeof schema?.["type"] === "string"
        ? []
        : [`${type}: no schema`],
    ),
  ];
}

function flawsOf(read: Document): readonly string[] {
  const head = /^3\.1\.\d+$/.test(read.openapi) && read.info.title && read.info.version;
  const flaws = Object.entries(read.paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, operation]) =>
      operationFlaws(path, operation).map((flaw) => `${method} ${path}: ${flaw}`),
    ),
  );
  return head ? flaws : ["head", ...flaws];
}

describe("/v1/openapi.json", () => {
  it("is well formed", () => {
    expect(flawsOf(document)).toEqual([]);
    const planted = structuredClone(document);
    delete planted.paths["/v1/envelopes"]!["post"]!.responses["202"]!.content!["application/json"]!
      .schema["type"];
    planted.paths["/v1/gone/{id}"] = {
      get: { responses: { "4xx": { description: "lower case" } } },
    };
    expect(flawsOf(planted)).toEqual([
      "post /v1/envelopes: application/json: no schema",
      "get /v1/gone/{id}: no summary",
      "get /v1/gone/{id}: path parameters",
      "get /v1/gone/{id}: 4xx",
    ]);
  });

  it("has every path, and every refusal where one is possible", () => {
    expect(
      operations()
        .map(({ name }) => name)
        .toSorted(),
    ).toEqual([
      "get /health/live",
      "get /health/ready",
      "get /v1/info",
      "get /v1/rendezvous/{id}",
      "post /v1/accounts",
      "post /v1/accounts/recover",
      "post /v1/accounts/recover/begin",
      "post /v1/accounts/renew",
      "post /v1/bundles",
      "post /v1/envelopes",
      "put /v1/rendezvous/{id}",
    ]);
    for (const { name, operation } of operations()) {
      const refuses = !/info|health/.test(name);
      expect(["4XX", "5XX"].every((each) => each in operation.responses)).toBe(refuses);
    }
  });

  it("describes bodies of bytes", () => {
    const upload = document.paths["/v1/envelopes"]?.["post"]?.requestBody?.content;
    expect(upload?.["application/octet-stream"]?.schema).toMatchObject({
      type: "string",
      format: "binary",
      description: expect.stringContaining("token_expiry u64 | token 32"),
    });
    const boxes = document.paths["/v1/rendezvous/{id}"];
    expect(boxes?.["put"]?.requestBody?.content).toHaveProperty(["application/octet-stream"]);
    expect(boxes?.["get"]?.responses["200"]?.content).toHaveProperty(["application/octet-stream"]);
  });

  it("is true of what is asked and answered", async () => {
    const nowMs = systemClock.nowMs();
    const bob = newAccount(nowMs);
    const origin = relay.origin;
    const upload = uploadTo(bob, [bob.devices[0]!.mailbox], { origin, nowMs });
    const bundle = bundleRequestOf(bob, { origin, nowMs });
    const asked: readonly [string, string, (object | Uint8Array)?][] = [
      ["get", "/v1/info"],
      ["get", "/health/live"],
      ["get", "/health/ready"],
      ["post", "/v1/accounts", registrationOf(bob, origin, nowMs)],
      ["post", "/v1/envelopes", upload],
      ["post", "/v1/envelopes", upload.subarray(1)],
      ["post", "/v1/bundles", bundle],
      ["post", "/v1/bundles", { ...bundle, since: 1 }],
    ];
    const seen: unknown[] = [];
    for (const [method, path, body] of asked) {
      const isRaw = body instanceof Uint8Array;
      const type = isRaw ? "application/octet-stream" : "application/json";
      const operation = document.paths[path]![method]!;
      const schema = operation.requestBody?.content[type]?.schema ?? {};
      const sent = isRaw ? new Uint8Array(body) : JSON.stringify(body);
      const request = { method, body: sent, headers: { "content-type": type } };
      const response = await fetch(relay.url + path, body === undefined ? {} : request);
      const status = String(response.status);
      const told = operation.responses[status] ?? operation.responses[`${status[0]}XX`];
      const answer: unknown = await response.json();
      const isTrue = Check(told!.content!["application/json"]!.schema, answer);
      // What the document says of a JSON body is what the relay validates with.
      const isJson = body !== undefined && !isRaw;
      const isAsked = !isJson || Check(schema, body);
      const isStrict = !isJson || !Check(schema, { ...body, more: 1 });
      seen.push([status, isTrue, isAsked, isStrict]);
    }
    const statuses = ["200", "200", "200", "201", "202", "400", "200", "401"];
    expect(seen).toEqual(statuses.map((status) => [status, true, true, true]));
  });
});
