import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { fileURLToPath } from "node:url";

/** An appender process and the entries it has acknowledged so far. */
export type RunningAppender = {
  readonly child: ChildProcess;
  /** Position in the log → number of the draft. */
  readonly acked: Map<number, number>;
  /** Resolves with the exit code when the process has ended. */
  readonly ended: Promise<number | null>;
};

/** Starts the appender (`testing/appender.ts`, bundled) as a child process. */
export function runAppender(file: URL, ...parameters: string[]): RunningAppender {
  const child = spawn(process.execPath, [fileURLToPath(file), ...parameters], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const acked = new Map<number, number>();
  let rest = "";
  child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
    const lines = (rest + chunk).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) {
      const [seq, number] = line.split(" ");
      acked.set(Number(seq), Number(number));
    }
  });
  const ended = new Promise<number | null>((resolve) => {
    child.once("close", (code) => resolve(code));
  });
  return { child, acked, ended };
}
