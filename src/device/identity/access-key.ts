/**
 * The account's access key, and replacing it: the next one is stored before the relay is asked, so that
 * a crash or a lost answer in between repeats the same request. Only after the relay has taken it does
 * it become ours, and people can be told.
 *
 * Spec: docs/protocol.md "Access keys".
 */
import { parseBase64Url, toBase64Url } from "../../shared/bytes.ts";
import type { Rng } from "../../shared/rng.ts";
import { getOwnAccount, putOwnAccount } from "../store/identity.ts";
import { deleteSetting, getSetting, putSetting } from "../store/settings.ts";
import type { ReadTx, WriteTx } from "../store/sqlite.ts";

const nextKeySetting = "access-key-next";

/** Decides to replace the access key. Until the relay has the next one, deciding again changes nothing. */
export function beginKeyRotation(tx: WriteTx, rng: Rng): void {
  if (nextAccessKey(tx) === undefined) putSetting(tx, nextKeySetting, toBase64Url(rng(32)));
}

/** Draws another next key, because the relay knows this one as an old one. */
export function redrawNextKey(tx: WriteTx, rng: Rng): void {
  putSetting(tx, nextKeySetting, toBase64Url(rng(32)));
}

/** The key that the relay is still to be told. */
export function nextAccessKey(tx: ReadTx): Uint8Array | undefined {
  const text = getSetting(tx, nextKeySetting);
  const key = text === undefined ? undefined : parseBase64Url(text);
  return key?.ok === true ? key.value : undefined;
}

/** The relay has taken that key: it is ours from now on. */
export function finishKeyRotation(tx: WriteTx, key: Uint8Array): void {
  const own = getOwnAccount(tx);
  if (own === undefined) throw new Error("an access key was replaced before there is an account");
  putOwnAccount(tx, { ...own, accessKey: key });
  deleteSetting(tx, nextKeySetting);
}
