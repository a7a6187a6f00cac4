import { availableParallelism } from "node:os";
import { fileURLToPath } from "node:url";
import { defaultServerConditions } from "vite";
import { defineConfig } from "vitest/config";
import type { TestSpecification } from "vitest/node";
import { BaseSequencer } from "vitest/node";

// `@countersign/source` resolves our packages to src/*.ts, so that tests never run against a stale build.
// The rest are Vite's own: naming `import` here would reach Node as a flag and break `require`.
const conditions = ["@countersign/source", ...defaultServerConditions];

/** The files that take longest, longest first; vitest knows only their sizes on a new clone. */
const LONGEST = [
  "./scripts/docs-site.test.mjs",
  "./apps/cli/src/demo/demo.test.ts",
  "./scripts/installed-command.test.mjs",
  "./scripts/docs-run.test.mjs",
  "./apps/cli/src/commands/receipts/lost-parts.test.ts",
  "./packages/gateway/src/outbound/one-act-many-forms.test.ts",
  "./packages/policy/src/content/oracle.test.ts",
  "./packages/wire/src/differential/generated.test.ts",
  "./packages/wire/src/differential/damaged.test.ts",
  "./scripts/action.test.mjs",
  "./apps/cli/src/commands/receipts/receipts.test.ts",
  "./apps/cli/src/commands/receipts/tampered.test.ts",
  "./apps/console/src/console.test.ts",
  "./packages/gateway/src/serve/fleet.test.ts",
  "./packages/gateway/src/serve/shared-budgets.test.ts",
  "./apps/cli/src/commands/redteam/behind-the-gateway.test.ts",
  "./packages/gateway/src/outbound/event-cost.test.ts",
  "./packages/gateway/src/outbound/decide/older-messages.test.ts",
  "./packages/gateway/src/inbound/reloaded-page.test.ts",
].map((path) => fileURLToPath(new URL(path, import.meta.url)));

/** Starts the longest files first, so that no worker runs a long file alone at the end. */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rankOf = ({ moduleId }: TestSpecification): number => {
      const rank = LONGEST.indexOf(moduleId);
      return rank === -1 ? LONGEST.length : rank;
    };
    // Sorting is stable: the other files keep the order of vitest.
    return (await super.sort(files)).sort((a, b) => rankOf(a) - rankOf(b));
  }
}

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
    // Tests measure the processor time and the memory of their process, so each worker is a process of its own.
    pool: "forks",
    // One more than there are cores, because many files wait for a browser, a database or a command.
    // Vitest's default leaves one core unused: on two cores it runs one file at a time.
    maxWorkers: availableParallelism() + 1,
    sequence: { sequencer: LongestFirst },
    testTimeout: 30_000,
    hookTimeout: 60_000,
  },
});
