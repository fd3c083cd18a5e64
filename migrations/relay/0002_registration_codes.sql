CREATE TABLE "registration_code" (
	"id" text PRIMARY KEY NOT NULL,
	"hash" "bytea" NOT NULL,
	"created_at_ms" bigint NOT NULL,
	"expires_at_ms" bigint NOT NULL,
	"uses" integer NOT NULL,
	"used" integer DEFAULT 0 NOT NULL,
	"revoked_at_ms" bigint,
	CONSTRAINT "registration_code_hash_unique" UNIQUE("hash")
);
