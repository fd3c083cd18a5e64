import { defineConfig } from "drizzle-kit";

export default defineConfig({
  dialect: "sqlite",
  schema: "./src/device/store/schema.ts",
  out: "./migrations/device",
});
