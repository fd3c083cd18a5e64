-- item and body are partitioned by the day of the slot, which drizzle cannot express.
CREATE TABLE "body" (
	"lane" integer NOT NULL,
	"day" integer NOT NULL,
	"body_id" uuid NOT NULL,
	"pending" integer NOT NULL,
	"body" "bytea" NOT NULL,
	CONSTRAINT "body_lane_day_body_id_pk" PRIMARY KEY("lane","day","body_id")
) PARTITION BY RANGE ("day");
--> statement-breakpoint
CREATE TABLE "item" (
	"lane" integer NOT NULL,
	"day" integer NOT NULL,
	"mailbox" uuid NOT NULL,
	"seq" bigint NOT NULL,
	"slot" uuid NOT NULL,
	"bucket" smallint NOT NULL,
	"source" smallint DEFAULT 0 NOT NULL,
	"header" "bytea",
	"body" "bytea",
	"body_id" uuid,
	"acked" timestamp with time zone,
	CONSTRAINT "item_lane_mailbox_day_seq_pk" PRIMARY KEY("lane","mailbox","day","seq"),
	CONSTRAINT "item_slot" UNIQUE("lane","mailbox","day","slot")
) PARTITION BY RANGE ("day");
--> statement-breakpoint
-- Delivery reads what is not acknowledged, in order; the index holds nothing else.
CREATE INDEX "item_unacked" ON "item" USING btree ("lane","mailbox","seq") WHERE "acked" is null;
--> statement-breakpoint
-- Ciphertext does not compress: external storage saves the attempt.
ALTER TABLE "body" ALTER COLUMN "body" SET STORAGE EXTERNAL;
--> statement-breakpoint
ALTER TABLE "item" ALTER COLUMN "header" SET STORAGE EXTERNAL, ALTER COLUMN "body" SET STORAGE EXTERNAL;
--> statement-breakpoint
-- Every accept, acknowledge and connect updates a mailbox row: half-empty pages keep updates in place.
ALTER TABLE "mailbox" SET (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_threshold = 500, autovacuum_vacuum_cost_delay = 0);
--> statement-breakpoint
-- Creates the missing partitions of the days from_day … to_day (inclusive); returns how many tables.
-- Attaching takes a weaker lock than CREATE TABLE … PARTITION OF, so accepts go on meanwhile.
-- security definer: the role that runs the relay needs no right to create tables.
CREATE FUNCTION ensure_day_partitions(from_day integer, to_day integer) RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp SET lock_timeout = '10s' AS $$
DECLARE
	parent text;
	part text;
	created integer := 0;
BEGIN
	FOR the_day IN from_day..to_day LOOP
		FOREACH parent IN ARRAY ARRAY['body', 'item'] LOOP
			part := parent || '_' || the_day;
			CONTINUE WHEN to_regclass(part) IS NOT NULL;
			-- One creator at a time, whichever process it runs in; then look again, in the table itself:
			-- an advisory lock does not refresh the catalogue cache that to_regclass answers from.
			PERFORM pg_advisory_xact_lock(7470, 2);
			PERFORM 1 FROM pg_class WHERE relname = part AND relnamespace = 'public'::regnamespace;
			CONTINUE WHEN FOUND;
			EXECUTE format('CREATE TABLE %I (LIKE %I INCLUDING DEFAULTS INCLUDING CONSTRAINTS INCLUDING INDEXES INCLUDING STORAGE)', part, parent);
			-- toast_tuple_target: an item of the smallest bucket (2.3 kB) stays in one row
			EXECUTE format('ALTER TABLE %I SET (toast_tuple_target = 4080, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 20000, autovacuum_vacuum_insert_threshold = -1, autovacuum_vacuum_cost_delay = 0)', part);
			EXECUTE format('ALTER TABLE %I ATTACH PARTITION %I FOR VALUES FROM (%s) TO (%s)', parent, part, the_day, the_day + 1);
			created := created + 1;
		END LOOP;
	END LOOP;
	RETURN created;
END
$$;
--> statement-breakpoint
-- Drops the partitions of every day before before_day; returns how many tables.
-- A short lock timeout: waiting for a long reader here would hold up every accept behind it.
CREATE FUNCTION drop_day_partitions(before_day integer) RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp SET lock_timeout = '2s' AS $$
DECLARE
	part text;
	dropped integer := 0;
BEGIN
	PERFORM pg_advisory_xact_lock(7470, 2);
	FOR part IN
		SELECT c.relname FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
		WHERE i.inhparent IN ('body'::regclass, 'item'::regclass)
			AND split_part(c.relname, '_', 2)::integer < before_day
		ORDER BY c.relname
	LOOP
		EXECUTE format('DROP TABLE %I', part);
		dropped := dropped + 1;
	END LOOP;
	RETURN dropped;
END
$$;
--> statement-breakpoint
REVOKE EXECUTE ON FUNCTION ensure_day_partitions(integer, integer), drop_day_partitions(integer) FROM PUBLIC;
--> statement-breakpoint
INSERT INTO "relay_state" DEFAULT VALUES;
