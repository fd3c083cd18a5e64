/**
 * Why a file is found, or not: the reason that the index has for one path, in words for its owner.
 *
 * Spec: docs/sources.md "Files".
 */
import { realpathSync } from "node:fs";
import path from "node:path";

import { grantedTargets } from "../store/context.ts";
import { fileRow, type FileState } from "../store/files.ts";
import type { ReadTx } from "../store/sqlite.ts";
import { isDiskTrouble, isWithin } from "./file-walk.ts";
import type { WhyFileView } from "./port.ts";

/** What the index knows of a path. */
export function whyFile(tx: ReadTx, asked: string): WhyFileView {
  const roots = grantedTargets(tx, "files");
  const real = realPath(asked);
  const nothing = (root: string | undefined, reason: string): WhyFileView => ({
    path: asked,
    root,
    foundBy: "nothing",
    reason,
  });
  // Asked by its own name: a link is indexed where it stands.
  const root = roots.find((each) => isWithin(each, path.resolve(asked)));
  if (root === undefined) {
    const other = real === undefined ? undefined : roots.find((each) => isWithin(each, real));
    if (other !== undefined && real !== undefined) return whyFile(tx, real);
    const granted = roots.length === 0 ? "no folder is granted" : `granted are ${roots.join(", ")}`;
    return nothing(undefined, `it lies in no granted folder: ${granted}`);
  }
  const inner = path.relative(root, path.resolve(asked)).split(path.sep).join("/");
  const row = fileRow(tx, root, inner) ?? passedOverAbove(tx, root, inner);
  if (row === undefined) {
    return nothing(root, real === undefined ? "nothing is there" : "the index has not seen it yet");
  }
  const where = row.path === inner ? "" : `${path.join(root, row.path)}: `;
  return { path: asked, root, foundBy: foundBy(row.state), reason: where + reasonOf[row.state] };
}

function passedOverAbove(tx: ReadTx, root: string, inner: string): ReturnType<typeof fileRow> {
  const parts = inner.split("/");
  for (let depth = 1; depth <= parts.length; depth += 1) {
    const row = fileRow(tx, root, `${parts.slice(0, depth).join("/")}/`);
    if (row !== undefined) return row;
  }
  return undefined;
}

function foundBy(state: FileState): WhyFileView["foundBy"] {
  if (state === "text") return "content";
  const isUnseen = ["ignored", "hidden", "outside", "unreadable"].includes(state);
  return isUnseen ? "nothing" : "name";
}

/** Reasons by state, after the name of a file. */
export const reasonOf: Readonly<Record<FileState, string>> = {
  text: "its name and its content are indexed",
  "name-only": "it is no plain text, PDF or DOCX, so only its name is indexed",
  "too-large": "the document is too large to be opened, so only its name is indexed",
  encrypted: "the document is encrypted, so only its name is indexed",
  broken: "the document is damaged, so only its name is indexed",
  "too-heavy": "reading the document took too long or too much memory: only its name is indexed",
  ignored: "an ignore file leaves it out",
  hidden: "hidden, or a device's own folder",
  outside: "it is a link that leads out of the granted folder",
  unreadable: "it cannot be read",
};

function realPath(file: string): string | undefined {
  try {
    return realpathSync(file);
  } catch (cause) {
    if (isDiskTrouble(cause)) return undefined;
    throw cause;
  }
}
