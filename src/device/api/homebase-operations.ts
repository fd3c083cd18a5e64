/**
 * Operations of the homebase: asking another own device, and what was asked. Part of the table in
 * operations.ts, with their handlers, because there are two.
 *
 * Spec: docs/operating.md "Local API"; docs/agent.md "Asking from another device".
 */
import { Type } from "typebox";

import { err, ok, type Result } from "../../shared/result.ts";
import type { Device, DeviceError } from "../device.ts";
import type { HomebaseOpView } from "../homebase/port.ts";
import type { Following, Progress } from "./agent-operations.ts";
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
};
const homebaseOpView = Type.Object(opFields);

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
        device: Type.String({ maxLength: 256 }),
        question: Type.String({ maxLength: 100_000 }),
        patienceMs: Type.Optional(Type.Integer({ minimum: 1, maximum: 3_600_000 })),
      },
      closed,
    ),
    result: homebaseOpView,
  },
};

/** Name of an operation of the homebase. */
export type HomebaseOperation = keyof typeof homebaseOperations;

type Params = Type.Static<(typeof homebaseOperations)["ask-device"]["params"]>;

/** The handlers over one device. */
export function homebaseHandlers({ homebase }: Device): {
  readonly homebase: () => Promise<Result<Wire<ReturnType<typeof homebase.list>>, DeviceError>>;
  readonly "ask-device": (
    params: Params,
    following?: Following,
  ) => Promise<Result<Wire<HomebaseOpView>, DeviceError>>;
} {
  return {
    homebase: async () => ok(toWire(homebase.list())),
    "ask-device": async ({ device, question, patienceMs }, { signal, onProgress } = {}) => {
      const asked = await homebase.ask(device, question, {
        ...(patienceMs === undefined ? {} : { patienceMs }),
        ...(signal === undefined ? {} : { signal }),
        onStatus: ({ state, ahead }) => onProgress?.(deviceProgress(state, ahead)),
      });
      return asked.ok ? ok(toWire(asked.value)) : err(asked.error);
    },
  };
}

function deviceProgress(state: HomebaseOpView["state"], ahead: number | undefined): Progress {
  return { type: "device-state", state, ahead: ahead ?? 0 };
}

type Same<A, B> = [A] extends [B] ? ([B] extends [A] ? true : false) : false;

/** Holds exactly as long as the schema says what the view says. */
export const homebaseSchemaFits: Same<
  Wire<Type.Static<typeof homebaseOpView>>,
  Wire<HomebaseOpView>
> = true;
