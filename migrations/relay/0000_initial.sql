CREATE TABLE "access_key" (
	"account" uuid NOT NULL,
	"generation" integer NOT NULL,
	"key" "bytea" NOT NULL,
	"created_at_ms" bigint NOT NULL,
	"retired_at_ms" bigint,
	CONSTRAINT "access_key_account_generation_pk" PRIMARY KEY("account","generation")
);
--> statement-breakpoint
CREATE TABLE "account" (
	"account" uuid PRIMARY KEY NOT NULL,
	"aik" "bytea" NOT NULL,
	"created_at_ms" bigint NOT NULL,
	"list_version" bigint NOT NULL,
	"list_hash" "bytea" NOT NULL,
	"renewed_to" "bytea",
	"reserve_day" integer DEFAULT 0 NOT NULL,
	"reserve_bundles" integer DEFAULT 0 NOT NULL,
	CONSTRAINT "account_aik_unique" UNIQUE("aik")
);
--> statement-breakpoint
CREATE TABLE "device" (
	"device_id" uuid PRIMARY KEY NOT NULL,
	"account" uuid NOT NULL,
	"dsk" "bytea" NOT NULL,
	"mailbox" uuid NOT NULL,
	"state" smallint NOT NULL,
	CONSTRAINT "device_mailbox_unique" UNIQUE("mailbox")
);
--> statement-breakpoint
CREATE TABLE "device_list" (
	"account" uuid NOT NULL,
	"aik" "bytea" NOT NULL,
	"version" bigint NOT NULL,
	"hash" "bytea" NOT NULL,
	"record" "bytea" NOT NULL,
	CONSTRAINT "device_list_account_aik_version_pk" PRIMARY KEY("account","aik","version")
);
--> statement-breakpoint
CREATE TABLE "invite_key" (
	"account" uuid NOT NULL,
	"invite" uuid NOT NULL,
	"key" "bytea" NOT NULL,
	"created_at_ms" bigint NOT NULL,
	"expires_at_ms" bigint NOT NULL,
	"used" integer DEFAULT 0 NOT NULL,
	"revoked_at_ms" bigint,
	CONSTRAINT "invite_key_account_invite_pk" PRIMARY KEY("account","invite")
);
--> statement-breakpoint
CREATE TABLE "mailbox" (
	"lane" integer NOT NULL,
	"mailbox" uuid NOT NULL,
	"account" uuid NOT NULL,
	"device_id" uuid NOT NULL,
	"next_seq" bigint DEFAULT 1 NOT NULL,
	"session" bigint DEFAULT 0 NOT NULL,
	"delivered_seq" bigint DEFAULT 0 NOT NULL,
	"queued_items" integer DEFAULT 0 NOT NULL,
	"queued_bytes" bigint DEFAULT 0 NOT NULL,
	"large_bytes" bigint DEFAULT 0 NOT NULL,
	"reserve_items" integer DEFAULT 0 NOT NULL,
	"refused_count" bigint DEFAULT 0 NOT NULL,
	"refused_since_ms" bigint,
	CONSTRAINT "mailbox_lane_mailbox_pk" PRIMARY KEY("lane","mailbox")
);
--> statement-breakpoint
CREATE TABLE "prekey" (
	"device_id" uuid PRIMARY KEY NOT NULL,
	"account" uuid NOT NULL,
	"not_before_ms" bigint NOT NULL,
	"record" "bytea" NOT NULL,
	"received_at_ms" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "relay_state" (
	"singleton" boolean PRIMARY KEY DEFAULT true NOT NULL,
	"epoch" uuid DEFAULT gen_random_uuid() NOT NULL,
	"lanes" integer DEFAULT 1 NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "relay_state_singleton" CHECK ("relay_state"."singleton"),
	CONSTRAINT "relay_state_lanes" CHECK ("relay_state"."lanes" > 0)
);
--> statement-breakpoint
CREATE TABLE "rendezvous" (
	"id" uuid NOT NULL,
	"box" smallint NOT NULL,
	"content" "bytea" NOT NULL,
	"expires_at_ms" bigint NOT NULL,
	CONSTRAINT "rendezvous_id_box_pk" PRIMARY KEY("id","box")
);
--> statement-breakpoint
CREATE TABLE "renewal" (
	"old_aik" "bytea" PRIMARY KEY NOT NULL,
	"new_aik" "bytea" NOT NULL,
	"account" uuid NOT NULL,
	"record" "bytea" NOT NULL,
	"received_at_ms" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "used_id" (
	"id" uuid PRIMARY KEY NOT NULL,
	"kind" text NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX "access_key_current" ON "access_key" USING btree ("account") WHERE "access_key"."retired_at_ms" is null;--> statement-breakpoint
CREATE INDEX "device_account" ON "device" USING btree ("account");--> statement-breakpoint
CREATE INDEX "prekey_account" ON "prekey" USING btree ("account");--> statement-breakpoint
CREATE INDEX "rendezvous_expires" ON "rendezvous" USING btree ("expires_at_ms");--> statement-breakpoint
CREATE INDEX "renewal_account" ON "renewal" USING btree ("account");