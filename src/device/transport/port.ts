/**
 * How a device reaches relays. Two kinds of traffic that never share a connection: anonymous HTTP
 * (uploads, bundles, registration, rendezvous) and the authenticated mailbox connection. The
 * transport moves bytes; what they mean, and every key, stays outside.
 *
 * Spec: docs/protocol.md "Relay interface", "Metadata rules for the client".
 */
import type { Result } from "../../shared/result.ts";
import type { Refusal } from "../../shared/wire/errors.ts";
import type { Delivery } from "../../shared/wire/frames.ts";
import type {
  BundleReply,
  BundleRequest,
  EnvelopeReply,
  InfoReply,
  RecoverBeginReply,
  RecoverBeginRequest,
  RecoverRequest,
  RegisterReply,
  RegisterRequest,
  RenewRequest,
} from "../../shared/wire/http.ts";

/** Why a request got no answer to act on. */
export type TransportError =
  | {
      readonly type: "refused";
      readonly refusal: Refusal;
      readonly relayTimeMs: number | undefined;
    }
  /** Nothing arrived: retry later with the identical bytes. */
  | { readonly type: "unreachable"; readonly reason: string }
  /** Something answered that is no pixie relay, or a newer one. */
  | { readonly type: "protocol"; readonly reason: string };

/** An answer, and the relay's clock when it gave it. Units: ms. */
export interface Answer<T> {
  readonly reply: T;
  readonly relayTimeMs: number;
}

export type Answered<T> = Promise<Result<Answer<T>, TransportError>>;

/** What the mailbox connection needs to prove that it is this device. */
export interface MailboxIdentity {
  readonly relayOrigin: string;
  readonly deviceId: Uint8Array;
  /** Signs a challenge (shared/crypto/relay-auth). */
  readonly answerChallenge: (nonce: Uint8Array, timeMs: bigint) => Uint8Array;
}

/** State of the mailbox connection as a person may see it. */
export type MailboxState =
  | { readonly type: "connecting" }
  | {
      readonly type: "ready";
      readonly epoch: string;
      readonly queued: number;
      readonly refused: { readonly count: number; readonly sinceMs: number | undefined };
      readonly relayTimeMs: number;
    }
  | { readonly type: "offline"; readonly reason: string; readonly retryMs: number }
  /** Another connection of this very device took over: a clone runs somewhere. Not retried. */
  | { readonly type: "displaced" }
  /** The relay refuses this device (unknown or revoked). Not retried. */
  | { readonly type: "rejected"; readonly reason: string };

/** Callbacks of the mailbox connection; they must not throw. */
export interface MailboxEvents {
  readonly onState: (state: MailboxState) => void;
  readonly onDelivery: (delivery: Delivery) => void;
  /** Everything queued when the connection became ready has been delivered and acknowledged. */
  readonly onDrained: (through: bigint) => void;
}

/** Requests over the mailbox connection. */
export type MailboxRequest =
  | { readonly type: "publish-prekey"; readonly prekey: Uint8Array }
  | {
      readonly type: "update-device-list";
      readonly expectedVersion: number;
      readonly expectedHash: Uint8Array;
      readonly deviceList: Uint8Array;
    }
  | {
      readonly type: "invite-key";
      readonly key: Uint8Array;
      readonly expiresMs: number;
      readonly revoked: boolean;
    }
  | { readonly type: "rotate-access-key"; readonly key: Uint8Array }
  | { readonly type: "mailbox-status" };

/** The managed mailbox connection: reconnects by itself (cap first, then full jitter) until closed. */
export interface MailboxConnection extends AsyncDisposable {
  readonly state: () => MailboxState;
  /**
   * Acknowledges deliveries that were journalled. What the connection that is open now has not
   * delivered is dropped: the relay redelivers it, and the inbox acknowledges it again.
   */
  readonly acknowledge: (seqs: readonly bigint[]) => void;
  readonly request: (request: MailboxRequest) => Answered<Readonly<Record<string, unknown>>>;
  readonly close: () => Promise<void>;
}

/** Everything a device asks of relays. Origins are WHATWG origins; a contact's relay may be another. */
export interface RelayTransport extends AsyncDisposable {
  readonly upload: (relayOrigin: string, upload: Uint8Array) => Answered<EnvelopeReply>;
  readonly fetchBundle: (relayOrigin: string, request: BundleRequest) => Answered<BundleReply>;
  readonly register: (relayOrigin: string, request: RegisterRequest) => Answered<RegisterReply>;
  /** The account of an identity key, and its chain. */
  readonly recoverBegin: (
    relayOrigin: string,
    request: RecoverBeginRequest,
  ) => Answered<RecoverBeginReply>;
  readonly recover: (relayOrigin: string, request: RecoverRequest) => Answered<RegisterReply>;
  /** Hands an account to a new identity key. The very same renewal again is no refusal. */
  readonly renew: (relayOrigin: string, request: RenewRequest) => Answered<RegisterReply>;
  readonly info: (relayOrigin: string) => Answered<InfoReply>;
  /** Writes a rendezvous box (1–4), once. */
  readonly putBox: (
    relayOrigin: string,
    id: string,
    box: number,
    content: Uint8Array,
  ) => Answered<undefined>;
  /** Reads a rendezvous box; `undefined` while it is empty. Its relay time may be a second off. */
  readonly getBox: (
    relayOrigin: string,
    id: string,
    box: number,
  ) => Answered<Uint8Array | undefined>;
  readonly openMailbox: (identity: MailboxIdentity, events: MailboxEvents) => MailboxConnection;
}
