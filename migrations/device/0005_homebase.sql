CREATE TABLE `device_name` (
	`deviceId` text PRIMARY KEY NOT NULL,
	`name` text NOT NULL
);
--> statement-breakpoint
CREATE TABLE `homebase_op` (
	`row` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`direction` text NOT NULL,
	`opId` text NOT NULL,
	`peerDevice` text NOT NULL,
	`op` text NOT NULL,
	`args` text NOT NULL,
	`sentMs` integer NOT NULL,
	`arrivedMs` integer NOT NULL,
	`state` text NOT NULL,
	`attempts` integer NOT NULL,
	`nextMs` integer NOT NULL,
	`reply` text
);
--> statement-breakpoint
CREATE UNIQUE INDEX `homebase_op_id` ON `homebase_op` (`direction`,`peerDevice`,`opId`);--> statement-breakpoint
CREATE INDEX `homebase_op_state` ON `homebase_op` (`direction`,`state`);