CREATE TABLE `bundle_fetch` (
	`aik` text PRIMARY KEY NOT NULL,
	`fetchedMs` integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE `contact` (
	`aik` text PRIMARY KEY NOT NULL,
	`name` text NOT NULL,
	`relation` text NOT NULL,
	`relayOrigin` text,
	`accountMailbox` text,
	`accessKey` blob,
	`inviteKey` blob,
	`addedMs` integer NOT NULL,
	`verifiedMs` integer,
	`stopped` text,
	`listSentVersion` integer
);
--> statement-breakpoint
CREATE TABLE `device_list` (
	`aik` text NOT NULL,
	`version` integer NOT NULL,
	`hash` text NOT NULL,
	`record` blob NOT NULL,
	PRIMARY KEY(`aik`, `version`)
);
--> statement-breakpoint
CREATE TABLE `invite` (
	`inviteId` text PRIMARY KEY NOT NULL,
	`secret` blob NOT NULL,
	`expiresMs` integer NOT NULL,
	`singleUse` integer NOT NULL,
	`createdMs` integer NOT NULL,
	`closedMs` integer
);
--> statement-breakpoint
CREATE TABLE `message` (
	`row` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`conversation` text NOT NULL,
	`senderAik` text NOT NULL,
	`senderDevice` text NOT NULL,
	`messageId` text NOT NULL,
	`typeTag` integer NOT NULL,
	`content` blob NOT NULL,
	`sentMs` integer NOT NULL,
	`arrivedMs` integer NOT NULL,
	`clockOff` integer NOT NULL,
	`readMs` integer
);
--> statement-breakpoint
CREATE INDEX `message_conversation` ON `message` (`conversation`,`row`);--> statement-breakpoint
CREATE UNIQUE INDEX `message_sender_id` ON `message` (`senderAik`,`messageId`);--> statement-breakpoint
CREATE TABLE `outbox` (
	`row` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`messageId` text NOT NULL,
	`recipientAik` text NOT NULL,
	`typeTag` integer NOT NULL,
	`flags` integer NOT NULL,
	`content` blob NOT NULL,
	`bucket` integer,
	`sentMs` integer NOT NULL,
	`composedMs` integer NOT NULL,
	`notBeforeMs` integer NOT NULL,
	`confirmed` integer NOT NULL,
	`state` text NOT NULL,
	`reason` text,
	`acceptedMs` integer,
	`nextMs` integer NOT NULL,
	`attempts` integer NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `outbox_message` ON `outbox` (`messageId`,`recipientAik`);--> statement-breakpoint
CREATE INDEX `outbox_due` ON `outbox` (`state`,`nextMs`);--> statement-breakpoint
CREATE INDEX `outbox_recipient` ON `outbox` (`recipientAik`,`state`,`row`);--> statement-breakpoint
CREATE TABLE `outbox_copy` (
	`messageId` text NOT NULL,
	`recipientAik` text NOT NULL,
	`deviceId` text NOT NULL,
	`state` text NOT NULL,
	`slot` text,
	`prekeyNotBeforeMs` integer,
	`acceptedMs` integer,
	`confirmedMs` integer,
	`nextMs` integer NOT NULL,
	`attempts` integer NOT NULL,
	`reseals` integer NOT NULL,
	PRIMARY KEY(`messageId`, `recipientAik`, `deviceId`)
);
--> statement-breakpoint
CREATE INDEX `outbox_copy_slot` ON `outbox_copy` (`slot`);--> statement-breakpoint
CREATE INDEX `outbox_copy_device` ON `outbox_copy` (`recipientAik`,`deviceId`,`state`);--> statement-breakpoint
CREATE TABLE `own_account` (
	`aik` text PRIMARY KEY NOT NULL,
	`aikSeed` blob,
	`accountMailbox` text NOT NULL,
	`accessKey` blob NOT NULL,
	`relayOrigin` text NOT NULL,
	`name` text NOT NULL
);
--> statement-breakpoint
CREATE TABLE `own_device` (
	`deviceId` text PRIMARY KEY NOT NULL,
	`dskSeed` blob NOT NULL,
	`mailbox` text NOT NULL,
	`name` text NOT NULL,
	`certificate` blob,
	`createdMs` integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE `own_prekey` (
	`prekeyId` text PRIMARY KEY NOT NULL,
	`seed` blob NOT NULL,
	`publicKey` blob NOT NULL,
	`aik` text NOT NULL,
	`record` blob NOT NULL,
	`notBeforeMs` integer NOT NULL,
	`publishedMs` integer,
	`supersededMs` integer
);
--> statement-breakpoint
CREATE TABLE `peer_prekey` (
	`aik` text NOT NULL,
	`deviceId` text NOT NULL,
	`notBeforeMs` integer NOT NULL,
	`record` blob NOT NULL,
	PRIMARY KEY(`aik`, `deviceId`)
);
--> statement-breakpoint
CREATE TABLE `receipt_due` (
	`recipientAik` text NOT NULL,
	`messageId` text NOT NULL,
	`dueMs` integer NOT NULL,
	PRIMARY KEY(`recipientAik`, `messageId`)
);
--> statement-breakpoint
CREATE TABLE `rival_list` (
	`aik` text NOT NULL,
	`hash` text NOT NULL,
	`record` blob NOT NULL,
	PRIMARY KEY(`aik`, `hash`)
);
--> statement-breakpoint
CREATE TABLE `sealed_upload` (
	`slot` text PRIMARY KEY NOT NULL,
	`messageId` text NOT NULL,
	`recipientAik` text NOT NULL,
	`relayOrigin` text NOT NULL,
	`upload` blob NOT NULL,
	`expiresMs` integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE `seen_message` (
	`senderAik` text NOT NULL,
	`messageId` text NOT NULL,
	`seenMs` integer NOT NULL,
	PRIMARY KEY(`senderAik`, `messageId`)
);
--> statement-breakpoint
CREATE TABLE `set_aside` (
	`itemHash` text PRIMARY KEY NOT NULL,
	`reason` text NOT NULL,
	`count` integer NOT NULL,
	`firstMs` integer NOT NULL,
	`lastMs` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `set_aside_last` ON `set_aside` (`lastMs`);--> statement-breakpoint
CREATE TABLE `setting` (
	`key` text PRIMARY KEY NOT NULL,
	`value` text NOT NULL
);
--> statement-breakpoint
CREATE TABLE `skill` (
	`id` text PRIMARY KEY NOT NULL,
	`position` integer NOT NULL,
	`name` text NOT NULL,
	`nameIsSet` integer NOT NULL,
	`shortDescription` text NOT NULL,
	`detailedBody` text NOT NULL,
	`enabled` integer NOT NULL,
	`advertised` integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE `skill_import` (
	`row` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`senderAik` text NOT NULL,
	`messageId` text NOT NULL,
	`bundleHash` text NOT NULL,
	`outcome` text NOT NULL,
	`importedMs` integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE `skill_origin` (
	`key` text PRIMARY KEY NOT NULL,
	`json` text NOT NULL
);
