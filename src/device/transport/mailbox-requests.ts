/**
 * Requests over the mailbox connection: each carries an id, is answered by a `reply` with the same
 * id, and ends at its deadline whatever the relay does, so that nobody waits for an answer that got
 * lost. Which connection carries them is the caller's matter.
 *
 * Spec: docs/protocol.md "The mailbox connection".
 */
import { toBase64Url } from "../../shared/bytes.ts";
import type { Clock } from "../../shared/clock.ts";
import { assertNever, err, ok } from "../../shared/result.ts";
import { refusal } from "../../shared/wire/errors.ts";
import { timeFromText } from "../../shared/wire/fields.ts";
import type { ReplyFrame, RequestFrame } from "../../shared/wire/frames.ts";
import type { Answer, Answered, MailboxRequest } from "./port.ts";

type Reply = Readonly<Record<string, unknown>>;
type Settled = Awaited<Answered<Reply>>;

/** Requests that wait for their reply. */
export interface MailboxRequests {
  /** Sends a request and waits for its reply, its deadline, or the end of the connection. */
  readonly ask: (request: MailboxRequest, send: (frame: RequestFrame) => void) => Answered<Reply>;
  readonly settle: (frame: ReplyFrame) => void;
  /** Ends everything that waits: the connection that carried it is gone. */
  readonly failAll: (reason: string) => void;
}

const requestMs = 20_000;
/** Requests are rare (keys, lists, invites): more than this waiting means that nothing comes back. */
const maxWaiting = 64;

/** Builds the table of waiting requests. */
export function createMailboxRequests(clock: Clock): MailboxRequests {
  const waiting = new Map<number, (settled: Settled) => void>();
  let nextId = 1;

  return {
    ask: async (request, send) => {
      if (waiting.size >= maxWaiting) {
        return unreachable(`${maxWaiting} requests already wait for the relay`);
      }
      const id = nextId++;
      const answered = new Promise<Settled>((resolve) => {
        const cancel = clock.schedule(requestMs, () =>
          finish(unreachable(`no reply to ${request.type} within ${requestMs / 1_000} s`)),
        );
        const finish = (settled: Settled): void => {
          cancel();
          waiting.delete(id);
          resolve(settled);
        };
        waiting.set(id, finish);
      });
      send(requestFrame(id, request));
      return await answered;
    },
    settle: (frame) => waiting.get(frame.id)?.(outcomeOf(frame)),
    failAll: (reason) => {
      for (const finish of Array.from(waiting.values())) finish(unreachable(reason));
    },
  };
}

function requestFrame(id: number, request: MailboxRequest): RequestFrame {
  switch (request.type) {
    case "publish-prekey":
      return { type: request.type, id, prekey: toBase64Url(request.prekey) };
    case "update-device-list":
      return {
        type: request.type,
        id,
        expected_version: request.expectedVersion,
        expected_hash: toBase64Url(request.expectedHash),
        device_list: toBase64Url(request.deviceList),
      };
    case "invite-key":
      return {
        type: request.type,
        id,
        key: toBase64Url(request.key),
        expires: String(request.expiresMs),
        revoked: request.revoked,
      };
    case "rotate-access-key":
      return { type: request.type, id, key: toBase64Url(request.key) };
    case "mailbox-status":
      return { type: request.type, id };
    default:
      return assertNever(request);
  }
}

function outcomeOf(frame: ReplyFrame): Settled {
  const relayTimeMs = timeFromText(frame.time);
  if (frame.error !== undefined) {
    const { code, message, retry_after_ms: retryAfterMs } = frame.error;
    const extra = retryAfterMs === undefined ? {} : { retryAfterMs };
    return err({ type: "refused", refusal: refusal(code, message, extra), relayTimeMs });
  }
  if (frame.ok === undefined || relayTimeMs === undefined) {
    return err({ type: "protocol", reason: "a reply that neither grants nor refuses" });
  }
  const answer: Answer<Reply> = { reply: frame.ok, relayTimeMs };
  return ok(answer);
}

function unreachable(reason: string): Settled {
  return err({ type: "unreachable", reason });
}
