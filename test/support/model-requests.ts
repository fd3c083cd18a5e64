/** Requests to a brain, with everything that a test does not care about filled in. */
import type { DirectRequest, PlanRequest, StepRequest } from "../../src/device/model/port.ts";

/** A plan over an empty menu, or what is given. */
export function planRequest(given: Partial<PlanRequest> = {}): PlanRequest {
  return { system: "s", question: "q", menu: [], history: [], ...given };
}

/** A step without tools, or what is given. */
export function stepRequest(given: Partial<StepRequest> = {}): StepRequest {
  const nothing = { tools: [], calls: [], menu: [], history: [] };
  return { planned: false, system: "s", question: "q", ...nothing, ...given };
}

/** A question that no skill serves. */
export function directRequest(given: Partial<DirectRequest> = {}): DirectRequest {
  return { system: "s", question: "q", reason: "", task: "answer", history: [], ...given };
}
