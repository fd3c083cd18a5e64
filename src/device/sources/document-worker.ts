/**
 * Takes the text out of a PDF or DOCX document, in a thread of its own: what a stranger's file makes
 * its parser do must neither block nor end the device. Started by document-reader.ts, which bounds its
 * time and memory.
 *
 * Spec: docs/sources.md "Files".
 */
import { parentPort } from "node:worker_threads";

import mammoth from "mammoth";
import { getDocumentProxy } from "unpdf";

import type {
  DocumentJob,
  DocumentQuestion,
  DocumentReading,
  DocumentReply,
} from "./document-reader.ts";
import { inflatesWithin } from "./zip-size.ts";

/** Of a longer document, the beginning is read. Units: characters. */
const maxText = 262_144;
/** Pages of a PDF that are looked at. */
const maxPages = 2_000;
/** What the parts of a DOCX may inflate to. Units: bytes. */
const maxInflatedBytes = 64 * 1_048_576;
/** How an encrypted office document begins: it is a compound file, and no zip. */
const compoundFile = Buffer.from([0xd0, 0xcf, 0x11, 0xe0]);

parentPort?.on("message", ({ job, ...question }: DocumentJob) => {
  const answer = (reading: DocumentReading): DocumentReply => ({ job, reading });
  void read(question).then((reading) => parentPort?.postMessage(answer(reading), []));
});

async function read({ kind, bytes }: DocumentQuestion): Promise<DocumentReading> {
  try {
    return kind === "pdf" ? await readPdf(bytes) : await readDocx(Buffer.from(bytes));
  } catch (cause) {
    const isLocked = cause instanceof Error && cause.name === "PasswordException";
    return { state: isLocked ? "encrypted" : "broken" };
  }
}

async function readPdf(bytes: Uint8Array): Promise<DocumentReading> {
  const pdf = await getDocumentProxy(bytes, { verbosity: 0 });
  let text = "";
  const pages = Math.min(pdf.numPages, maxPages);
  for (let number = 1; number <= pages && text.length < maxText; number += 1) {
    const page = await pdf.getPage(number);
    const content = await page.getTextContent();
    for (const item of content.items) if ("str" in item) text += `${item.str} `;
    page.cleanup();
  }
  await pdf.destroy();
  return { state: "text", text: text.slice(0, maxText) };
}

async function readDocx(buffer: Buffer): Promise<DocumentReading> {
  if (buffer.subarray(0, 4).equals(compoundFile)) return { state: "encrypted" };
  const fits = inflatesWithin(buffer, maxInflatedBytes);
  if (fits !== "fits") return { state: fits };
  const { value } = await mammoth.extractRawText({ buffer });
  return { state: "text", text: value.slice(0, maxText) };
}
