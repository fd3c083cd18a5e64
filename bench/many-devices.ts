/**
 * Many devices at once, straight in the relay's tables: registering ten thousand accounts over HTTP
 * would take longer than what is measured. All share one signing key, which the relay does not mind.
 */
import type { Sql } from "../src/relay/store/sql-values.ts";
import { newSigningKey } from "../src/shared/crypto/sodium.ts";
import { systemRng } from "../src/shared/rng.ts";
import { newDevice, type RelayDevice } from "../test/support/accounts.ts";

/** Devices of as many accounts, each ready to connect. */
export async function insertDevices(sql: Sql, count: number): Promise<readonly RelayDevice[]> {
  const dsk = newSigningKey(systemRng);
  const devices = Array.from({ length: count }, () => ({ ...newDevice(), dsk }));
  const column = (of: (device: RelayDevice) => string): string => `{${devices.map(of).join(",")}}`;
  const accounts = column(() => hex(systemRng(16)));
  const ids = column(({ deviceId }) => hex(deviceId));
  const mailboxes = column(({ mailbox }) => hex(mailbox));
  await sql`insert into account (account, aik, created_at_ms, list_version, list_hash)
    select a, decode(md5(a::text) || md5(a::text), 'hex'), 0, 1, decode(md5(a::text), 'hex')
    from unnest(${accounts}::uuid[]) as x(a)`;
  await sql`insert into device (device_id, account, dsk, mailbox, state)
    select d, a, ${Buffer.from(dsk.publicKey)}::bytea, m, 0
    from unnest(${accounts}::uuid[], ${ids}::uuid[], ${mailboxes}::uuid[]) as x(a, d, m)`;
  await sql`insert into mailbox (lane, mailbox, account, device_id)
    select 0, m, a, d
    from unnest(${accounts}::uuid[], ${ids}::uuid[], ${mailboxes}::uuid[]) as x(a, d, m)`;
  return devices;
}

function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("hex");
}
