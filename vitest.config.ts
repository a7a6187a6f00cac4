import { defaultServerConditions } from "vite";
import { defineConfig } from "vitest/config";

// `@countersign/source` resolves our packages to src/*.ts, so that tests never run against a stale build.
// The rest are Vite's own: naming `import` here would reach Node as a flag and break `require`.
const conditions = ["@countersign/source", ...defaultServerConditions];

export default defineConfig({
  resolve: { conditions },
  ssr: { resolve: { conditions } },
  test: {
    include: [
      "packages/*/src/**/*.test.{ts,tsx}",
      "apps/*/src/**/*.test.ts",
      "examples/*/src/**/*.test.{ts,tsx}",
      "testkit/src/**/*.test.ts",
      "fuzz/*.test.ts",
      "scripts/**/*.test.mjs",
    ],
    // The colour library switches itself on under CI; what a verb prints is compared without colours.
    // Printed commands depend on how npm started the program.
    env: { NO_COLOR: "1", npm_command: "test" },
    setupFiles: [new URL("scripts/property-seed.mjs", import.meta.url).pathname],
    isolate: false,
    pool: "threads",
    testTimeout: 30_000,
    hookTimeout: 60_000,
  },
});
