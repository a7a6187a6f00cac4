import { stripVTControlCharacters } from "node:util";
import { vi } from "vitest";
import { run } from "../program.js";

/** Runs the whole command in this process: what it printed, and the exit code it would have ended with. */
export async function runProgram(...args: string[]): Promise<{ code: number; out: string }> {
  const before = process.exitCode;
  process.exitCode = 0;
  let out = "";
  const spy = vi.spyOn(process.stdout, "write").mockImplementation((chunk) => {
    out += String(chunk);
    return true;
  });
  try {
    await run(args);
    return { code: Number(process.exitCode), out: stripVTControlCharacters(out) };
  } finally {
    spy.mockRestore();
    process.exitCode = before;
  }
}
