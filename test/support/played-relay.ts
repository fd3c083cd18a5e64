/**
 * A relay that a test plays by hand, as the transport of one device: every upload is recorded and
 * answered as the test says, bundles are served of the people it names, and whatever else is asked
 * of it throws.
 */
import type {
  Answer,
  MailboxConnection,
  RelayTransport,
  TransportError,
} from "../../src/device/transport/port.ts";
import { toBase64Url } from "../../src/shared/bytes.ts";
import { idText } from "../../src/shared/ids.ts";
import { err, ok, type Result } from "../../src/shared/result.ts";
import { parseUpload, type Upload } from "../../src/shared/wire/envelope.ts";
import type { BundleReply, EnvelopeReply } from "../../src/shared/wire/http.ts";
import type { ManualClock } from "./manual-clock.ts";
import { testNowMs, type TestPerson, valueOf } from "./people.ts";

/** What a played relay answers to one upload. */
export type UploadAnswer = Result<Answer<EnvelopeReply>, TransportError>;

/** The relay's side of a device, and what it has seen. */
export interface PlayedRelay {
  readonly transport: RelayTransport;
  /** Uploads as they were posted, oldest first. */
  readonly uploads: { readonly bytes: Uint8Array; readonly upload: Upload }[];
  readonly acknowledged: bigint[];
  /** Accounts whose bundle the relay would serve, and how often each was asked for. */
  readonly served: Map<string, TestPerson>;
  readonly bundleRequests: string[];
}

/** The answer that stores everything. */
export const storesAll = (upload: Upload): UploadAnswer => answerWith(upload, () => "stored");

/** An answer with a state of its own per device mailbox. */
export function answerWith(
  upload: Upload,
  stateOf: (mailbox: string) => EnvelopeReply["results"][number]["state"],
  unaddressed: readonly string[] = [],
): UploadAnswer {
  const results = upload.entries.map(({ mailbox }) => ({
    mailbox: idText(mailbox),
    state: stateOf(idText(mailbox)),
  }));
  const reply = { time: String(testNowMs), results, unaddressed: [...unaddressed] };
  return ok({ reply, relayTimeMs: testNowMs });
}

/** A refusal. */
export function refuses(
  code: Extract<TransportError, { type: "refused" }>["refusal"]["code"],
  retryAfterMs?: number,
): UploadAnswer {
  const refusal = { code, message: code, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) };
  return err({ type: "refused", refusal, relayTimeMs: undefined });
}

const unreachable = err({ type: "unreachable", reason: "connection refused" } as const);

/** No answer at all. */
export const silent: UploadAnswer = unreachable;

/** Builds one that has seen nothing yet. `answer` is asked for each upload. */
export function playRelay(
  clock: ManualClock,
  answer: (upload: Upload) => UploadAnswer,
): PlayedRelay {
  const uploads: PlayedRelay["uploads"] = [];
  const acknowledged: bigint[] = [];
  const bundleRequests: string[] = [];
  const served = new Map<string, TestPerson>();
  const transport: RelayTransport = {
    ...noTransport,
    upload: async (_origin, bytes) => {
      const upload = valueOf(parseUpload(bytes));
      uploads.push({ bytes: bytes.slice(), upload });
      return await Promise.resolve(answer(upload));
    },
    fetchBundle: async (_origin, request) => {
      bundleRequests.push(request.account_mailbox);
      const person = served.get(request.account_mailbox);
      if (person === undefined) return unreachable;
      return ok({ reply: bundleOf(person), relayTimeMs: clock.nowMs() });
    },
    openMailbox: () => ({
      ...noMailbox,
      acknowledge: (seqs) => void acknowledged.push(...seqs),
    }),
  };
  return { transport, uploads, acknowledged, served, bundleRequests };
}

function bundleOf(person: TestPerson): BundleReply {
  return {
    time: String(testNowMs),
    device_lists: [toBase64Url(person.list.record)],
    prekeys: person.devices.map((device) => toBase64Url(device.prekey.record)),
  };
}

const unused = (): never => {
  throw new Error("this test plays no such relay");
};
const noMailbox: MailboxConnection = {
  state: () => ({ type: "connecting" }),
  acknowledge: unused,
  request: unused,
  close: () => Promise.resolve(),
  [Symbol.asyncDispose]: () => Promise.resolve(),
};
const noTransport: RelayTransport = {
  upload: unused,
  fetchBundle: unused,
  register: unused,
  recoverBegin: unused,
  recover: unused,
  renew: unused,
  info: unused,
  putBox: unused,
  getBox: unused,
  openMailbox: unused,
  [Symbol.asyncDispose]: () => Promise.resolve(),
};
