import { defineConfig } from "vitest/config";

// `@countersign/source` resolves our packages to src/*.ts, so that tests never run against a stale build.
const conditions = ["@countersign/source", "module", "node", "import", "default"];

export default defineConfig({
  resolve: { conditions },
  ssr: { resolve: { conditions } },
  test: {
    include: [
      "packages/*/src/**/*.test.{ts,tsx}",
      "apps/*/src/**/*.test.ts",
      "testkit/src/**/*.test.ts",
      "scripts/**/*.test.mjs",
    ],
    isolate: false,
    pool: "threads",
    testTimeout: 30_000,
    hookTimeout: 60_000,
  },
});
