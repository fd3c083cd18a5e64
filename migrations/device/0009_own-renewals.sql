CREATE TABLE `other_certificate` (
	`aik` text PRIMARY KEY NOT NULL,
	`certificate` blob NOT NULL,
	`aikSeed` blob
);
--> statement-breakpoint
ALTER TABLE `outbox` ADD `senderAik` text;--> statement-breakpoint
ALTER TABLE `outbox` ADD `onlyDevice` text;