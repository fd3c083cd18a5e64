/**
 * What the device's contract says about sources: the owner's own view of notebook, memory, files and
 * grants. Types only; own-sources.ts joins them.
 *
 * Spec: docs/sources.md.
 */
import type { Result } from "../../shared/result.ts";

/** What a person got wrong, or what is not there. */
export interface SourceError {
  readonly type: string;
  readonly message: string;
}

/** A note. */
export interface NoteView {
  readonly row: number;
  readonly text: string;
  readonly writer: "owner" | "agent";
  readonly writtenMs: number;
  readonly changedMs: number;
}

/** A line of the memory log. */
export interface MemoryView {
  readonly row: number;
  readonly atMs: number;
  readonly source: "message" | "run";
  readonly conversation: string;
  readonly author: string;
  /** Whether somebody else's words are in it. */
  readonly foreign: boolean;
  /** Empty once it is redacted. */
  readonly text: string;
  readonly redactedMs: number | undefined;
}

/** What can be granted to the tools. */
export type GrantKind = "notebook" | "memory" | "files" | "calendar";

/** One grant. `target`: a path, or empty for notebook and memory. */
export interface GrantView {
  readonly kind: GrantKind;
  readonly target: string;
  readonly grantedMs: number;
}

/** How far the index of granted files is. */
export interface IndexView {
  readonly state: "running" | "done";
  /** Files and folders looked at in this walk. */
  readonly seen: number;
  /** Entries that were known when the walk began; 0 at the first. */
  readonly expected: number;
  /** Files whose content is searchable, names only, and passed over; of all roots. */
  readonly text: number;
  readonly nameOnly: number;
  readonly passedOver: number;
  readonly problems: readonly string[];
}

/** Whether changes of granted folders are noticed by themselves. */
export interface WatchView {
  /** `off`: no daemon runs; `partly`: some folders are not watched, and `problem` says why. */
  readonly state: "off" | "watching" | "partly";
  readonly folders: number;
  readonly problem: string | undefined;
}

/** What the index knows of one path, for somebody who does not find it. */
export interface WhyFileView {
  readonly path: string;
  /** The granted folder that it lies in; `undefined`: in none. */
  readonly root: string | undefined;
  /** How it is found: by content, by name alone, or not at all. */
  readonly foundBy: "content" | "name" | "nothing";
  readonly reason: string;
}

/** What a tool answered to its owner. */
export type ToolAnswer =
  | {
      readonly ok: true;
      readonly text: string;
      readonly shown: number;
      readonly total: number;
      readonly untrusted: boolean;
    }
  | { readonly ok: false; readonly reason: string };

/** Sources of one device, for its owner. */
export interface DeviceSources {
  /** Notes, the last changed first. */
  readonly notes: () => readonly NoteView[];
  /** Adds a note, or with `row` replaces the text of one. */
  readonly saveNote: (note: {
    readonly row?: number;
    readonly text: string;
  }) => Result<NoteView, SourceError>;
  readonly deleteNote: (row: number) => Result<undefined, SourceError>;
  /** The newest lines of the memory log, newest first. */
  readonly memory: (last: number) => readonly MemoryView[];
  readonly redact: (row: number) => Result<undefined, SourceError>;
  readonly grants: () => readonly GrantView[];
  /** Lets the tools reach something. Paths must be absolute and exist. */
  readonly grant: (kind: GrantKind, target: string) => Result<GrantView, SourceError>;
  /** Takes a grant back, and forgets what was indexed because of it. */
  readonly revoke: (kind: GrantKind, target: string) => Result<undefined, SourceError>;
  /** Goes on with the index of granted files for about `budgetMs`. Calling no more stops it. */
  readonly indexFiles: (budgetMs: number) => Promise<IndexView>;
  /** From now on the index follows what changes in granted folders. For a process that stays. */
  readonly watchFiles: () => void;
  readonly fileWatch: () => WatchView;
  /** Why a file is found, or not. Paths must be absolute. */
  readonly whyFile: (path: string) => WhyFileView;
  /** Runs one tool as the agent would, and shows what the agent would read. */
  readonly runTool: (
    toolName: string,
    args: Readonly<Record<string, string>>,
    zone: string,
  ) => Promise<Result<ToolAnswer, SourceError>>;
}
