import { defineConfig, mergeConfig } from "vitest/config";
import workspace from "../vitest.config.js";

const { test, ...rest } = workspace;
const isThorough = process.env["COUNTERSIGN_FAULTS"] === "thorough";

// Each file measures the memory of its own gateway process, so two run at a time: they mostly wait for processes that
// start, stop and break. The long runs also report rates, and have the machine for themselves.
export default mergeConfig(defineConfig(rest), {
  test: {
    ...test,
    root: new URL("..", import.meta.url).pathname,
    include: ["faults/**/*.test.ts"],
    maxWorkers: isThorough ? 1 : 2,
  },
});
