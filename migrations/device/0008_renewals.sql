CREATE TABLE `renewal` (
	`oldAik` text NOT NULL,
	`newAik` text NOT NULL,
	`record` blob NOT NULL,
	`followed` integer NOT NULL,
	`heardMs` integer NOT NULL,
	PRIMARY KEY(`oldAik`, `newAik`)
);
--> statement-breakpoint
ALTER TABLE `contact` ADD `renewedMs` integer;