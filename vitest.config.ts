import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    // A test never touches the keyring of whoever runs it.
    env: { PIXIE_KEYRING: "off" },
    include: ["test/**/*.test.ts"],
    globalSetup: ["test/support/global-setup.ts"],
    sequence: { shuffle: true },
    testTimeout: 30_000,
    hookTimeout: 60_000,
    maxWorkers: 2,
  },
});
