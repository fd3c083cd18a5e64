CREATE TABLE `meaning_vector` (
	`change` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`source` text NOT NULL,
	`row` integer NOT NULL,
	`model` text NOT NULL,
	`scale` real NOT NULL,
	`vector` blob NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `meaning_vector_entry` ON `meaning_vector` (`source`,`row`);