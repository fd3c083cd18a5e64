/**
 * The device as everyone outside sees it: CLI, local API, demo, tests. Types only; `runtime.ts`
 * builds one. Every operation answers with a Result whose error says what was expected and what to
 * do; nothing here throws for a person's mistake.
 */
import type { Clock } from "../shared/clock.ts";
import type { Result } from "../shared/result.ts";
import type { Rng } from "../shared/rng.ts";
import type { DeviceAgent } from "./agent/port.ts";
import type { DeviceHomebase } from "./homebase/port.ts";
import type { DeviceMcp } from "./mcp/port.ts";
import type { Choices } from "./skills/landing.ts";
import type { Review } from "./skills/review.ts";
import type { Skill } from "./skills/skill.ts";
import type { DeviceSources } from "./sources/port.ts";
import type { StoreKeySource } from "./store/key-source.ts";
import type { DeviceModels, ModelOptions } from "./weights/port.ts";
import type { RelayTransport } from "./transport/port.ts";

/** Delays that hide when a person acts; all 0 in tests. Units: ms. */
export interface Delays {
  readonly echoMs: readonly [min: number, max: number];
  readonly receiptMs: readonly [min: number, max: number];
  /** Asking others to send again after a restore: 1 to 12 h where it is not said. */
  readonly resendMs?: readonly [min: number, max: number];
}

export type { AskOptions, DeviceAgent } from "./agent/port.ts";
export type { StoreKeySource } from "./store/key-source.ts";

export interface DeviceOptions {
  /** Folder of the store (0700). Exactly one of `dataDir` and `inMemory`. */
  readonly dataDir?: string;
  readonly inMemory?: boolean;
  readonly storeKey?: StoreKeySource;
  readonly clock?: Clock;
  readonly rng?: Rng;
  readonly transport?: RelayTransport;
  readonly delays?: Delays;
  /** IANA name of the zone that the device's owner is in; the host's own by default. */
  readonly zone?: string;
  /** Model files; without it this device has none and the basic brain answers. */
  readonly models?: ModelOptions;
  /** Receives plain lines about what went wrong in the background. Never secrets or texts. */
  readonly onNotice?: (notice: string) => void;
}

/** What went wrong, for a person and for a program. `type` is stable; `message` may change. */
export interface DeviceError {
  readonly type: string;
  readonly message: string;
}

export interface Identity {
  readonly aik: string;
  readonly accountName: string;
  readonly deviceId: string;
  readonly deviceName: string;
  readonly admin: boolean;
  readonly relayOrigin: string;
  readonly listVersion: number;
}

export interface DeviceView {
  readonly deviceId: string;
  /** As the device calls itself; `undefined` until it has told its siblings. */
  readonly name: string | undefined;
  readonly state: "active" | "admin" | "revoked";
  readonly thisDevice: boolean;
  readonly addedMs: number;
  readonly hasPrekey: boolean;
}

export interface ContactView {
  readonly aik: string;
  readonly name: string;
  readonly relation: "invited" | "contact" | "request" | "blocked";
  /** When their identity key was renewed, if nobody compared the safety number since. */
  readonly renewedMs: number | undefined;
  /** Whether a message can be sealed to them now, and if not, why. */
  readonly reachable: boolean;
  readonly reason: string | undefined;
  readonly relayOrigin: string | undefined;
  readonly devices: number;
}

/** Delivery of one message that we sent. */
export interface DeliveryView {
  readonly state: "queued" | "accepted" | "confirmed" | "expired" | "failed";
  readonly copies: readonly { readonly deviceId: string; readonly state: string }[];
  readonly reason: string | undefined;
}

export interface MessageView {
  readonly messageId: string;
  readonly conversation: string;
  readonly fromMe: boolean;
  readonly senderAik: string;
  readonly sentMs: number;
  readonly clockOff: boolean;
  readonly kind: "text" | "skill-share" | "opaque";
  /** The text, or the JSON of a sentinel. Empty for `opaque`. */
  readonly text: string;
  readonly card: SkillCard | undefined;
  readonly delivery: DeliveryView | undefined;
}

export interface SkillCard {
  readonly skillId: string;
  readonly name: string;
  readonly shortDescription: string;
  /** "+ 2 linked skills", or empty. */
  readonly linked: string;
  /** "You shared a skill" on the sender's side. */
  readonly inert: boolean;
}

export interface SentMessage {
  readonly messageId: string;
}

/** A link in progress on the new device: show `code`, then type the digits that the admin shows. */
export interface LinkOffer {
  readonly code: string;
  /** Waits for the admin device to admit the code; resolves when digits are wanted. */
  readonly admitted: Promise<Result<undefined, DeviceError>>;
  readonly enterDigits: (digits: string) => Promise<Result<Identity, DeviceError>>;
  readonly cancel: () => Promise<void>;
}

/** A link in progress on the admin device: show `digits`; `completed` settles when the other typed them. */
export interface LinkGrant {
  readonly digits: string;
  readonly newDeviceName: string;
  readonly completed: Promise<Result<DeviceView, DeviceError>>;
  readonly cancel: () => Promise<void>;
}

/** Something that changed; ids only, never contents. */
export type DeviceEvent =
  | { readonly type: "connection"; readonly state: string; readonly reason: string | undefined }
  | { readonly type: "drained" }
  | { readonly type: "message"; readonly conversation: string; readonly messageId: string }
  | { readonly type: "delivery"; readonly messageId: string; readonly recipientAik: string }
  | { readonly type: "contact"; readonly aik: string }
  | { readonly type: "devices" }
  | { readonly type: "skills" }
  | { readonly type: "approval"; readonly approvalId: string }
  /** An operation between own devices came, or went further. */
  | { readonly type: "homebase" }
  | { readonly type: "set-aside"; readonly reason: string };

export interface Device extends AsyncDisposable {
  /** `undefined` until registered or linked. */
  readonly identity: () => Identity | undefined;
  /** Creates an account with this device as its admin. Returns the recovery code, to be shown once. */
  readonly register: (options: {
    readonly relayUrl: string;
    readonly accountName: string;
    readonly deviceName: string;
    readonly registrationCode?: string;
  }) => Promise<
    Result<{ readonly identity: Identity; readonly recoveryCode: string }, DeviceError>
  >;
  /**
   * Joins the account of a recovery code with this device, as an admin. `revokeOthers`: every other
   * device is removed; an admin among them keeps the account's key.
   */
  readonly recover: (options: {
    readonly recoveryCode: string;
    readonly accountName: string;
    readonly deviceName: string;
    readonly revokeOthers?: boolean;
  }) => Promise<Result<Identity, DeviceError>>;
  readonly offerLink: (options: {
    readonly relayUrl: string;
    readonly deviceName: string;
  }) => Promise<Result<LinkOffer, DeviceError>>;
  readonly grantLink: (code: string) => Promise<Result<LinkGrant, DeviceError>>;

  /** Connects the mailbox and starts the pump. Idempotent. */
  readonly start: () => Result<undefined, DeviceError>;
  /** Resolves once the mailbox is drained and nothing is due in the outbox, or at the bound. */
  readonly settle: (boundMs: number) => Promise<"settled" | "bound">;
  readonly status: () => {
    readonly connection: string;
    readonly outboxOpen: number;
    readonly setAside: number;
    readonly relayOffsetMs: number;
  };
  readonly devices: () => readonly DeviceView[];
  /** Removes a device that is no admin; only an admin device can. What it had not sent is lost. */
  readonly revokeDevice: (deviceId: string) => Promise<Result<DeviceView, DeviceError>>;
  /** Puts the account under a new identity key, without the devices `remove` (names or ids). */
  readonly renewAccount: (options: {
    readonly remove: readonly string[];
  }) => Promise<
    Result<{ readonly identity: Identity; readonly recoveryCode: string }, DeviceError>
  >;
  /** The account's recovery code, on a device that holds the account's key. */
  readonly recoveryCode: () => Result<{ readonly recoveryCode: string }, DeviceError>;
  readonly contacts: () => readonly ContactView[];
  readonly invite: (options?: {
    readonly multipleUse?: boolean;
    readonly lifetimeMs?: number;
  }) => Promise<Result<{ readonly link: string; readonly expiresMs: number }, DeviceError>>;
  readonly acceptInvite: (link: string) => Promise<Result<ContactView, DeviceError>>;

  /** Makes a message request a contact. */
  readonly admitContact: (contact: string) => Result<ContactView, DeviceError>;
  /** Hears nothing more of somebody, and replaces the key to our mailboxes. */
  readonly blockContact: (contact: string) => Promise<Result<ContactView, DeviceError>>;
  readonly unblockContact: (contact: string) => Result<ContactView, DeviceError>;
  /** The digits that both compare in person, in groups of five. */
  readonly safetyNumber: (
    contact: string,
  ) => Result<
    { readonly name: string; readonly digits: string; readonly verifiedMs: number | undefined },
    DeviceError
  >;
  /** Keys that claim a contact's place, the present one first, with safety numbers; `chosen` settles it. */
  readonly contestedKeys: (
    contact: string,
    chosen?: string,
  ) => Result<readonly { readonly aik: string; readonly digits: string }[], DeviceError>;
  /** Remembers that the digits were the same. */
  readonly markVerified: (contact: string) => Result<ContactView, DeviceError>;

  readonly send: (contact: string, text: string) => Result<SentMessage, DeviceError>;
  /** Messages of one conversation (contact name or identity key), or of all, oldest first. */
  readonly messages: (contact?: string) => Result<readonly MessageView[], DeviceError>;
  readonly delivery: (messageId: string) => DeliveryView | undefined;
  readonly skills: DeviceSkills;
  readonly agent: DeviceAgent;
  /** Programs whose tools the agent may be offered. */
  readonly mcp: DeviceMcp;
  /** Asking one's other devices, and being asked by them. */
  readonly homebase: DeviceHomebase;
  /** Notebook, memory log, grants and files. */
  readonly sources: DeviceSources;
  readonly models: DeviceModels;
  readonly onEvent: (listener: (event: DeviceEvent) => void) => () => void;
  readonly close: () => Promise<void>;
}

/** What an editor hands over: `id` names the edited skill and is absent for a new one. */
export interface SkillEdit {
  readonly id?: string;
  readonly handle: string;
  /** Absent: derived from the handle, or kept. */
  readonly name?: string;
  readonly shortDescription: string;
  readonly detailedBody: string;
}

/** A save that went through, and what its owner should know about it. */
export interface SkillSaved {
  readonly id: string;
  readonly notes: readonly string[];
}

/** What an import did. */
export interface Accepted {
  readonly lines: readonly string[];
  readonly imported: readonly string[];
}

/** Skills of this device, and sharing them. Shapes of reviews and choices are those of `skills/`. */
export interface DeviceSkills {
  readonly list: () => readonly Skill[];
  readonly save: (edit: SkillEdit) => Result<SkillSaved, DeviceError>;
  /** Changes only the handle; every mention follows. */
  readonly rename: (id: string, handle: string) => Result<SkillSaved, DeviceError>;
  readonly setFlags: (
    id: string,
    flags: { readonly enabled?: boolean; readonly advertised?: boolean },
  ) => Result<undefined, DeviceError>;
  /** Deletes for good. Unconfirmed, it answers `needs-confirmation` with what would dangle. */
  readonly remove: (
    id: string,
    options: { readonly confirmed: boolean },
  ) => Result<{ readonly notes: readonly string[] }, DeviceError>;
  /** What the planner may choose from: handles with their one-liners, skills first. Empty: no planning. */
  readonly menu: () => readonly { readonly handle: string; readonly line: string }[];
  /** Names of the tools that following this skill binds, in first-appearance order. */
  readonly toolsFor: (id: string) => readonly string[];
  /** Sends the skill with all that it mentions. `contact`: a name or an identity key. */
  readonly share: (id: string, contact: string) => Result<SentMessage, DeviceError>;
  /** Shows what an import would do. Stores nothing. */
  readonly review: (messageId: string, choices?: Choices) => Result<Review, DeviceError>;
  /**
   * Imports what was reviewed with the same choices: what happened in plain lines, and the handles of
   * what is new. `review-outdated` when anything changed since.
   */
  readonly accept: (
    messageId: string,
    acceptHash: string,
    choices?: Choices,
  ) => Result<Accepted, DeviceError>;
}
