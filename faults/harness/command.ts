import { execFile } from "node:child_process";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const run = promisify(execFile);

/** The built command, the way a package manager would start it. */
export const COMMAND = join(
  dirname(fileURLToPath(import.meta.url)),
  "../../apps/cli/bin/countersign.js",
);

/** Runs a verb to its end and returns what it printed; a verb that fails throws, with its words. */
export async function countersign(directory: string, ...words: string[]): Promise<string> {
  const { stdout } = await run(process.execPath, [COMMAND, ...words], {
    cwd: directory,
    maxBuffer: 256 * 1024 * 1024,
    env: { ...process.env, NO_COLOR: "1" },
  });
  return stdout;
}

/** Runs a verb that may fail: what it printed, and its exit code. */
export async function tryCountersign(
  directory: string,
  ...words: string[]
): Promise<{ readonly code: number; readonly out: string }> {
  try {
    return { code: 0, out: await countersign(directory, ...words) };
  } catch (error) {
    const { code, stdout, stderr } = error as { code: number; stdout: string; stderr: string };
    return { code, out: stdout + stderr };
  }
}
