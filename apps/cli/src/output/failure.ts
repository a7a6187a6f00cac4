import { isCountersignError } from "@countersign/core";
import { CommanderError } from "commander";
import pc from "picocolors";

/** Exit codes every verb shares: 0 done, 1 a negative answer, 2 could not answer. */
export const EXIT = { ok: 0, negative: 1, failed: 2 } as const;

/** Prints what went wrong, with its code and the next step; returns the exit code. */
export function reportFailure(error: unknown, json: boolean): number {
  // Commander has already printed its own message (help, version, a wrong option).
  if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.ok : EXIT.failed;
  if (json) {
    process.stdout.write(`${JSON.stringify({ error: describe(error) })}\n`);
    return EXIT.failed;
  }
  const { code, message } = describe(error);
  process.stderr.write(`${pc.red("error")} ${message}${code === undefined ? "" : ` (${code})`}\n`);
  return EXIT.failed;
}

/** What to do next, for codes whose message cannot know it. */
const NEXT_STEPS: ReadonlyMap<string, string> = new Map([
  [
    "ERR_STORE_LOCKED",
    "a gateway has this store open: stop it, or name another with --store or receipts.store",
  ],
]);

function describe(error: unknown): { code?: string; message: string } {
  if (isCountersignError(error)) {
    const next = NEXT_STEPS.get(error.code);
    return {
      code: error.code,
      message: next === undefined ? error.message : `${error.message}; ${next}`,
    };
  }
  if (error instanceof Error && "path" in error && "code" in error && error.code === "ENOENT") {
    return { code: "ENOENT", message: `${String(error.path)} is not there` };
  }
  if (error instanceof Error) {
    const code = "code" in error && typeof error.code === "string" ? error.code : undefined;
    return code === undefined ? { message: error.message } : { code, message: error.message };
  }
  return { message: String(error) };
}
