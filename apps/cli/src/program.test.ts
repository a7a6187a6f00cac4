import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { CommanderError } from "commander";
import type { Command } from "commander";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { describeFailure, reportFailure } from "./output/failure.js";
import { createProgram } from "./program.js";
import { runProgram } from "./testing/run-program.js";

let home = "";
const path = (name: string): string => join(home, name);
beforeAll(() => {
  home = mkdtempSync(join(tmpdir(), "countersign-program-"));
  writeFileSync(path("bad.json"), "{ nonsense");
  writeFileSync(path("number.json"), "7");
  writeFileSync(path("README.md"), "# Not a recording\n\nNor is this.\n");
  writeFileSync(path("policy.yaml"), 'hushspec: "0.1.0"\nname: p\nrules: {}\n');
});
afterAll(() => rmSync(home, { recursive: true, force: true }));

/** The message of a failed command. */
async function complaint(...args: string[]): Promise<string> {
  const failure: unknown = await runProgram(...args).then(
    () => "no failure",
    (error: unknown) => error,
  );
  return typeof failure === "string" ? failure : describeFailure(failure).message;
}

test("help finds the verb of a group, and says what it does not find", async () => {
  const { out } = await runProgram("help", "receipts", "verify");
  expect(out).toContain("countersign receipts verify [options]");
  expect((await runProgram("help", "receipts")).out).toContain("countersign receipts [options]");
  expect((await runProgram("help")).out).toContain("countersign help receipts verify");
  expect(await complaint("help", "receipts", "nope")).toContain("unknown command 'receipts nope'");
});

test("no help shows the inside of a default", () => {
  const all = (command: Command): Command[] => [command, ...command.commands.flatMap(all)];
  for (const command of all(createProgram())) {
    expect(command.helpInformation()).not.toMatch(/default: (?:\{\}|\[\])/);
  }
});

test("a failure names the file or the option it is about", async () => {
  expect(await complaint("policy", "check", home)).toBe(`${home} is a folder, not a file`);
  const explain = ["policy", "explain", "--policy", path("policy.yaml"), "--event"];
  expect(await complaint(...explain, path("bad.json"))).toContain(path("bad.json"));
  expect(await complaint(...explain, path("number.json"))).toContain(path("number.json"));
  expect(await complaint("capture", "--target", "nope")).toContain("--target");
  expect(await complaint("capture", "--session", "ws://127.0.0.1/")).toContain("--session");
  expect(await complaint("doctor", "127.0.0.1:8000")).toContain("http://127.0.0.1:8000");
  expect(await complaint("doctor", "localhost:8000/agent")).toContain("http://localhost:8000");
});

test("a folder that is not there is told before the work", async () => {
  const out = path("nope/report");
  const told = `the folder ${path("nope")} does not exist`;
  // The agent would be asked first if the folder were not.
  const target = "http://127.0.0.1:1/";
  expect(await complaint("doctor", target, "--html", out)).toBe(`--html ${out}: ${told}`);
  expect(await complaint("redteam", "run", "--target", target, "--junit", out)).toContain(told);
  expect(await complaint("capture", "--target", target, "--out", out)).toBe(`${out}: ${told}`);
});

test("a file that is not a recording is not replayed", async () => {
  for (const mode of [["--step"], ["--port", "0"]]) {
    expect(await complaint("replay", path("README.md"), ...mode)).toContain(
      "README.md is not a recording",
    );
  }
});

test("with --json a wrong option is told as JSON too", () => {
  const write = vi.spyOn(process.stdout, "write").mockReturnValue(true);
  const error = new CommanderError(1, "commander.unknownOption", "error: unknown option '--x'");
  const code = reportFailure(error, true);
  const [[out] = []] = write.mock.calls;
  write.mockRestore();
  expect(code).toBe(2);
  expect(JSON.parse(String(out))).toEqual({
    error: { code: "commander.unknownOption", message: "unknown option '--x'" },
  });
});
