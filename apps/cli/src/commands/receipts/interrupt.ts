import { rmSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { constants, tmpdir } from "node:os";
import { join } from "node:path";

const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

async function whileListening<Result>(
  onSignal: (exitCode: number) => void,
  work: () => Promise<Result>,
): Promise<Result> {
  const listeners = SIGNALS.map((signal) => {
    const listener = (): void => onSignal(128 + constants.signals[signal]);
    process.on(signal, listener);
    return () => process.off(signal, listener);
  });
  try {
    return await work();
  } finally {
    for (const stop of listeners) stop();
  }
}

/** Runs with an empty directory that is gone afterwards, Ctrl+C or not. */
export function withTemporaryDirectory<Result>(
  prefix: string,
  use: (directory: string) => Promise<Result>,
): Promise<Result> {
  let directory: string | undefined;
  const leave = (exitCode: number): void => {
    // Retried, since a write under way may add a file while the directory is being emptied.
    if (directory !== undefined) {
      rmSync(directory, { recursive: true, force: true, maxRetries: 5, retryDelay: 20 });
    }
    process.exit(exitCode);
  };
  return whileListening(leave, async () => {
    directory = await mkdtemp(join(tmpdir(), prefix));
    try {
      return await use(directory);
    } finally {
      await rm(directory, { recursive: true, force: true });
    }
  });
}

/** Runs work that ends early, and tidies up, when Ctrl+C is pressed. */
export function untilInterrupted<Result>(
  work: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const controller = new AbortController();
  let code = 0;
  const abort = (exitCode: number): void => {
    code = exitCode;
    controller.abort();
  };
  return whileListening(abort, async () => {
    try {
      return await work(controller.signal);
    } catch (error) {
      if (code !== 0) process.exit(code);
      throw error;
    }
  });
}
