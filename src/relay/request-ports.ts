/**
 * What a device's requests do, over store and connections: each is one statement, and what it changes
 * is passed on at once — to the memory of recipients, to connections of removed devices, and to other
 * processes. What may be asked, and how it is answered, is ws/requests.ts.
 */
import type { Clock } from "../shared/clock.ts";
import type { DeviceList } from "../shared/crypto/device-list.ts";
import type { Recipients } from "./delivery/recipients.ts";
import type { Logger } from "./log.ts";
import type { Neighbourhood } from "./neighbourhood.ts";
import { rotateAccessKey } from "./store/access-keys.ts";
import { releaseBodies } from "./store/acknowledgements.ts";
import { newestListRecord, replaceDeviceList } from "./store/devices.ts";
import { closeInvite, openInvite } from "./store/invites.ts";
import { mailboxStatus } from "./store/mailboxes.ts";
import { publishPrekey } from "./store/prekeys.ts";
import type { Sql } from "./store/sql-values.ts";
import type { ConnectionRegistry } from "./ws/registry.ts";
import type { Holder, RequestPorts } from "./ws/requests.ts";

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
    replaceList: (holder, known, next) => replaceList(parts, holder, known, next),
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
  { account }: Holder,
  written: Promise<T>,
): Promise<T> {
  try {
    return await written;
  } finally {
    recipients.forget(account);
    neighbourhood.announce("recipients");
  }
}

async function replaceList(
  parts: RequestParts,
  holder: Holder,
  known: DeviceList,
  next: DeviceList,
): ReturnType<RequestPorts["replaceList"]> {
  const { sql, log, registry, neighbourhood } = parts;
  const replaced = await changing(parts, holder, replaceDeviceList(sql, holder, known, next));
  if (!replaced.ok) return replaced;
  registry.revoke(replaced.value.dropped);
  neighbourhood.announce("mailboxes");
  try {
    await releaseBodies(sql, holder.lane, replaced.value.released);
  } catch {
    log.warn({ bodies: replaced.value.released.length }, "shared bodies were not released");
  }
  return replaced;
}
