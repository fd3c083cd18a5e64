CREATE TABLE `agent_run` (
	`row` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`runId` text NOT NULL,
	`startedMs` integer NOT NULL,
	`question` text NOT NULL,
	`stopReason` text NOT NULL,
	`trace` text NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `agent_run_runId_unique` ON `agent_run` (`runId`);