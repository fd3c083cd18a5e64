/**
 * The resident harness: no plan before, one loop whose first request already carries the core tools.
 * `Skill` answers with a procedure and binds what it reaches, once per skill and turn; `ToolSearch`
 * makes on-demand tools callable, and they stay so for the rest of the chat.
 *
 * What is active is rebuilt from earlier turns' events, never from their words.
 * Spec: docs/agent.md "The resident harness".
 */
import { expand } from "../skills/expand.ts";
import { type Menu, menuOf } from "../skills/registry.ts";
import type { Skill } from "../skills/skill.ts";
import type { ToolResult } from "../tools/tool.ts";
import { type Callable, ownCallables } from "./callable.ts";
import { coreToolNames, skillDeclaration, toolSearchDeclaration } from "./core-tools.ts";
import { answerDirectly } from "./direct.ts";
import { procedureText } from "./prompt.ts";
import { residentPrompt } from "./resident-prompt.ts";
import { runSteps } from "./steps.ts";
import { missText, searchTools } from "./tool-search.ts";
import type { Ending, Turn } from "./turn-parts.ts";

/** On-demand tools that are callable at a time; the one found longest ago gives way. */
const maxActive = 32;

/** Runs a turn. `invoked`: the skill that the owner named, which need not be on the menu. */
export async function runResident(turn: Turn, invoked: Skill | undefined): Promise<Ending> {
  const { request, question, emit } = turn;
  const menu = menuOf(request.registry);
  const loadable = loadableSkills(menu, invoked);
  const core = coreToolNames({ skills: loadable.length, onDemand: request.onDemand.length });
  if (core.length === 1) return answerDirectly(turn, "There is nothing to load or to search for.");
  const binding = createBinding(turn, menu, core);
  const count = loadable.length;
  const reason = count === 1 ? "1 skill can be loaded." : `${count} skills can be loaded.`;
  emit({ type: "path-chosen", path: "resident", reason });
  binding.tell();
  if (request.rehearse) return { reason: "rehearsed", detail: "Nothing was called." };
  const coreCallables = [
    skillCallable(turn, binding, loadable),
    searchCallable(turn, binding),
  ].filter(({ declaration }) => core.some((name) => name === declaration.toolName));
  const order = invoked === undefined ? "" : `Call Skill with the id ${invoked.id} first.\n\n`;
  const declared = request.onDemand.map(({ declaration }) => declaration);
  return await runSteps(
    { ...turn, question: `${order}${question}` },
    {
      planned: false,
      system: residentPrompt(request.alignment, menu, declared),
      offered: () => [...coreCallables, ...binding.own.values(), ...binding.active.values()],
      menu: loadable.map((skill) => ({ handle: skill.id, line: skill.shortDescription })),
      ...(invoked === undefined ? {} : { invoked: invoked.id }),
      unavailable: () => [...binding.unavailable],
    },
  );
}

/** The menu, and beside it what the owner named. */
function loadableSkills({ skills }: Menu, invoked: Skill | undefined): readonly Skill[] {
  return invoked === undefined || skills.some(({ id }) => id === invoked.id)
    ? skills
    : [...skills, invoked];
}

/** What is bound so far. It only grows, but for the bound on active tools. */
interface Binding {
  readonly own: Map<string, Callable>;
  /** On-demand tools, the one found longest ago first. */
  readonly active: Map<string, Callable>;
  readonly loaded: Set<string>;
  readonly unavailable: Set<string>;
  readonly tell: () => void;
}

function createBinding(turn: Turn, menu: Menu, core: readonly string[]): Binding {
  const { parts, request, emit } = turn;
  const binding: Omit<Binding, "tell"> = {
    own: new Map(),
    active: new Map(),
    loaded: new Set(),
    unavailable: new Set(),
  };
  addAll(binding.own, ownCallables(menu.tools, parts.tools));
  const found = request.history.kept.flatMap(({ activated }) => activated);
  activate(
    binding.active,
    found.flatMap((name) => request.onDemand.filter((tool) => nameOf(tool) === name)),
  );
  const tell = (): void =>
    emit({
      type: "bound",
      core,
      tools: [...binding.own.keys(), ...binding.active.keys()],
      skills: [...binding.loaded],
      unavailable: [...binding.unavailable],
    });
  return { ...binding, tell };
}

function skillCallable(turn: Turn, binding: Binding, loadable: readonly Skill[]): Callable {
  const { parts, request } = turn;
  const load = (id: string): ToolResult => {
    if (binding.loaded.has(id)) {
      return { ok: false, reason: `${id} is loaded already, in this very turn` };
    }
    const expansion = expand(request.registry, [id], request.withhold);
    for (const skill of expansion.skills) binding.loaded.add(skill.id);
    for (const slug of [...expansion.disabled, ...expansion.unknown]) binding.unavailable.add(slug);
    addAll(binding.own, ownCallables(expansion.tools, parts.tools));
    binding.tell();
    return textResult(procedureText(expansion));
  };
  return {
    declaration: skillDeclaration(loadable.map(({ id }) => id)),
    consent: () => "after-untrusted",
    run: async ({ id = "" }) => load(id),
  };
}

function searchCallable({ request, emit }: Turn, binding: Binding): Callable {
  const searched = request.onDemand.map((tool) => ({ ...tool.declaration, tool }));
  const search = (query: string): ToolResult => {
    const found = searchTools(query, searched);
    if (found.length === 0) return { ok: false, reason: missText(query, searched) };
    activate(
      binding.active,
      found.map(({ tool }) => tool),
    );
    emit({ type: "activated", tools: found.map(({ toolName }) => toolName) });
    binding.tell();
    return textResult(found.map((tool) => `${tool.signature}: ${tool.description}`).join("\n"));
  };
  return {
    declaration: toolSearchDeclaration,
    consent: () => "after-untrusted",
    run: async ({ query = "" }) => search(query),
  };
}

function activate(active: Map<string, Callable>, found: readonly Callable[]): void {
  for (const tool of found) active.delete(nameOf(tool));
  addAll(active, found);
  for (const name of [...active.keys()].slice(0, -maxActive)) active.delete(name);
}

function addAll(map: Map<string, Callable>, callables: readonly Callable[]): void {
  for (const callable of callables) map.set(nameOf(callable), callable);
}

function nameOf({ declaration }: Callable): string {
  return declaration.toolName;
}

function textResult(text: string): ToolResult {
  return { ok: true, text, shown: 1, total: 1, untrusted: false };
}
