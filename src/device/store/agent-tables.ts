/**
 * Tables of the agent: what it may reach, what it looks things up in, and its turns. Their full-text
 * indexes are in full-text.ts.
 *
 * Part of schema.ts, from which migrations are generated.
 */
import {
  blob,
  index,
  integer,
  primaryKey,
  real,
  sqliteTable,
  text,
  uniqueIndex,
} from "drizzle-orm/sqlite-core";
import { flag } from "./columns.ts";

/**
 * What the tools may reach: `notebook` and `memory` with an empty target, `files` and `calendar` with
 * an absolute path each. A fresh store holds the first two.
 */
export const contextGrant = sqliteTable(
  "context_grant",
  {
    kind: text({ enum: ["notebook", "memory", "files", "calendar"] }).notNull(),
    target: text().notNull(),
    grantedMs: integer().notNull(),
  },
  (table) => [primaryKey({ columns: [table.kind, table.target] })],
);

/** Short notes that the owner keeps. Their words are indexed in `notebook_text` under the same row. */
export const notebookEntry = sqliteTable("notebook_entry", {
  row: integer().primaryKey({ autoIncrement: true }),
  text: text().notNull(),
  /** Who wrote it: the owner, or the agent in a run. */
  writer: text({ enum: ["owner", "agent"] }).notNull(),
  writtenMs: integer().notNull(),
  changedMs: integer().notNull(),
});

/**
 * The memory log: what was said, in order, never edited. A redacted line keeps its row and loses its
 * text. Words are indexed in `memory_text` under the same row.
 */
export const memoryLine = sqliteTable(
  "memory_line",
  {
    row: integer().primaryKey({ autoIncrement: true }),
    atMs: integer().notNull(),
    source: text({ enum: ["message", "run"] }).notNull(),
    /** Row of the message, or id of the run and which part of it: a line is logged once. */
    sourceId: text().notNull(),
    /** The other person's identity key; empty for a run. */
    conversation: text().notNull(),
    /** Identity key of whoever wrote it, or `agent`. */
    author: text().notNull(),
    /** The owner did not write it: it stays untrusted for as long as it is kept. */
    foreign: flag().notNull(),
    text: text().notNull(),
    redactedMs: integer(),
  },
  (table) => [uniqueIndex("memory_line_source").on(table.source, table.sourceId)],
);

/**
 * Files below granted roots, as they were last seen. `state` says how much of one is indexed, or why
 * nothing is. Words of names and contents are indexed in `file_text` under the same row.
 */
export const fileEntry = sqliteTable(
  "file_entry",
  {
    row: integer().primaryKey({ autoIncrement: true }),
    root: text().notNull(),
    /** Below the root, with `/`; a folder that is passed over ends with it. */
    path: text().notNull(),
    state: text({
      enum: [
        "text",
        "name-only",
        "too-large",
        "encrypted",
        "broken",
        "too-heavy",
        "ignored",
        "hidden",
        "outside",
        "unreadable",
      ],
    }).notNull(),
    bytes: integer().notNull(),
    modifiedMs: integer().notNull(),
    /** The walk that last saw it: what an ended walk has not seen is gone. */
    walk: integer().notNull(),
  },
  (table) => [uniqueIndex("file_entry_path").on(table.root, table.path)],
);

/**
 * What an entry means: its vector by the embedding model of that name, as signed bytes that `scale`
 * multiplies back. Filled in the background; gone with the entry's text.
 */
export const meaningVector = sqliteTable(
  "meaning_vector",
  {
    /** Grows with every change, so that a copy in memory knows what is new. */
    change: integer().primaryKey({ autoIncrement: true }),
    source: text({ enum: ["notebook", "memory"] }).notNull(),
    row: integer().notNull(),
    model: text().notNull(),
    scale: real().notNull(),
    vector: blob({ mode: "buffer" }).notNull(),
  },
  (table) => [uniqueIndex("meaning_vector_entry").on(table.source, table.row)],
);

/** Turns of the agent: each with its trace, the JSON of its events. */
export const agentRun = sqliteTable(
  "agent_run",
  {
    row: integer().primaryKey({ autoIncrement: true }),
    runId: text().notNull().unique(),
    startedMs: integer().notNull(),
    question: text().notNull(),
    stopReason: text().notNull(),
    trace: text().notNull(),
    /** The chat that it belongs to; absent for a question that stands for itself. */
    chatId: text(),
  },
  (table) => [index("agent_run_chat").on(table.chatId, table.row)],
);

/** Calls that the owner was asked about. A row that is still `asked` waits for an answer. */
export const agentApproval = sqliteTable("agent_approval", {
  row: integer().primaryKey({ autoIncrement: true }),
  approvalId: text().notNull().unique(),
  runId: text().notNull(),
  tool: text().notNull(),
  /** JSON of the arguments, as they would be passed. */
  args: text().notNull(),
  /** Over tool and arguments: an answer names it, so that it can mean nothing else. */
  hash: text().notNull(),
  why: text().notNull(),
  askedMs: integer().notNull(),
  expiresMs: integer().notNull(),
  state: text({ enum: ["asked", "allowed", "denied", "expired", "withdrawn"] }).notNull(),
  answeredMs: integer(),
  /** Which device answered: empty for this one. */
  answeredBy: text(),
});

/** Programs that serve on-demand tools. */
export const mcpServer = sqliteTable("mcp_server", {
  name: text().primaryKey(),
  command: text().notNull(),
  /** JSON list. */
  args: text().notNull(),
  /** JSON object of what is set in its environment; values may be secrets. */
  env: text().notNull(),
  addedMs: integer().notNull(),
});

/** Their tools, as their owner saw them when they were listed. `name` is what the agent calls. */
export const mcpTool = sqliteTable(
  "mcp_tool",
  {
    name: text().primaryKey(),
    server: text().notNull(),
    /** The server's own name of it. */
    tool: text().notNull(),
    description: text().notNull(),
    /** JSON Schema of its arguments, as the server gave it. */
    schema: text().notNull(),
    /** The owner's rule: without one, every call is asked about. */
    rule: text({ enum: ["ask", "allow", "deny"] }).notNull(),
    position: integer().notNull(),
  },
  (table) => [uniqueIndex("mcp_tool_of_server").on(table.server, table.tool)],
);
