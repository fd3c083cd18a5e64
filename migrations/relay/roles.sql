-- Optional: two roles, so that the role that runs the relay cannot change its schema.
--
-- Run once, as a superuser, in the relay's database, before the first migration:
--   psql "$ADMIN_URL" -f migrations/relay/roles.sql
-- then migrate as relay_ddl and run as relay_app:
--   DATABASE_URL=postgres://relay_ddl@… pixie relay migrate
--   DATABASE_URL=postgres://relay_app@… pixie relay start --database-migrate false
-- Give both a password or another way to log in; this file sets none.

DO $$
BEGIN
	IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'relay_ddl') THEN CREATE ROLE relay_ddl LOGIN; END IF;
	IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'relay_app') THEN CREATE ROLE relay_app LOGIN; END IF;
	-- The migrator says CREATE SCHEMA IF NOT EXISTS, which asks for this right even where nothing is made.
	EXECUTE format('GRANT CONNECT, CREATE ON DATABASE %I TO relay_ddl', current_database());
	EXECUTE format('GRANT CONNECT ON DATABASE %I TO relay_app', current_database());
END
$$;

GRANT USAGE, CREATE ON SCHEMA public TO relay_ddl;
GRANT USAGE ON SCHEMA public TO relay_app;

-- What relay_ddl makes, relay_app may use. Partitions are made by functions that run as relay_ddl.
ALTER DEFAULT PRIVILEGES FOR ROLE relay_ddl IN SCHEMA public GRANT SELECT, INSERT, UPDATE, DELETE ON TABLES TO relay_app;
ALTER DEFAULT PRIVILEGES FOR ROLE relay_ddl IN SCHEMA public GRANT EXECUTE ON FUNCTIONS TO relay_app;
