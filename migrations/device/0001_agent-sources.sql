CREATE TABLE `context_grant` (
	`kind` text NOT NULL,
	`target` text NOT NULL,
	`grantedMs` integer NOT NULL,
	PRIMARY KEY(`kind`, `target`)
);
--> statement-breakpoint
CREATE TABLE `file_entry` (
	`row` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`root` text NOT NULL,
	`path` text NOT NULL,
	`state` text NOT NULL,
	`bytes` integer NOT NULL,
	`modifiedMs` integer NOT NULL,
	`walk` integer NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `file_entry_path` ON `file_entry` (`root`,`path`);--> statement-breakpoint
CREATE TABLE `memory_line` (
	`row` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`atMs` integer NOT NULL,
	`source` text NOT NULL,
	`sourceId` text NOT NULL,
	`conversation` text NOT NULL,
	`author` text NOT NULL,
	`foreign` integer NOT NULL,
	`text` text NOT NULL,
	`redactedMs` integer
);
--> statement-breakpoint
CREATE UNIQUE INDEX `memory_line_source` ON `memory_line` (`source`,`sourceId`);--> statement-breakpoint
CREATE TABLE `notebook_entry` (
	`row` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`text` text NOT NULL,
	`writer` text NOT NULL,
	`writtenMs` integer NOT NULL,
	`changedMs` integer NOT NULL
);
