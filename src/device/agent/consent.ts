/**
 * Asking the owner before a call: when it is due, what is told about it, and what the answer means. A
 * denied call is a result that the brain reads, not an end of the turn.
 *
 * How the owner is reached is the approver's. Spec: docs/agent.md "Consent".
 */
import type { Callable } from "./callable.ts";
import type { Approver, Turn } from "./turn-parts.ts";

/** Where nobody can be asked. */
export const nobodyAnswers: Approver = () =>
  Promise.resolve({ allowed: false, reason: "nobody can be asked here" });

/** Asks where that is due. Returns why the call is refused, or nothing when it may run. */
export async function askOwner(
  { parts, request, signal, emit, pause }: Turn,
  call: {
    readonly step: number;
    readonly callable: Callable;
    readonly args: Readonly<Record<string, string>>;
  },
  tainted: boolean,
): Promise<string | undefined> {
  const { step, callable, args } = call;
  const tool = callable.declaration.toolName;
  const consent = callable.consent();
  if (consent === "denied") return `${tool} is on the owner's deny list`;
  if (consent === "free" || (consent === "after-untrusted" && !tainted)) return undefined;
  const why = tainted ? "words of others were read before it" : "it is not on the allow list";
  const resume = pause();
  const answer = parts.approver({ runId: request.runId, tool, args, why }, signal);
  // Told once the question stands, so that whoever hears of it finds it.
  emit({ type: "approval", step, state: "asked", reason: why });
  const verdict = await answer;
  resume();
  const reason = verdict.allowed ? "the owner allowed it" : verdict.reason;
  emit({ type: "approval", step, state: verdict.allowed ? "allowed" : "denied", reason });
  return verdict.allowed ? undefined : `not allowed: ${reason}`;
}
