/**
 * Operations of the homebase: asking another own device, answering what it asks, and what was asked.
 * Part of the table in operations.ts, with their handlers, because they are few.
 *
 * Spec: docs/operating.md "Local API"; docs/agent.md "Asking from another device".
 */
import { Type } from "typebox";

import { err, ok, type Result } from "../../shared/result.ts";
import type { Device, DeviceError } from "../device.ts";
import type { HomebaseOpView } from "../homebase/port.ts";
import {
  approvalAnswer,
  askedApprovalView,
  type Following,
  type Progress,
} from "./agent-operations.ts";
import { orNull, toWire, type Wire } from "./views.ts";

const text = Type.String();
const closed = { additionalProperties: false } as const;
const opFields = {
  opId: text,
  direction: Type.Union([Type.Literal("in"), Type.Literal("out")]),
  device: text,
  deviceName: orNull(text),
  op: text,
  about: text,
  state: Type.Union([
    Type.Literal("waiting"),
    Type.Literal("accepted"),
    Type.Literal("running"),
    Type.Literal("done"),
    Type.Literal("failed"),
    Type.Literal("refused"),
    Type.Literal("expired"),
    Type.Literal("interrupted"),
    Type.Literal("cancelled"),
    Type.Literal("dead"),
  ]),
  sentMs: Type.Number(),
  attempts: Type.Integer(),
  text: orNull(text),
  reason: orNull(text),
  untrusted: Type.Boolean(),
  ahead: orNull(Type.Integer()),
  approvals: Type.Array(askedApprovalView),
  untoldApprovals: Type.Integer(),
};
const homebaseOpView = Type.Object(opFields);
const device = Type.String({ maxLength: 256 });

/** The homebase's part of the table. */
export const homebaseOperations = {
  homebase: {
    params: Type.Object({}, closed),
    result: Type.Object({
      operations: Type.Array(homebaseOpView),
      foreignTexts: Type.Integer(),
    }),
  },
  "ask-device": {
    params: Type.Object(
      {
        device,
        question: Type.String({ maxLength: 100_000 }),
        patienceMs: Type.Optional(Type.Integer({ minimum: 1, maximum: 3_600_000 })),
      },
      closed,
    ),
    result: homebaseOpView,
  },
  "device-approvals": { params: Type.Object({ device }, closed), result: homebaseOpView },
  "answer-device": {
    params: Type.Object({ device, ...approvalAnswer }, closed),
    result: homebaseOpView,
  },
};

/** Name of an operation of the homebase. */
export type HomebaseOperation = keyof typeof homebaseOperations;

type ParamsOf<Name extends HomebaseOperation> = Type.Static<
  (typeof homebaseOperations)[Name]["params"]
>;
type Answered = Promise<Result<Wire<HomebaseOpView>, DeviceError>>;

/** The handlers over one device. */
export function homebaseHandlers({ homebase }: Device): {
  readonly homebase: () => Promise<Result<Wire<ReturnType<typeof homebase.list>>, DeviceError>>;
  readonly "ask-device": (params: ParamsOf<"ask-device">, following?: Following) => Answered;
  readonly "device-approvals": (params: ParamsOf<"device-approvals">) => Answered;
  readonly "answer-device": (params: ParamsOf<"answer-device">) => Answered;
} {
  return {
    homebase: async () => ok(toWire(homebase.list())),
    "ask-device": async ({ device: name, question, patienceMs }, { signal, onProgress } = {}) => {
      const asked = await homebase.ask(name, question, {
        ...(patienceMs === undefined ? {} : { patienceMs }),
        ...(signal === undefined ? {} : { signal }),
        onStatus: (view) => onProgress?.(deviceProgress(view)),
      });
      return wired(asked);
    },
    "device-approvals": async ({ device: name }) => wired(await homebase.approvals(name)),
    "answer-device": async ({ device: name, ...answer }) =>
      wired(await homebase.answerApproval(name, answer)),
  };
}

function wired(
  answer: Result<HomebaseOpView, DeviceError>,
): Result<Wire<HomebaseOpView>, DeviceError> {
  return answer.ok ? ok(toWire(answer.value)) : err(answer.error);
}

function deviceProgress(view: HomebaseOpView): Progress {
  const { state, ahead = 0, approvals, untoldApprovals } = view;
  return { type: "device-state", state, ahead, approvals, untoldApprovals };
}

type Same<A, B> = [A] extends [B] ? ([B] extends [A] ? true : false) : false;

/** Holds exactly as long as the schema says what the view says. */
export const homebaseSchemaFits: Same<
  Wire<Type.Static<typeof homebaseOpView>>,
  Wire<HomebaseOpView>
> = true;
