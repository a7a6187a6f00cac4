import { execFile, execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";

/** The verifier of statements in Python's standard library; it shares no code with us. */
const PROGRAM = fileURLToPath(new URL("../../third-party/verify_statement.py", import.meta.url));

/** Whether Python 3 is here; says so when it is not. */
export function hasPython(test: string): boolean {
  try {
    execFileSync("python3", ["--version"], { stdio: "ignore" });
    return true;
  } catch {
    process.stdout.write(`${test}: no Python here (Debian: python3), its checks are skipped\n`);
    return false;
  }
}

/** Runs the verifier. */
export function runPython(...args: string[]): Promise<{ code: number; output: string }> {
  return new Promise((resolve) => {
    execFile("python3", [PROGRAM, ...args], (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : Number(error.code), output: stdout + stderr });
    });
  });
}
