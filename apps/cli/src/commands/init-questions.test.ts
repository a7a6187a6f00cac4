import { spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { PassThrough } from "node:stream";
import { afterAll, beforeAll, expect, test } from "vitest";
import { chooseSetup } from "./init.js";

const BIN = new URL("../../bin/countersign.js", import.meta.url).pathname;
const isBuilt = existsSync(new URL("../../dist/commands/init.js", import.meta.url));
const hasScript = (process.env["PATH"] ?? "")
  .split(delimiter)
  .some((folder) => existsSync(join(folder, "script")));

let home = "";
beforeAll(() => {
  home = mkdtempSync(join(tmpdir(), "countersign-questions-"));
});
afterAll(() => rmSync(home, { recursive: true, force: true }));

/** A terminal on which a person has typed these lines and then ended the input. */
function terminal(lines: readonly string[], isTTY = true) {
  const input = Object.assign(new PassThrough(), { isTTY });
  const output = Object.assign(new PassThrough(), { isTTY });
  input.end(lines.map((line) => `${line}\n`).join(""));
  return { input, output, shown: () => String(output.read() ?? "") };
}

test("three answers are the agent, the framework and the port; Enter takes the default", async () => {
  const typed = terminal(["http://127.0.0.1:9100/", "LangGraph", "9000"]);
  expect(await chooseSetup(home, {}, typed)).toEqual({
    agent: new URL("http://127.0.0.1:9100/"),
    framework: "langgraph",
    port: 9000,
  });
  expect(typed.shown().match(/\?/gu)).toHaveLength(3);
  expect(await chooseSetup(home, {}, terminal(["", "", ""]))).toEqual({
    agent: new URL("http://127.0.0.1:8000/"),
    framework: "",
    port: 8080,
  });
});

test("an answer that cannot be used is asked for again, with the reason", async () => {
  const typed = terminal([
    "nope",
    "http://127.0.0.1:8081/",
    "django",
    "other",
    "x",
    "8080",
    "9000",
  ]);
  expect(await chooseSetup(home, {}, typed)).toMatchObject({ framework: "", port: 9000 });
  const shown = typed.shown();
  expect(shown).toContain("Write an address such as");
  expect(shown).toContain("Write one of the names above");
  expect(shown).toContain("Write a port");
  expect(shown).toContain("the agent listens on 8081");
});

test("an input that ends before the last answer writes nothing", async () => {
  await expect(chooseSetup(home, {}, terminal([""]))).rejects.toThrow("no file was written");
});

test.each([
  ["--yes is given", { yes: true }, true, false],
  ["--agent is given", { agent: "http://127.0.0.1:9100/" }, true, false],
  ["--for is given", { for: "mastra" }, true, false],
  ["--json is given", { json: true }, true, false],
  ["input and output are pipes", {}, false, false],
  ["the configuration exists", {}, true, true],
])("nothing is asked when %s", async (_, flags, isTTY, exists) => {
  const directory = join(home, String(exists));
  mkdirSync(directory, { recursive: true });
  if (exists) writeFileSync(join(directory, "countersign.yaml"), "");
  // An answer would change the port; a question without an answer would fail.
  const typed = terminal(["", "", "9000"], isTTY);
  expect(await chooseSetup(directory, flags, typed)).toMatchObject({ port: 8080 });
  expect(typed.shown()).toBe("");
});

test("a port of an agent on this machine is not the gateway's", async () => {
  for (const agent of ["http://localhost:8080/", "ws://127.0.0.1:8081/"]) {
    await expect(chooseSetup(home, { agent, yes: true }, terminal([]))).rejects.toThrow("--port");
  }
  const elsewhere = { agent: "http://agent.example:8080/", yes: true };
  expect(await chooseSetup(home, elsewhere, terminal([]))).toMatchObject({ port: 8080 });
});

test.runIf(isBuilt && hasScript)(
  "a real terminal asks, and init writes the answers",
  { timeout: 60_000 },
  async () => {
    const answers = ["ws://127.0.0.1:9100/ws", "strands", "9000"];
    const command = `'${process.execPath}' '${BIN}' init '${join(home, "pty")}'`;
    const child = spawn("script", ["-qec", command, "/dev/null"], {
      stdio: ["pipe", "pipe", "ignore"],
    });
    let shown = "";
    let asked = 0;
    child.stdout.on("data", (part: Buffer) => {
      shown += String(part);
      // Each answer follows its own question.
      while (asked < (shown.match(/\?/gu) ?? []).length && asked < answers.length) {
        child.stdin.write(`${answers[asked] ?? ""}\r`);
        asked += 1;
      }
    });
    expect(await new Promise((resolve) => child.once("close", resolve))).toBe(0);
    const written = readFileSync(join(home, "pty", "countersign.yaml"), "utf8");
    for (const text of [
      "ws://127.0.0.1:9100/ws",
      "policy.strands.yaml",
      "port: 9000",
      "port: 9001",
    ]) {
      expect(written).toContain(text);
    }
  },
);
