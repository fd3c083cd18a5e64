/**
 * What the local API answers with, as schemas: the views of device.ts in JSON, where "not known" is
 * null and never a missing key, so that scripts can rely on every field being there.
 *
 * The types at the end keep schemas and views from drifting apart. Spec: docs/operating.md "Local
 * API".
 */
import { type TNull, type TSchema, type TUnion, Type } from "typebox";

import type { Skill } from "../skills/skill.ts";
import type { ContactView, DeliveryView, DeviceView, Identity, MessageView } from "../device.ts";

/** A value as JSON carries it: null where TypeScript says undefined. */
export type Wire<T> = T extends undefined
  ? null
  : T extends readonly (infer Item)[]
    ? readonly Wire<Item>[]
    : T extends object
      ? { readonly [Key in keyof T]-?: Wire<T[Key]> }
      : T;

/** Makes plain data fit for JSON. */
export function toWire<T>(value: T): Wire<T>;
export function toWire(value: unknown): unknown {
  if (value === undefined) return null;
  if (Array.isArray(value)) return value.map((item: unknown) => toWire(item));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, toWire(item)]));
}

/** That, or null. */
export function orNull<S extends TSchema>(schema: S): TUnion<[S, TNull]> {
  return Type.Union([schema, Type.Null()]);
}

const text = Type.String();
const count = Type.Integer();
const timeMs = Type.Number({ description: "ms since 1970 UTC" });

/** This device and its account. */
export const identityView = Type.Object({
  aik: text,
  accountName: text,
  deviceId: text,
  deviceName: text,
  admin: Type.Boolean(),
  relayOrigin: text,
  listVersion: count,
});

/** One device of the own account. */
export const deviceView = Type.Object({
  deviceId: text,
  name: orNull(text),
  state: Type.Union([Type.Literal("active"), Type.Literal("admin"), Type.Literal("revoked")]),
  thisDevice: Type.Boolean(),
  addedMs: timeMs,
  hasPrekey: Type.Boolean(),
});

/** One person. */
export const contactView = Type.Object({
  aik: text,
  name: text,
  relation: Type.Union([
    Type.Literal("invited"),
    Type.Literal("contact"),
    Type.Literal("request"),
    Type.Literal("blocked"),
  ]),
  renewedMs: orNull(timeMs),
  reachable: Type.Boolean(),
  reason: orNull(text),
  relayOrigin: orNull(text),
  devices: count,
});

/** Where a sent message is. */
export const deliveryView = Type.Object({
  state: Type.Union([
    Type.Literal("queued"),
    Type.Literal("accepted"),
    Type.Literal("confirmed"),
    Type.Literal("expired"),
    Type.Literal("failed"),
  ]),
  copies: Type.Array(Type.Object({ deviceId: text, state: text })),
  reason: orNull(text),
});

/** One row of a conversation. */
export const messageView = Type.Object({
  messageId: text,
  conversation: text,
  fromMe: Type.Boolean(),
  senderAik: text,
  sentMs: timeMs,
  clockOff: Type.Boolean(),
  kind: Type.Union([Type.Literal("text"), Type.Literal("skill-share"), Type.Literal("opaque")]),
  text,
  card: orNull(
    Type.Object({
      skillId: text,
      name: text,
      shortDescription: text,
      linked: text,
      inert: Type.Boolean(),
    }),
  ),
  delivery: orNull(deliveryView),
});

/** One skill of this device. */
export const skillView = Type.Object({
  id: text,
  name: text,
  shortDescription: text,
  detailedBody: text,
  enabled: Type.Boolean(),
  advertised: Type.Boolean(),
  nameIsSet: Type.Boolean(),
});

/** The device at a glance. */
export const statusView = Type.Object({
  identity: orNull(identityView),
  connection: text,
  outboxOpen: count,
  setAside: count,
  relayOffsetMs: Type.Number(),
});

type Same<A, B> = [A] extends [B] ? ([B] extends [A] ? true : false) : false;
type StaticOf<S extends TSchema> = Wire<Type.Static<S>>;

/** Holds exactly as long as every schema above says what its view says. */
export const schemasFitViews: [
  Same<StaticOf<typeof identityView>, Wire<Identity>>,
  Same<StaticOf<typeof deviceView>, Wire<DeviceView>>,
  Same<StaticOf<typeof contactView>, Wire<ContactView>>,
  Same<StaticOf<typeof deliveryView>, Wire<DeliveryView>>,
  Same<StaticOf<typeof messageView>, Wire<MessageView>>,
  Same<StaticOf<typeof skillView>, Wire<Skill>>,
] = [true, true, true, true, true, true];
