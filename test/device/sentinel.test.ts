import { describe, expect, it } from "vitest";
import {
  mayBeSentinel,
  parseSentinel,
  readsAsSentinel,
  sentinelKind,
} from "../../src/device/sentinel.ts";
import { encodeBundle } from "../../src/device/skills/bundle.ts";
import { bundle, item } from "./skills/sample.ts";

const good = bundle(item("a", "@b"), item("b"));

describe("sentinels", () => {
  it("are objects with exactly one of the three keys", () => {
    expect(sentinelKind(encodeBundle(good))).toBe("pixie_skill_share");
    expect(parseSentinel(' {"pixie_message_op": {"v": 1}}')).toEqual({
      kind: "pixie_message_op",
      value: { v: 1 },
    });
    expect(sentinelKind('{"pixie_homebase_op":{}}')).toBe("pixie_homebase_op");
    expect(sentinelKind('{"pixie\\u005fhomebase_op":{}}')).toBe("pixie_homebase_op");
    for (const ordinary of [
      "what is pixie_skill_share?",
      '["pixie_skill_share"]',
      '{"pixie_skill_share":{},"x":1}',
      '{"pixie_skill_share":{},"pixie_message_op":{}}',
      '{"pixie_message_op":{},"pixie_message_op":{}}',
      '{"pixie_other":{}}',
      '{"pixie_skill_share":',
      "",
    ]) {
      expect([ordinary, sentinelKind(ordinary)]).toEqual([ordinary, undefined]);
      expect([ordinary, readsAsSentinel(ordinary)]).toEqual([ordinary, false]);
    }
  });

  it("are looked for only in texts that can hold one", () => {
    expect(mayBeSentinel("{ hello }")).toBe(false);
    expect(mayBeSentinel('say {"pixie_skill_share":1}')).toBe(false);
    expect(mayBeSentinel('\n{"pixie_skill_share":1}')).toBe(true);
  });

  it("cannot be forged by typing one", () => {
    expect(readsAsSentinel(encodeBundle(good))).toBe(true);
    expect(readsAsSentinel(`\n${encodeBundle(good)}\n`)).toBe(true);
    expect(readsAsSentinel('{"pixie_message_op":{"op":"delete"}}')).toBe(true);
    expect(readsAsSentinel('{"pixie_skill_share":{"skill":1}}')).toBe(false);
    expect(readsAsSentinel('{"pixie_message_op":"hello"}')).toBe(false);
  });
});
