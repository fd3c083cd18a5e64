/**
 * From a message id to the bundle that somebody else shared with it. Everything that is not such a
 * message is refused with its reason: an ordinary text, a copy of one's own, an id that two people
 * used.
 *
 * It reads only; importing is in library.ts. Spec: docs/skills.md "Card".
 */
import { parseUtf8 } from "../../shared/bytes.ts";
import { err, ok, type Result } from "../../shared/result.ts";
import type { DeviceError } from "../device.ts";
import { type Bundle, decodeBundle } from "../skills/bundle.ts";
import { getOwnAccount } from "../store/identity.ts";
import { type MessageRow, messageRows } from "../store/messages.ts";
import type { ReadTx } from "../store/sqlite.ts";

/** A share that can be reviewed. */
export interface ReceivedShare {
  readonly bundle: Bundle;
  readonly sender: string;
  readonly messageId: string;
}

/** Type tag of an ordinary message, which is what a share rides on. */
const messageTag = 0;

/** The share under a message id. Errors: no such message, not a share, or one's own. */
export function receivedShare(tx: ReadTx, messageId: string): Result<ReceivedShare, DeviceError> {
  const rows = messageRows(tx, messageId);
  if (rows.length === 0) {
    return refuse("no-such-message", `there is no message ${messageId}: see pixie read`);
  }
  const own = getOwnAccount(tx)?.aik;
  const shares = rows.flatMap((row) => shareOf(row));
  if (shares.length === 0) {
    return refuse("not-a-share", "this message is ordinary text, not a shared skill");
  }
  const foreign = shares.filter((share) => share.sender !== own);
  const [share] = foreign;
  if (share === undefined) {
    return refuse(
      "own-share",
      "you shared this skill yourself: there is nothing to import from your own copy",
    );
  }
  // The id belongs to its sender, so two senders may use one; guessing would import from the wrong.
  return foreign.length === 1
    ? ok(share)
    : refuse("ambiguous-message", "two people sent a message with this id: ask one to share again");
}

function shareOf(row: MessageRow): readonly ReceivedShare[] {
  if (row.typeTag !== messageTag) return [];
  const text = parseUtf8(row.content);
  const bundle = text.ok ? decodeBundle(text.value) : text;
  return bundle.ok
    ? [{ bundle: bundle.value, sender: row.senderAik, messageId: row.messageId }]
    : [];
}

function refuse(
  type: string,
  message: string,
): { readonly ok: false; readonly error: DeviceError } {
  return err({ type, message });
}
