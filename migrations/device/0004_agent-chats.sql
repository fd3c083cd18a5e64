ALTER TABLE `agent_run` ADD `chatId` text;--> statement-breakpoint
CREATE INDEX `agent_run_chat` ON `agent_run` (`chatId`,`row`);