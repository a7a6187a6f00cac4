import { fork } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { build, defaultServerConditions } from "vite";
import type { Cost } from "./measured-model.js";

/** Optimized code does not count every call that it has inlined. */
const COUNT_EXACTLY = ["--no-opt", "--no-maglev", "--no-sparkplug"];

/**
 * Counts the blocks of code that events run, in a process of their own: a measure of cost that no
 * timer, no other process and no other test file changes.
 */
export class ExecutedBlocks {
  readonly #folder: string;
  readonly #process: ChildProcess;

  private constructor(folder: string) {
    this.#folder = folder;
    this.#process = fork(join(folder, "measured-model.mjs"), { execArgv: COUNT_EXACTLY });
  }

  static async start(): Promise<ExecutedBlocks> {
    const folder = mkdtempSync(join(tmpdir(), "countersign-cost-"));
    const conditions = ["@countersign/source", ...defaultServerConditions];
    await build({
      configFile: false,
      logLevel: "error",
      ssr: { noExternal: true, resolve: { conditions } },
      build: {
        ssr: new URL("measured-model.ts", import.meta.url).pathname,
        target: "node20",
        outDir: folder,
        emptyOutDir: true,
        minify: false,
        rolldownOptions: {
          output: { entryFileNames: "[name].mjs", chunkFileNames: "[name]-[hash].mjs" },
        },
      },
    });
    return new ExecutedBlocks(folder);
  }

  /** The costs of events that one new model gets in order. */
  async of(events: readonly (readonly object[])[]): Promise<readonly Cost[]> {
    const answer = once(this.#process, "message");
    this.#process.send([...events]);
    const [costs] = (await answer) as [readonly Cost[]];
    return costs;
  }

  async dispose(): Promise<void> {
    const exit = once(this.#process, "exit");
    this.#process.kill();
    await exit;
    rmSync(this.#folder, { recursive: true });
  }
}
