/**
 * What a file says, as far as it can be read: plain text by itself, PDF and DOCX through the document
 * reader, nothing of anything else. Why there is nothing is told by type.
 *
 * Spec: docs/sources.md "Files".
 */
import { constants } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import path from "node:path";

import type { FileState } from "../store/files.ts";
import type { DocumentKind, DocumentReader } from "./document-reader.ts";
import { isDiskTrouble } from "./file-walk.ts";

/** Text of a file, or why there is none. */
export interface FileContent {
  readonly state: Extract<
    FileState,
    "text" | "name-only" | "too-large" | "encrypted" | "broken" | "too-heavy"
  >;
  readonly text: string;
}

/** Of a longer text file, the beginning is read. Units: bytes. */
const maxTextBytes = 262_144;
/** A larger document is not opened. Units: bytes. */
const maxDocumentBytes = 32 * 1_048_576;

const documentKinds: ReadonlyMap<string, DocumentKind> = new Map([
  [".pdf", "pdf"],
  [".docx", "docx"],
]);

/** Reads the file at a real path. Nothing readable there is `name-only`. */
export async function readContent(
  target: string,
  reader: Pick<DocumentReader, "read">,
): Promise<FileContent> {
  try {
    // The path was resolved: a link that took its place since is not followed.
    const file = await open(
      target,
      constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK,
    );
    try {
      const kind = documentKinds.get(path.extname(target).toLowerCase());
      return kind === undefined ? await readText(file) : await readDocument(file, kind, reader);
    } finally {
      await file.close();
    }
  } catch (cause) {
    if (isDiskTrouble(cause)) return nothing("name-only");
    throw cause;
  }
}

async function readDocument(
  file: FileHandle,
  kind: DocumentKind,
  reader: Pick<DocumentReader, "read">,
): Promise<FileContent> {
  const { size } = await file.stat();
  if (size > maxDocumentBytes) return nothing("too-large");
  const bytes = new Uint8Array(size);
  const { bytesRead } = await file.read(bytes, 0, size, 0);
  const reading = await reader.read({ kind, bytes: bytes.slice(0, bytesRead) });
  return reading.state === "text" ? reading : nothing(reading.state);
}

async function readText(file: FileHandle): Promise<FileContent> {
  const buffer = Buffer.alloc(maxTextBytes);
  const { bytesRead } = await file.read(buffer, 0, maxTextBytes, 0);
  const bytes = buffer.subarray(0, bytesRead);
  const text = bytes.includes(0) ? undefined : decode(bytes);
  return text === undefined ? nothing("name-only") : { state: "text", text };
}

function decode(bytes: Uint8Array): string | undefined {
  try {
    // As a stream, because the beginning of a file may end within a letter.
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes, { stream: true });
  } catch (cause) {
    if (cause instanceof TypeError) return undefined;
    throw cause;
  }
}

function nothing(state: FileContent["state"]): FileContent {
  return { state, text: "" };
}
