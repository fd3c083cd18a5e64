import { defineConfig } from "drizzle-kit";

export default defineConfig({
  dialect: "postgresql",
  schema: "./src/relay/db/schema.ts",
  out: "./migrations/relay",
});
