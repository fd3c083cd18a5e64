/**
 * What each operation does to a device. Parameters are checked here, once, whichever way they came;
 * a refusal is an answer, and only a bug throws.
 *
 * It keeps one kind of state, in grants.ts. Spec: docs/operating.md "Local API".
 */
import { Value } from "typebox/value";

import { err, ok, type Result } from "../../shared/result.ts";
import type { Device, DeviceError } from "../device.ts";
import type { Following } from "./agent-operations.ts";
import { createGrants } from "./grants.ts";
import { homebaseHandlers, type HomebaseOperation } from "./homebase-operations.ts";
import {
  type OperationName,
  type Operations,
  operations,
  type ParamsOf,
  type ResultOf,
} from "./operations.ts";
import type { ModelOperation } from "./model-operations.ts";
import { type AgentOperation, agentHandlers } from "./perform-agent.ts";
import { type McpOperation, mcpHandlers } from "./perform-mcp.ts";
import { modelHandlers } from "./perform-models.ts";
import { type SourceOperation, sourceHandlers } from "./perform-sources.ts";
import { toWire, type Wire } from "./views.ts";

/** The answer of an operation. */
export type Answer<Name extends OperationName> = Promise<Result<ResultOf<Name>, DeviceError>>;

/** Carries out operations on one device. */
export interface Performer {
  readonly perform: <Name extends OperationName>(
    name: Name,
    params: ParamsOf<Name>,
    following?: Following,
  ) => Answer<Name>;
  /** The same for parameters that nobody has checked. */
  readonly performUnknown: <Name extends OperationName>(
    name: Name,
    params: unknown,
    following?: Following,
  ) => Answer<Name>;
}

/** Operations over a device that somebody else opens and closes. */
export function createPerformer(device: Device): Performer {
  const handlers: Handlers = {
    ...deviceHandlers(device),
    ...skillHandlers(device),
    ...agentHandlers(device),
    ...homebaseHandlers(device),
    ...sourceHandlers(device),
    ...mcpHandlers(device),
    ...modelHandlers(device),
  };
  const perform: Performer["perform"] = (name, params, following) =>
    handlers[name](params, following);
  return {
    perform,
    performUnknown: async (name, params, following) => {
      const checked = parseParams(name, params);
      return checked.ok ? perform(name, checked.value, following) : checked;
    },
  };
}

type Handler<Name extends OperationName> = (
  params: ParamsOf<Name>,
  following?: Following,
) => Answer<Name>;
type Handlers = { readonly [Name in OperationName]: Handler<Name> };
type SkillOperation = Extract<OperationName, "skills" | `${string}-skill` | `${string}-share`>;

function deviceHandlers(
  device: Device,
): Omit<
  Handlers,
  | SkillOperation
  | AgentOperation
  | HomebaseOperation
  | SourceOperation
  | McpOperation
  | ModelOperation
> {
  const grants = createGrants(device);
  return {
    status: async () => ok(toWire({ identity: device.identity(), ...device.status() })),
    settle: async ({ boundMs }) => ok({ state: await device.settle(boundMs) }),
    devices: async () => ok(toWire(device.devices())),
    "revoke-device": async ({ deviceId }) => wired(await device.revokeDevice(deviceId)),
    "renew-account": async (options) => wired(await device.renewAccount(options)),
    "recovery-code": async () => wired(device.recoveryCode()),
    "grant-link": async ({ code }) => wired(await grants.begin(code)),
    "await-grant": async ({ grant }) => wired(await grants.completed(grant)),
    "cancel-grant": async ({ grant }) => done(await grants.cancel(grant)),
    contacts: async () => ok(toWire(device.contacts())),
    invite: async (options) => wired(await device.invite(options)),
    "accept-invite": async ({ link }) => wired(await device.acceptInvite(link)),
    "admit-contact": async ({ contact }) => wired(device.admitContact(contact)),
    "block-contact": async ({ contact }) => wired(await device.blockContact(contact)),
    "unblock-contact": async ({ contact }) => wired(device.unblockContact(contact)),
    "safety-number": async ({ contact }) => wired(device.safetyNumber(contact)),
    "contested-keys": async ({ contact, chosen }) => wired(device.contestedKeys(contact, chosen)),
    "mark-verified": async ({ contact }) => wired(device.markVerified(contact)),
    send: async ({ contact, text }) => wired(device.send(contact, text)),
    messages: async ({ contact }) => wired(device.messages(contact)),
    delivery: async ({ messageId }) => ok(toWire(device.delivery(messageId))),
  };
}

function skillHandlers({ skills }: Device): Pick<Handlers, SkillOperation> {
  return {
    skills: async () => ok(toWire(skills.list())),
    "save-skill": async (edit) => wired(skills.save(edit)),
    "rename-skill": async ({ id, handle }) => wired(skills.rename(id, handle)),
    "switch-skill": async ({ id, ...flags }) => done(skills.setFlags(id, flags)),
    "delete-skill": async ({ id, confirmed }) => wired(skills.remove(id, { confirmed })),
    "share-skill": async ({ id, contact }) => wired(skills.share(id, contact)),
    "review-share": async ({ messageId, choices }) => wired(skills.review(messageId, choices)),
    "accept-share": async ({ messageId, acceptHash, choices }) =>
      wired(skills.accept(messageId, acceptHash, choices)),
  };
}

function parseParams<Name extends OperationName>(
  name: Name,
  params: unknown,
): Result<ParamsOf<Name>, DeviceError> {
  const schema: Operations[Name]["params"] = operations[name].params;
  if (Value.Check(schema, params)) return ok(params);
  const [problem] = Value.Errors(schema, params);
  const path = problem?.instancePath ?? "";
  return err({
    type: "malformed-parameters",
    message: `${name}: ${path === "" ? "parameters" : path} ${problem?.message ?? "malformed"}`,
  });
}

function wired<T>(result: Result<T, DeviceError>): Result<Wire<T>, DeviceError> {
  return result.ok ? ok(toWire(result.value)) : result;
}

function done(result: Result<undefined, DeviceError>): Result<object, DeviceError> {
  return result.ok ? ok({}) : result;
}
