CREATE TABLE `agent_approval` (
	`row` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`approvalId` text NOT NULL,
	`runId` text NOT NULL,
	`tool` text NOT NULL,
	`args` text NOT NULL,
	`hash` text NOT NULL,
	`why` text NOT NULL,
	`askedMs` integer NOT NULL,
	`expiresMs` integer NOT NULL,
	`state` text NOT NULL,
	`answeredMs` integer,
	`answeredBy` text
);
--> statement-breakpoint
CREATE UNIQUE INDEX `agent_approval_approvalId_unique` ON `agent_approval` (`approvalId`);--> statement-breakpoint
CREATE TABLE `mcp_server` (
	`name` text PRIMARY KEY NOT NULL,
	`command` text NOT NULL,
	`args` text NOT NULL,
	`env` text NOT NULL,
	`addedMs` integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE `mcp_tool` (
	`name` text PRIMARY KEY NOT NULL,
	`server` text NOT NULL,
	`tool` text NOT NULL,
	`description` text NOT NULL,
	`schema` text NOT NULL,
	`rule` text NOT NULL,
	`position` integer NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `mcp_tool_of_server` ON `mcp_tool` (`server`,`tool`);