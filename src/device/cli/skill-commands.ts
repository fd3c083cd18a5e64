/**
 * `pixie skill …` for the owner's own skills: look, write, rename, switch, delete.
 *
 * The rules of what may be saved are the skills engine's. Sharing is in share-commands.ts.
 * Spec: docs/skills.md "Editing"; docs/operating.md "Command line".
 */
import type { Command } from "commander";

import { err, ok, type Result } from "../../shared/result.ts";
import type { ParamsOf, ResultOf } from "../api/operations.ts";
import type { Session } from "../api/session.ts";
import type { DeviceError } from "../device.ts";
import { reachOfBody } from "../skills/expand.ts";
import { openRegistry } from "../skills/registry.ts";
import { addCommand, type CliParts, type Invocation, type Outcome, usage } from "./command.ts";
import { skillReference } from "./references.ts";
import { addShareCommands } from "./share-commands.ts";
import { visibleLine, visibleText } from "./visible.ts";

type SkillView = ResultOf<"skills">[number];

const textOptions = [
  ["--name <name>", "display name (default: made from the handle)"],
  ["--summary <text>", "one line: when the planner should choose it"],
  ["--body-file <file>", "the instruction, - for standard input (default: $EDITOR on a terminal)"],
] as const;

/** Adds `skill` and its commands. */
export function registerSkillGroup(program: Command, parts: CliParts): void {
  const skill = program.command("skill").description("procedures that your agent follows");
  addCommand(skill, parts, {
    usage: "list",
    about: "list skills in stored order",
    examples: ["pixie skill list", "pixie skill list --json"],
    run: ({ withSession }) => withSession({ connect: false }, list),
  });
  addCommand(skill, parts, {
    usage: "show <skill>",
    about: "show one skill whole, and what it can reach",
    examples: ["pixie skill show search-info"],
    run: ({ argument, withSession }) =>
      withSession({ connect: false }, (session) => show(session, argument(0) ?? "")),
  });
  addCommand(skill, parts, {
    usage: "new <handle>",
    about: "write a new skill",
    examples: [
      'pixie skill new meeting-prep --summary "Prepares a meeting" --body-file prep.txt',
      'echo "Use @calendar." | pixie skill new week --summary "My week" --body-file -',
    ],
    options: textOptions,
    run: create,
  });
  addCommand(skill, parts, {
    usage: "edit <skill>",
    about: "change a skill; what is not named stays",
    examples: ["pixie skill edit week", 'pixie skill edit week --summary "The week ahead"'],
    options: [["--handle <handle>", "new handle; every mention follows"], ...textOptions],
    run: edit,
  });
  addCommand(skill, parts, {
    usage: "rename <skill> <handle>",
    about: "change the handle; every mention follows",
    examples: ["pixie skill rename week week-ahead"],
    run: ({ argument, withSession }) =>
      withSession({ connect: false }, async (session) => {
        const id = skillReference(argument(0) ?? "");
        return savedOutput(await session.call("rename-skill", { id, handle: argument(1) ?? "" }));
      }),
  });
  addSwitches(skill, parts);
  addShareCommands(skill, parts);
}

const switches = [
  ["enable", "let it exist for the agent", { enabled: true }],
  ["disable", "keep it, but let it expand to nothing", { enabled: false }],
  ["advertise", "put it on the planner's menu", { advertised: true }],
  ["unadvertise", "take it off the planner's menu", { advertised: false }],
] as const;

function addSwitches(skill: Command, parts: CliParts): void {
  for (const [name, about, flags] of switches) {
    addCommand(skill, parts, {
      usage: `${name} <skill>`,
      about,
      examples: [`pixie skill ${name} fetch-file`],
      run: ({ argument, withSession }) =>
        withSession({ connect: false }, async (session) => {
          const id = skillReference(argument(0) ?? "");
          const switched = await session.call("switch-skill", { id, ...flags });
          return switched.ok
            ? ok({ json: { id, ...flags }, lines: [`@${id}: ${name}d`] })
            : switched;
        }),
    });
  }
  addCommand(skill, parts, {
    usage: "delete <skill>",
    about: "delete a skill for good",
    examples: ["pixie skill delete week", "pixie skill delete week --yes"],
    options: [["--yes", "do not ask"]],
    run: (invocation) =>
      invocation.withSession({ connect: false }, (session) => remove(session, invocation)),
  });
}

async function list(session: Session): Promise<Outcome> {
  const skills = await session.call("skills", {});
  if (!skills.ok) return skills;
  const lines = skills.value.map(
    (skill) => `@${skill.id}  ${flagText(skill)}  ${visibleLine(skill.shortDescription)}`,
  );
  return ok({ json: skills.value, lines });
}

async function show(session: Session, typed: string): Promise<Outcome> {
  const skills = await session.call("skills", {});
  if (!skills.ok) return skills;
  const skill = found(skills.value, typed);
  if (!skill.ok) return skill;
  const reach = reachOfBody(openRegistry(skills.value), skill.value.detailedBody);
  const reaches = [
    ...reach.tools.map((tool) => tool.slug),
    ...reach.skills.map(({ id }) => id).filter((id) => id !== skill.value.id),
  ];
  return ok({
    json: { ...skill.value, reaches, unknown: reach.unknown },
    lines: skillLines(skill.value, reaches, reach.unknown),
  });
}

function skillLines(
  skill: SkillView,
  reaches: readonly string[],
  unknown: readonly string[],
): readonly string[] {
  return [
    `@${skill.id} — ${visibleLine(skill.name)}   ${flagText(skill)}`,
    visibleLine(skill.shortDescription),
    "",
    ...visibleText(skill.detailedBody).split("\n"),
    "",
    `can reach: ${reaches.length === 0 ? "nothing" : handles(reaches)}`,
    ...(unknown.length === 0 ? [] : [`names nothing: ${handles(unknown)}`]),
  ];
}

async function create(invocation: Invocation): Promise<Outcome> {
  const summary = await required(invocation, "summary", "Summary, one line: ");
  if (!summary.ok) return summary;
  const body = await bodyOf(invocation, "");
  if (!body.ok) return body;
  const name = invocation.text("name");
  return await invocation.withSession({ connect: false }, async (session) =>
    savedOutput(
      await session.call("save-skill", {
        handle: (invocation.argument(0) ?? "").replace(/^@/, ""),
        shortDescription: summary.value,
        detailedBody: body.value,
        ...(name === undefined ? {} : { name }),
      }),
    ),
  );
}

async function edit(invocation: Invocation): Promise<Outcome> {
  const { text, argument, io } = invocation;
  const [handle, name, summary, bodyFile] = ["handle", "name", "summary", "bodyFile"].map(text);
  const anything = [handle, name, summary, bodyFile].some((given) => given !== undefined);
  if (!anything && !io.interactive) {
    return usage("nothing to change: name --summary, --body-file, --name or --handle");
  }
  return await invocation.withSession({ connect: false }, async (session) => {
    const skills = await session.call("skills", {});
    if (!skills.ok) return skills;
    const skill = found(skills.value, argument(0) ?? "");
    if (!skill.ok) return skill;
    const { id, shortDescription, detailedBody } = skill.value;
    const body =
      anything && bodyFile === undefined
        ? ok(detailedBody)
        : await bodyOf(invocation, detailedBody);
    if (!body.ok) return body;
    const params: ParamsOf<"save-skill"> = {
      id,
      handle: handle?.replace(/^@/, "") ?? id,
      shortDescription: summary ?? shortDescription,
      detailedBody: body.value,
      ...(name === undefined ? {} : { name }),
    };
    return savedOutput(await session.call("save-skill", params));
  });
}

async function remove(session: Session, { argument, flag, io }: Invocation): Promise<Outcome> {
  const id = skillReference(argument(0) ?? "");
  if (!flag("yes")) {
    const consequences = await session.call("delete-skill", { id, confirmed: false });
    // Unconfirmed it never deletes: it names what would dangle, or that there is no such skill.
    if (consequences.ok || consequences.error.type !== "needs-confirmation") {
      return consequences.ok ? ok({ json: consequences.value, lines: [] }) : consequences;
    }
    if (!io.interactive) {
      return err({ ...consequences.error, message: `${consequences.error.message} with --yes` });
    }
    io.writeErr(`${consequences.error.message}\n`);
    if ((await io.ask("Type yes: ")) !== "yes") {
      return err({ type: "not-confirmed", message: "nothing was deleted" });
    }
  }
  const deleted = await session.call("delete-skill", { id, confirmed: true });
  if (!deleted.ok) return deleted;
  return ok({
    json: { id, ...deleted.value },
    lines: [`deleted @${id}`],
    notes: deleted.value.notes,
  });
}

function found(skills: readonly SkillView[], typed: string): Result<SkillView, DeviceError> {
  const id = skillReference(typed);
  const skill = skills.find((candidate) => candidate.id === id);
  return skill === undefined
    ? err({ type: "no-such-skill", message: `there is no skill @${id}: see pixie skill list` })
    : ok(skill);
}

function savedOutput(saved: Result<ResultOf<"save-skill">, DeviceError>): Outcome {
  return saved.ok
    ? ok({ json: saved.value, lines: [`saved @${saved.value.id}`], notes: saved.value.notes })
    : saved;
}

async function required(
  { text, io }: Invocation,
  option: string,
  question: string,
): Promise<Result<string, DeviceError>> {
  const given = text(option);
  if (given !== undefined) return ok(given);
  return io.interactive
    ? ok(await io.ask(question))
    : usage(`missing --${option}: no terminal to ask on`);
}

async function bodyOf(
  { text, io }: Invocation,
  present: string,
): Promise<Result<string, DeviceError>> {
  const file = text("bodyFile");
  if (file === "-") return ok(bodyText(await io.readInput()));
  if (file !== undefined) {
    const content = io.readFile(file);
    return content.ok ? ok(bodyText(content.value)) : content;
  }
  if (!io.interactive) return usage("missing --body-file <file>, - for the standard input");
  const edited = await io.edit(present);
  return edited.ok ? ok(bodyText(edited.value)) : edited;
}

// A file ends with a line break that nobody means as part of the instruction.
function bodyText(content: string): string {
  return content.replace(/\r\n/g, "\n").replace(/\n$/, "");
}

function flagText({ enabled, advertised }: SkillView): string {
  return `[${enabled ? "enabled" : "disabled"}, ${advertised ? "on the menu" : "off the menu"}]`;
}

function handles(slugs: readonly string[]): string {
  return slugs.map((slug) => `@${slug}`).join(", ");
}
