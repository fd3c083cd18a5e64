/**
 * Every message names the version of our own device list that its sender knows. An older one is
 * answered with the newest list, once per account and version; one that we do not know ourselves
 * has to be looked into before anyone is alarmed.
 *
 * Spec: docs/protocol.md "View mismatch".
 */
import { idText } from "../../shared/ids.ts";
import { compareView } from "../identity/lists.ts";
import { getContact, updateContact } from "../store/contacts.ts";
import { newestDeviceList } from "../store/lists.ts";
import { currentKeyOf } from "../store/renewals.ts";
import { getSetting, putSetting } from "../store/settings.ts";
import type { WriteTx } from "../store/sqlite.ts";
import { type AnswerMoment, type OpenedMessage, queueDeviceList } from "./payload.ts";

const sentToSiblings = "own-list-sent";

/** Answers a sender's view of our list. `check`: fetch our own chain, then judge the view again. */
export function answerView(
  tx: WriteTx,
  opened: OpenedMessage,
  moment: AnswerMoment,
): "fine" | "answered" | "check" {
  const ownAik = idText(opened.recipientAik);
  const senderAik = currentKeyOf(tx, idText(opened.sender.aik));
  // Whoever still writes to an earlier key of ours hears of the renewal, not of lists.
  if (currentKeyOf(tx, ownAik) !== ownAik) return "fine";
  switch (compareView(tx, ownAik, opened.recipientList)) {
    case "older": {
      const newest = newestDeviceList(tx, ownAik);
      if (newest === undefined || wasSent(tx, opened, newest.version)) return "fine";
      queueDeviceList(tx, senderAik, newest.record, moment);
      return "answered";
    }
    case "newer":
    case "contradicts":
      return "check";
    case "current":
    case "unknown":
    default:
      return "fine";
  }
}

/** Whether that version went to the sender's account already; notes that it goes now. */
function wasSent(tx: WriteTx, opened: OpenedMessage, version: number): boolean {
  if (opened.relation === "self") {
    const sent = Number(getSetting(tx, sentToSiblings) ?? 0);
    if (sent < version) putSetting(tx, sentToSiblings, String(version));
    return sent >= version;
  }
  const senderAik = currentKeyOf(tx, idText(opened.sender.aik));
  const sent = getContact(tx, senderAik)?.listSentVersion ?? 0;
  if (sent < version) updateContact(tx, senderAik, { listSentVersion: version });
  return sent >= version;
}
