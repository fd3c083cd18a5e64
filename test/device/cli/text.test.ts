/** What reaches a terminal, how things are pointed at, and how errors become exit codes. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { createPerformer } from "../../../src/device/api/perform.ts";
import type { Session } from "../../../src/device/api/session.ts";
import { exitCodeHelp, exitCodeOf, exitCodes } from "../../../src/device/cli/exit-codes.ts";
import {
  findMessage,
  type Message,
  shortReferences,
  skillReference,
} from "../../../src/device/cli/references.ts";
import { visibleJson, visibleLine, visibleText } from "../../../src/device/cli/visible.ts";
import { ok } from "../../../src/shared/result.ts";
import { fakeDevice } from "../../support/fake-device.ts";

const driving = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\u{fe00}-\u{fe0f}\u{e0100}-\u{e01ef}]/u;
const anyText = fc.string({ unit: "binary" });

describe("visible text", () => {
  it("O32: draws what could drive a terminal or hide from a reader, by code point", () => {
    expect(visibleLine("\u001b[2Jgone")).toBe("⟨U+001B⟩[2Jgone");
    expect(visibleLine("a\u202eb\u2066c")).toBe("a⟨U+202E⟩b⟨U+2066⟩c");
    expect(visibleLine("a\u200bb\u2060c\ufeffd")).toBe("a⟨U+200B⟩b⟨U+2060⟩c⟨U+FEFF⟩d");
    expect(visibleLine("one\ntwo\r\u009b31m")).toBe("one⟨U+000A⟩two⟨U+000D⟩⟨U+009B⟩31m");
    expect(visibleLine("Żółć 感謝 👍 –")).toBe("Żółć 感謝 👍 –");
  });

  it("A13: tag characters and variation selectors are drawn, not sent", () => {
    expect(visibleLine("x\u{e0041}y\u{fe0f}")).toBe("x⟨U+E0041⟩y⟨U+FE0F⟩");
  });

  it("keeps line ends and tabs in texts of several lines only", () => {
    expect(visibleText("a\r\n\tb\u0007\rc")).toBe("a\n\tb⟨U+0007⟩⟨U+000D⟩c");
  });

  it("never lets anything through that has no shape of its own", () => {
    fc.assert(
      fc.property(anyText, (text) => {
        expect(driving.test(visibleLine(text))).toBe(false);
        expect(driving.test(visibleText(text).replace(/[\n\t]/g, ""))).toBe(false);
      }),
    );
  });

  it("leaves JSON the same value, for any text", () => {
    fc.assert(
      fc.property(anyText, (text) => {
        const shown = visibleJson(JSON.stringify({ text }));
        expect(driving.test(shown)).toBe(false);
        expect(JSON.parse(shown)).toEqual({ text });
      }),
    );
  });
});

const message = (messageId: string, senderAik = "someone"): Message => ({
  messageId,
  conversation: "someone",
  fromMe: false,
  senderAik,
  sentMs: 0,
  clockOff: false,
  kind: "text",
  text: "",
  card: null,
  delivery: null,
});

function sessionWith(messages: readonly Message[]): Session {
  const views = messages.map((view) => ({ ...view, card: undefined, delivery: undefined }));
  const { perform } = createPerformer(fakeDevice({ messages: () => ok(views) }).device);
  return {
    call: perform,
    daemonPid: undefined,
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
}

async function findType(messages: readonly Message[], typed: string): Promise<string> {
  const found = await findMessage(sessionWith(messages), typed);
  return found.ok ? found.value.messageId : found.error.type;
}

describe("message references", () => {
  it("accept any prefix that fits one id, and refuse what fits none or several", async () => {
    const listed = [message("abcdef111"), message("abcdef222"), message("-xyz00000")];
    expect(await findType(listed, "abcdef1")).toBe("abcdef111");
    expect(await findType(listed, "abcdef")).toBe("ambiguous-message");
    expect(await findType(listed, "b")).toBe("no-such-message");
    expect(await findType(listed, "")).toBe("no-such-message");
    expect(await findType(listed, ":-xyz")).toBe("-xyz00000");
  });

  it("an exact id wins over a longer one that begins with it", async () => {
    expect(await findType([message("abc"), message("abcd")], "abc")).toBe("abc");
  });

  it("R14: one id used by two senders is one reference", async () => {
    expect(await findType([message("abcdef", "a"), message("abcdef", "b")], "abc")).toBe("abcdef");
  });

  it("as they are shown, each finds its own message, and none looks like a flag", async () => {
    const id = fc.stringMatching(/^[A-Za-z0-9_-]{8,22}$/);
    await fc.assert(
      fc.asyncProperty(fc.uniqueArray(id, { minLength: 1, maxLength: 20 }), async (ids) => {
        // Ids of the product all have one length, so none is the beginning of another.
        const even = [...new Set(ids.map((text) => text.padEnd(22, "_")))];
        const listed = even.map((text) => message(text));
        for (const [full, short] of shortReferences(listed)) {
          expect(short.startsWith("-")).toBe(false);
          expect(await findType(listed, short)).toBe(full);
        }
      }),
      { numRuns: 50 },
    );
  });

  it("a skill may be named with or without its sign, in any case", () => {
    expect([skillReference("@Search-Info"), skillReference("search-info")]).toEqual([
      "search-info",
      "search-info",
    ]);
  });
});

describe("exit codes", () => {
  it.each([
    ["usage", 2],
    ["setting", 2],
    ["no-such-skill", 3],
    ["ambiguous-contact", 3],
    ["unknown-mentions", 4],
    ["needs-confirmation", 4],
    ["unreachable-contact", 4],
    ["no-contact", 3],
    ["relay-url", 2],
    ["not-a-share", 4],
    ["no-folder", 6],
    ["relay-unreachable", 5],
    ["locked", 6],
    ["folder-permissions", 6],
    ["passphrase-needed", 6],
    ["wrong-key", 6],
    ["daemon-version", 6],
    ["review-outdated", 7],
    ["already-registered", 7],
    ["constructor", 4],
  ])("%s ends with %i", (type, code) => {
    expect(exitCodeOf(type)).toBe(code);
  });

  it("are all in the help", () => {
    for (const code of Object.values(exitCodes)) expect(exitCodeHelp).toContain(`\n  ${code}  `);
  });
});
