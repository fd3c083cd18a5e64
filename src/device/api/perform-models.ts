/**
 * What the operations on models do to a device. Part of perform.ts.
 *
 * Spec: docs/operating.md "Local API".
 */
import { ok, type Result } from "../../shared/result.ts";
import type { Device, DeviceError } from "../device.ts";
import type { ModelActOptions, ModelError } from "../weights/port.ts";
import type { ModelOperation } from "./model-operations.ts";
import type { ParamsOf, ResultOf } from "./operations.ts";
import type { Following } from "./agent-operations.ts";
import { toWire, type Wire } from "./views.ts";

type ModelHandlers = {
  readonly [Name in ModelOperation]: (
    params: ParamsOf<Name>,
    following?: Following,
  ) => Promise<Result<ResultOf<Name>, DeviceError>>;
};

/** The operations on a device's models. */
export function modelHandlers({ models }: Device): ModelHandlers {
  return {
    models: async () => ok(toWire(await models.list())),
    "pull-model": async ({ name }, following) => wired(await models.pull(name, acting(following))),
    "import-model": async ({ file }, following) =>
      wired(await models.import(file, acting(following))),
    "use-model": async ({ name }, following) => wired(await models.use(name, acting(following))),
    "bench-model": async ({ name }, following) =>
      wired(await models.bench(name, acting(following))),
    "check-models": async () => ok(toWire(await models.check())),
  };
}

function acting({ signal, onProgress }: Following = {}): ModelActOptions {
  return {
    ...(signal === undefined ? {} : { signal }),
    ...(onProgress === undefined ? {} : { onProgress }),
  };
}

function wired<T>(result: Result<T, ModelError>): Result<Wire<T>, DeviceError> {
  return result.ok ? ok(toWire(result.value)) : result;
}
