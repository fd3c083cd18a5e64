/** The numbers that follow from others must agree with them. */
import { describe, expect, it } from "vitest";
import {
  contentBytesByBucket,
  echoOverheadBytes,
  maxMessageBytes,
  maxPrekeyLifeMs,
  maxUploadBytes,
} from "../../src/shared/limits.ts";
import { bodyBytes } from "../../src/shared/wire/envelope.ts";

describe("limits", () => {
  it("leaves 727 to 261,847 bytes of content in a bucket", () => {
    expect(contentBytesByBucket).toEqual([727, 3_799, 16_087, 65_239, 261_847]);
  });

  it("leaves 695 to 261,815 bytes of message in a bucket", () => {
    const messages = contentBytesByBucket.map((bytes) => bytes - echoOverheadBytes);
    expect(messages).toEqual([695, 3_767, 16_055, 65_207, maxMessageBytes]);
  });

  it("adds 48 bytes to a bucket for a body", () => {
    expect(bodyBytes(0)).toBe(1_072);
    expect(() => bodyBytes(5)).toThrow(RangeError);
  });

  it("bounds the largest upload and a prekey's life", () => {
    expect(maxUploadBytes).toBe(76 + 16 * 1_192 + 262_192);
    expect(maxPrekeyLifeMs / 86_400_000).toBe(45 + 30 + 1);
  });
});
