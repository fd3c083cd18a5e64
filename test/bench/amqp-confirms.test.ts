import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { AmqpConfirms } from "../../bench/load/amqp-confirms.ts";

describe("counting a broker's confirms", () => {
  it("counts a message that was confirmed before its forerunners", () => {
    const confirms = new AmqpConfirms();
    expect(confirms.take(12n, false)).toBe(1);
    expect(confirms.take(10n, true)).toBe(10);
    expect(confirms.take(11n, false)).toBe(1);
    expect(confirms.take(12n, true)).toBe(0);
  });

  it("counts each message once, in whatever order", () => {
    const confirm = fc.tuple(fc.bigInt({ min: 1n, max: 30n }), fc.boolean());
    fc.assert(
      fc.property(fc.array(confirm), (confirmed) => {
        const confirms = new AmqpConfirms();
        const known = new Set<bigint>();
        for (const [tag, isMultiple] of confirmed) {
          const before = known.size;
          for (let each = isMultiple ? 1n : tag; each <= tag; each++) known.add(each);
          expect(confirms.take(tag, isMultiple)).toBe(known.size - before);
        }
      }),
    );
  });
});
