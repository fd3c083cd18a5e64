/**
 * What `ask` and `chat` take beside the question: a mode, and a slash that may name a skill.
 *
 * Spec: docs/agent.md "From the command line".
 */
import type { Mode } from "../agent/events.ts";
import { err, ok, type Result } from "../../shared/result.ts";
import type { Session } from "../api/session.ts";
import type { DeviceError } from "../device.ts";

/** The flag of a mode. */
export const modeFlag = [
  "--mode <mode>",
  "agent: acts (the default); plan: proposes a plan; goal: restates the goal with criteria",
] as const;

const modes: readonly Mode[] = ["agent", "plan", "goal"];

/** Reads the flag. */
export function parseMode(text: string | undefined): Result<Mode, DeviceError> {
  const mode = text === undefined ? "agent" : modes.find((one) => one === text);
  return mode === undefined
    ? err({ type: "usage", message: `--mode: expected agent, plan or goal, got ${text}` })
    : ok(mode);
}

/** What to tell somebody who typed a slash: the skill is looked up now, and again when it is sent. */
export async function slashRemark(session: Session, typed: string): Promise<string | undefined> {
  const [, slug] = /^\/(\S+)/.exec(typed.trim()) ?? [];
  if (slug === undefined) return undefined;
  const skills = await session.call("skills", {});
  if (!skills.ok) return undefined;
  const meant = skills.value.find(({ id }) => id === slug.toLowerCase());
  if (meant === undefined) return `/${slug} names no skill: it is taken as text`;
  return meant.enabled ? undefined : `@${meant.id} is disabled: /${slug} is taken as text`;
}
