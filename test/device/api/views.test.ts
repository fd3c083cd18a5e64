/** The schemas of the local API and the views they stand for. */
import { Value } from "typebox/value";
import { describe, expect, it } from "vitest";

import { homebaseSchemaFits } from "../../../src/device/api/homebase-operations.ts";
import { isOperationName, operations } from "../../../src/device/api/operations.ts";
import { reviewFits } from "../../../src/device/api/review-view.ts";
import { modelSchemasFit } from "../../../src/device/api/model-operations.ts";
import { sourceSchemasFit } from "../../../src/device/api/source-operations.ts";
import { schemasFitViews, toWire } from "../../../src/device/api/views.ts";

describe("views", () => {
  it("say what their schemas say, which the compiler proves", () => {
    const fits = [
      ...schemasFitViews,
      ...sourceSchemasFit,
      ...modelSchemasFit,
      reviewFits,
      homebaseSchemaFits,
    ];
    expect(fits.every(Boolean)).toBe(true);
  });

  it("carry null where TypeScript says undefined, however deep", () => {
    expect(toWire({ a: undefined, b: [{ c: undefined }, 1], d: null, e: "x" })).toEqual({
      a: null,
      b: [{ c: null }, 1],
      d: null,
      e: "x",
    });
  });
});

describe("operations", () => {
  it("take no field that they do not name", () => {
    for (const { params } of Object.values(operations)) {
      expect(Value.Check(params, { surprise: 1 })).toBe(false);
    }
  });

  it("are a closed set: inherited names of objects are none", () => {
    expect(isOperationName("send")).toBe(true);
    expect(["constructor", "toString", "__proto__", "Send", ""].filter(isOperationName)).toEqual(
      [],
    );
  });
});
