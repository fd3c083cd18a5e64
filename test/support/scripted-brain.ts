/**
 * A brain whose words are written down beforehand, for tests of what an agent makes of them. It
 * remembers what it was asked. Not a brain of the product.
 */
import type {
  DirectRequest,
  Model,
  PlanReply,
  PlanRequest,
  StepReply,
  StepRequest,
} from "../../src/device/model/port.ts";

/** What the brain says. Steps are taken in order; the last one is repeated for ever. */
export interface Script {
  readonly plan?: PlanReply;
  readonly steps?: readonly StepReply[];
}

/** A scripted brain, and what it heard. */
export interface ScriptedBrain {
  readonly model: Model;
  readonly plans: PlanRequest[];
  readonly steps: StepRequest[];
  readonly direct: DirectRequest[];
}

/** Builds one. */
export function scriptedBrain({ plan, steps = [] }: Script): ScriptedBrain {
  const heard: Omit<ScriptedBrain, "model"> = { plans: [], steps: [], direct: [] };
  return {
    ...heard,
    model: {
      name: "scripted",
      plan: async (request) => {
        heard.plans.push(request);
        return plan ?? { type: "plan", sentence: "I can answer that directly." };
      },
      step: async (request) => {
        const at =
          Math.min(heard.steps.push({ ...request, calls: [...request.calls] }), steps.length) - 1;
        return steps[at] ?? { type: "answer", text: "done" };
      },
      answer: async (request) => {
        heard.direct.push(request);
        return { type: "answer", text: "directly" };
      },
      [Symbol.asyncDispose]: () => Promise.resolve(),
    },
  };
}
