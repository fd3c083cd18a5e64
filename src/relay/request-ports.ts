/**
 * What requests of devices, and of identity keys, do, over store and connections: each is one statement, and what it changes
 * is passed on at once — to the memory of recipients, to connections of removed devices, and to other
 * processes. What may be asked, and how it is answered, is ws/requests.ts and http/recovery.ts.
 */
import type { Clock } from "../shared/clock.ts";
import type { Result } from "../shared/result.ts";
import type { Recipients } from "./delivery/recipients.ts";
import type { RecoveryPorts } from "./http/recovery.ts";
import type { Logger } from "./log.ts";
import type { Neighbourhood } from "./neighbourhood.ts";
import { withinBound } from "./readiness.ts";
import { rotateAccessKey } from "./store/access-keys.ts";
import { releaseBodies } from "./store/acknowledgements.ts";
import {
  type ListUpdated,
  type ListUpdateError,
  recoverAccount,
  renewAccount,
  replaceDeviceList,
  type SigningAccount,
} from "./store/device-lists.ts";
import { accountOfKey, listChain, newestListRecord } from "./store/devices.ts";
import { closeInvite, openInvite } from "./store/invites.ts";
import { mailboxStatus } from "./store/mailboxes.ts";
import { publishPrekey } from "./store/prekeys.ts";
import type { Sql } from "./store/sql-values.ts";
import type { ConnectionRegistry } from "./ws/registry.ts";
import type { RequestPorts } from "./ws/requests.ts";

/** What requests reach. */
export interface RequestParts {
  readonly sql: Sql;
  readonly clock: Clock;
  readonly log: Logger;
  readonly registry: ConnectionRegistry;
  readonly recipients: Recipients;
  readonly neighbourhood: Neighbourhood;
}

/** Builds the ports of ws/requests.ts. */
export function createRequestPorts(parts: RequestParts): RequestPorts {
  const { sql, clock } = parts;
  return {
    publishPrekey: (holder, prekey) =>
      changing(parts, holder, publishPrekey(sql, holder, prekey, clock.nowMs())),
    newestList: (account) => newestListRecord(sql, account),
    replaceList: (holder, known, next) =>
      ending(parts, holder, replaceDeviceList(sql, holder, known, next)),
    setInvite: (holder, key, expiresMs) =>
      changing(
        parts,
        holder,
        expiresMs === undefined
          ? closeInvite(sql, holder, key, clock.nowMs())
          : openInvite(sql, holder, { key, expiresMs }, clock.nowMs()),
      ),
    rotateKey: (holder, key) =>
      changing(parts, holder, rotateAccessKey(sql, holder, key, clock.nowMs())),
    status: (holder) => mailboxStatus(sql, holder),
    clock,
  };
}

/** Whatever came of a write that decides who is let in: nobody goes by what was known before it. */
async function changing<T>(
  { recipients, neighbourhood }: RequestParts,
  { account }: { readonly account: string },
  written: Promise<T>,
): Promise<T> {
  try {
    return await written;
  } finally {
    recipients.forget(account);
    neighbourhood.announce("recipients");
  }
}

/** What an identity key may ask, over store and connections. */
export function createKeyPorts(
  parts: RequestParts & { readonly laneOf: (account: string) => number },
): Pick<RecoveryPorts, "accountOfKey" | "chainOf" | "recover" | "renew"> {
  const { sql, clock, laneOf } = parts;
  const at = (account: string): SigningAccount => ({ account, lane: laneOf(account) });
  return {
    accountOfKey: (aik) => accountOfKey(sql, aik),
    chainOf: (account) => listChain(sql, account),
    recover: (account, recovery) => {
      const change = { ...recovery, nowMs: clock.nowMs() };
      return ending(parts, at(account), recoverAccount(sql, at(account), change));
    },
    renew: (account, renewal) => {
      const change = { ...renewal, nowMs: clock.nowMs() };
      return ending(parts, at(account), renewAccount(sql, at(account), change));
    },
  };
}

/** Passes on what a list ended: connections and bodies of devices that are gone. */
async function ending(
  parts: RequestParts,
  account: SigningAccount,
  written: Promise<Result<ListUpdated, ListUpdateError>>,
): Promise<Result<ListUpdated, ListUpdateError>> {
  const { sql, log, clock, registry, neighbourhood } = parts;
  const replaced = await changing(parts, account, withinBound(written, clock));
  if (!replaced.ok) return replaced;
  registry.revoke(replaced.value.dropped);
  neighbourhood.announce("mailboxes");
  try {
    await releaseBodies(sql, account.lane, replaced.value.released);
  } catch {
    log.warn({ bodies: replaced.value.released.length }, "shared bodies were not released");
  }
  return replaced;
}
