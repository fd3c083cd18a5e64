import { defineConfig } from "drizzle-kit";

export default defineConfig({
  dialect: "sqlite",
  schema: [
    "./src/device/store/schema.ts",
    "./src/device/store/agent-tables.ts",
    "./src/device/store/homebase-tables.ts",
    "./src/device/store/renewal-tables.ts",
    "./src/device/store/skill-tables.ts",
  ],
  out: "./migrations/device",
});
