/**
 * The statement by which a device list replaces its predecessor, as text: compare-and-set on the
 * account's (identity key, version, hash), the chain, used ids, device rows, new mailboxes, and the end
 * of revoked devices' mailboxes, all or nothing; with a recovery also the new device's prekey and the
 * new access key, with a renewal the new identity key. What goes in and comes out is store/device-lists.ts.
 *
 * Mailboxes are locked in order first, as accept does it, so that the two cannot deadlock.
 */

/**
 * `$1` lane, `$2` mailbox and `$3` session of the device that asks; `$4` account; `$5` identity key,
 * `$6` version, `$7` hash and `$8` record of the new list; `$9` version and `$10` hash of the known
 * one; per entry `$11` device, `$12` signing key (hex), `$13` mailbox, `$14` state; `$15` and `$16`
 * ids used for the first time and their kinds; `$17` mailboxes to open and `$18` their devices;
 * `$19` mailboxes to drop and `$20` their devices; `$21` the known list's identity key; `$22` whether the
 * identity key itself asks, so that no mailbox need be held; `$23` a renewal or null; `$24` device, `$25`
 * date and `$26` record of a prekey, or nulls; `$27` an access key or null; `$28` now, ms.
 */
export const deviceListStatement = `
with locked as materialized (
  select mailbox, session from mailbox
  where lane = $1 and (mailbox = $2 or mailbox = any($19::uuid[]))
  order by mailbox for update
),
owner as materialized (
  select mailbox from locked where mailbox = $2 and session = $3
  union all select null::uuid where $22::boolean
),
head as (
  update account set aik = $5, list_version = $6, list_hash = $7
  where account = $4 and aik = $21 and list_version = $9
    and list_hash = $10 and exists (select 1 from owner)
  returning account, aik
),
renewed as (
  insert into renewal (old_aik, new_aik, account, record, received_at_ms)
  select $21, $5, account, $23::bytea, $28::bigint from head where $23::bytea is not null
),
chain as (
  insert into device_list (account, aik, version, hash, record)
  select account, aik, $6, $7, $8 from head
),
used as (
  insert into used_id (id, kind)
  select u.id, u.kind from head, unnest($15::uuid[], $16::text[]) as u(id, kind)
),
listed as (
  insert into device (device_id, account, dsk, mailbox, state)
  select e.device_id, head.account, decode(e.dsk, 'hex'), e.mailbox, e.state from head,
    unnest($11::uuid[], $12::text[],
      $13::uuid[], $14::smallint[]) as e(device_id, dsk, mailbox, state)
  on conflict (device_id) do update set state = excluded.state where device.account = excluded.account
),
opened as (
  insert into mailbox (lane, mailbox, account, device_id)
  select $1::int, m.mailbox, head.account, m.device_id from head,
    unnest($17::uuid[], $18::uuid[]) as m(mailbox, device_id)
),
unpublished as (
  delete from prekey where exists (select 1 from head)
    and (device_id = any($20::uuid[]) or ($23::bytea is not null and account = $4))
),
published as (
  insert into prekey (device_id, account, not_before_ms, record, received_at_ms)
  select $24::uuid, account, $25::bigint, $26::bytea, $28::bigint from head where $24::uuid is not null
),
retired as (
  update access_key set retired_at_ms = $28::bigint from head
  where access_key.account = head.account and access_key.retired_at_ms is null and $27::bytea is not null
  returning access_key.account, access_key.generation
),
fresh as (
  insert into access_key (account, generation, key, created_at_ms)
  select account, generation + 1, $27::bytea, $28::bigint from retired
),
dropped as (
  delete from mailbox where lane = $1 and exists (select 1 from head)
    and mailbox = any($19::uuid[]) returning mailbox
),
emptied as (
  delete from item where lane = $1 and exists (select 1 from head)
    and mailbox = any($19::uuid[]) returning day, body_id, acked
)
select 'owner' as kind, mailbox::text as id, null::int as day, null::int as items from owner
union all select 'head', account::text, null, null from head
union all select 'dropped', mailbox::text, null, null from dropped
union all select 'body', body_id::text, day, count(*)::int from emptied
  where body_id is not null and acked is null group by day, body_id`;
