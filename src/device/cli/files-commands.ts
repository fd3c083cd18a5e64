/**
 * `pixie files …`: folders that the agent may search, their index with its progress, and why a file
 * is found or not.
 *
 * Paths are made absolute here, where the person's folder is known. Spec: docs/sources.md "Files".
 */
import path from "node:path";

import type { Command } from "commander";

import { ok } from "../../shared/result.ts";
import { addPathCommands } from "./context-commands.ts";
import { addCommand, type CliParts } from "./command.ts";
import { indexFiles } from "./index-progress.ts";
import { toolOutput } from "./tool-output.ts";
import { visibleLine } from "./visible.ts";

/** Adds `files` and its commands. */
export function registerFilesGroup(program: Command, parts: CliParts): void {
  const files = program.command("files").description("folders that your agent may search");
  addPathCommands(files, parts, "files", "folder");
  addCommand(files, parts, {
    usage: "index",
    about: "bring the index up to date; stopping it keeps what is done",
    examples: ["pixie files index"],
    run: (invocation) =>
      invocation.withSession({ connect: false }, (session) => indexFiles(session, invocation)),
  });
  addCommand(files, parts, {
    usage: "search <words>",
    about: "search as the agent does",
    examples: ["pixie files search passport", "pixie files search passport --on laptop"],
    options: [["--on <device>", "search another of your devices, by name or id"]],
    run: ({ argument, text, withSession }) => {
      const device = text("on");
      const words = { description: argument(0) ?? "", device: device ?? "all" };
      return withSession({ connect: device !== undefined }, (session) =>
        toolOutput(session, "find_file", words),
      );
    },
  });
  addCommand(files, parts, {
    usage: "why <path>",
    about: "say why a file is found, or not",
    examples: ["pixie files why ~/Documents/passport.pdf"],
    run: ({ argument, withSession }) =>
      withSession({ connect: false }, async (session) => {
        const why = await session.call("why-file", { path: path.resolve(argument(0) ?? "") });
        if (!why.ok) return why;
        const { foundBy, reason } = why.value;
        const found = foundBy === "nothing" ? "not found" : `found by ${foundBy}`;
        return ok({ json: why.value, lines: [visibleLine(`${found}: ${reason}`)] });
      }),
  });
}
