/**
 * What a person may send as a message. Everything that could not arrive as it was written is
 * refused here, before anything is stored; the sealing that comes later cannot fail for the text.
 *
 * Empty text is legal. Programs that send a sentinel on purpose (a skill share) say so.
 *
 * Spec: docs/protocol.md "Inner plaintext" (sizes), docs/skills.md "Sentinels".
 */
import { isWellFormed, utf8 } from "../../shared/bytes.ts";
import { maxMessageBytes } from "../../shared/limits.ts";
import { err, ok, type Result } from "../../shared/result.ts";
import { readsAsSentinel } from "../sentinel.ts";

export type ComposeError =
  | { readonly type: "lone-surrogate"; readonly message: string }
  | { readonly type: "too-large"; readonly message: string; readonly limitBytes: number }
  | { readonly type: "reserved-text"; readonly message: string };

/** The bytes of a message text. `sentinel` allows a text that is meant for the program there. */
export function composeText(
  text: string,
  options: { readonly sentinel?: boolean } = {},
): Result<Uint8Array, ComposeError> {
  if (!isWellFormed(text)) {
    return err({
      type: "lone-surrogate",
      message: "expected well-formed text, got half of a character pair: write that character anew",
    });
  }
  const bytes = utf8(text);
  if (bytes.length > maxMessageBytes) {
    return err({
      type: "too-large",
      message: `expected a message of at most ${maxMessageBytes} bytes of UTF-8, got ${bytes.length}: send it in parts`,
      limitBytes: maxMessageBytes,
    });
  }
  if (options.sentinel !== true && readsAsSentinel(text)) {
    return err({
      type: "reserved-text",
      message: "this text would act as a command on the other side: put a word before it",
    });
  }
  return ok(bytes);
}
