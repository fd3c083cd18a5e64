/**
 * The closed set of things that can be asked of a device, with what each takes and answers. The
 * daemon's socket, the command line and later the console share this table and nothing beside it.
 *
 * What an operation does is in perform.ts; how it travels is in server.ts and client.ts. Making an
 * account or joining one is not here: a daemon only runs for a device that already has one.
 * Spec: docs/operating.md "Local API".
 */
import { type TObject, type TProperties, Type } from "typebox";

import { maxMessageBytes } from "../../shared/limits.ts";
import { agentOperations } from "./agent-operations.ts";
import { homebaseOperations } from "./homebase-operations.ts";
import { mcpOperations } from "./mcp-operations.ts";
import { modelOperations } from "./model-operations.ts";
import { sourceOperations } from "./source-operations.ts";
import { reviewView } from "./review-view.ts";
import {
  contactView,
  deliveryView,
  deviceView,
  identityView,
  messageView,
  orNull,
  skillView,
  statusView,
  type Wire,
} from "./views.ts";

const contact = Type.String({ maxLength: 512, description: "name or identity key" });
const messageId = Type.String({ maxLength: 64 });
const skillId = Type.String({ maxLength: 128 });
// Longer texts are refused by their own rules, in words; this only bounds what is parsed.
const authored = Type.String({ maxLength: 1_000_000 });
const sent = Type.Object({ messageId });
const saved = Type.Object({ id: skillId, notes: Type.Array(Type.String()) });

const choices = closed({
  fill: Type.Array(skillId, { maxItems: 32 }),
  keep: Type.Array(closed({ wireId: skillId, localId: skillId }), { maxItems: 32 }),
  beside: Type.Array(skillId, { maxItems: 32 }),
});

/** Every operation by name. */
export const operations = {
  status: { params: closed({}), result: statusView },
  settle: {
    params: closed({ boundMs: Type.Integer({ minimum: 0, maximum: 600_000 }) }),
    result: Type.Object({ state: Type.Union([Type.Literal("settled"), Type.Literal("bound")]) }),
  },
  devices: { params: closed({}), result: Type.Array(deviceView) },
  "revoke-device": {
    params: closed({ deviceId: Type.String({ maxLength: 64 }) }),
    result: deviceView,
  },
  "renew-account": {
    params: closed({ remove: Type.Array(Type.String({ maxLength: 128 }), { maxItems: 16 }) }),
    result: Type.Object({ identity: identityView, recoveryCode: Type.String() }),
  },
  "recovery-code": { params: closed({}), result: Type.Object({ recoveryCode: Type.String() }) },
  "grant-link": {
    params: closed({ code: Type.String({ maxLength: 512 }) }),
    result: Type.Object({
      grant: Type.String(),
      digits: Type.String(),
      newDeviceName: Type.String(),
    }),
  },
  "await-grant": { params: closed({ grant: Type.String({ maxLength: 64 }) }), result: deviceView },
  "cancel-grant": {
    params: closed({ grant: Type.String({ maxLength: 64 }) }),
    result: Type.Object({}),
  },
  contacts: { params: closed({}), result: Type.Array(contactView) },
  invite: {
    params: closed({
      multipleUse: Type.Optional(Type.Boolean()),
      lifetimeMs: Type.Optional(Type.Integer({ minimum: 60_000 })),
    }),
    result: Type.Object({ link: Type.String(), expiresMs: Type.Number() }),
  },
  "accept-invite": {
    params: closed({ link: Type.String({ maxLength: 2_048 }) }),
    result: contactView,
  },
  "admit-contact": { params: closed({ contact }), result: contactView },
  "block-contact": { params: closed({ contact }), result: contactView },
  "unblock-contact": { params: closed({ contact }), result: contactView },
  "safety-number": {
    params: closed({ contact }),
    result: Type.Object({
      name: Type.String(),
      digits: Type.String(),
      verifiedMs: orNull(Type.Number()),
    }),
  },
  "contested-keys": {
    params: closed({ contact, chosen: Type.Optional(Type.String({ maxLength: 64 })) }),
    result: Type.Array(Type.Object({ aik: Type.String(), digits: Type.String() })),
  },
  "mark-verified": { params: closed({ contact }), result: contactView },
  send: {
    params: closed({ contact, text: Type.String({ maxLength: maxMessageBytes + 1 }) }),
    result: sent,
  },
  messages: {
    params: closed({ contact: Type.Optional(contact) }),
    result: Type.Array(messageView),
  },
  delivery: { params: closed({ messageId }), result: orNull(deliveryView) },
  skills: { params: closed({}), result: Type.Array(skillView) },
  "save-skill": {
    params: closed({
      id: Type.Optional(skillId),
      handle: authored,
      name: Type.Optional(authored),
      shortDescription: authored,
      detailedBody: authored,
    }),
    result: saved,
  },
  "rename-skill": { params: closed({ id: skillId, handle: authored }), result: saved },
  "switch-skill": {
    params: closed({
      id: skillId,
      enabled: Type.Optional(Type.Boolean()),
      advertised: Type.Optional(Type.Boolean()),
    }),
    result: Type.Object({}),
  },
  "delete-skill": {
    params: closed({ id: skillId, confirmed: Type.Boolean() }),
    result: Type.Object({ notes: Type.Array(Type.String()) }),
  },
  "share-skill": { params: closed({ id: skillId, contact }), result: sent },
  "review-share": {
    params: closed({ messageId, choices: Type.Optional(choices) }),
    result: reviewView,
  },
  "accept-share": {
    params: closed({
      messageId,
      acceptHash: Type.String({ maxLength: 128 }),
      choices: Type.Optional(choices),
    }),
    result: Type.Object({
      lines: Type.Array(Type.String()),
      imported: Type.Array(Type.String()),
    }),
  },
  ...agentOperations,
  ...homebaseOperations,
  ...sourceOperations,
  ...mcpOperations,
  ...modelOperations,
};

/** The table's type. */
export type Operations = typeof operations;
/** Name of an operation. */
export type OperationName = keyof Operations;
/** What it takes. */
export type ParamsOf<Name extends OperationName> = Type.Static<Operations[Name]["params"]>;
/** What it answers when it goes well. */
export type ResultOf<Name extends OperationName> = Wire<Type.Static<Operations[Name]["result"]>>;

/** Whether a text names an operation. */
export function isOperationName(name: string): name is OperationName {
  return Object.hasOwn(operations, name);
}

function closed<Properties extends TProperties>(properties: Properties): TObject<Properties> {
  return Type.Object(properties, { additionalProperties: false });
}
