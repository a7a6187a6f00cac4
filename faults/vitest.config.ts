import { defineConfig, mergeConfig } from "vitest/config";
import workspace from "../vitest.config.js";

const { test, ...rest } = workspace;

// One file at a time: each of them wants the machine for itself, and measures memory on it.
export default mergeConfig(defineConfig(rest), {
  test: {
    ...test,
    root: new URL("..", import.meta.url).pathname,
    include: ["faults/**/*.test.ts"],
    fileParallelism: false,
  },
});
