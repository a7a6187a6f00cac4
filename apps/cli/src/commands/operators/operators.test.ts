import { sha256Hex } from "@countersign/core";
import { loadConfig, readOperatorsFile } from "@countersign/gateway";
import {
  chmodSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { runProgram } from "../../testing/run-program.js";

let folder: string;
let file: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "countersign-operators-"));
  file = join(folder, "operators.txt");
});
afterEach(() => rmSync(folder, { recursive: true }));

const run = (...args: string[]) => runProgram("operators", ...args, "--file", file);
async function json(...args: string[]): Promise<{ token: string; hash: string; line: string }> {
  return JSON.parse((await run(...args, "--json")).out) as never;
}

test("an operator is added with a token that is shown once; the file has its hash and belongs to its owner", async () => {
  const { token, hash } = await json("add", "alice", "--role", "operator");
  expect(token).toMatch(/^cso_[\w-]{43}$/u);
  expect(hash).toBe(`sha256:${sha256Hex(token)}`);
  expect(readOperatorsFile(file)).toEqual([{ name: "alice", role: "operator", hash }]);
  expect(readFileSync(file, "utf8")).not.toContain(token);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  const { out } = await run("add", "bob", "--role", "viewer");
  expect(out).toMatch(/cso_[\w-]{43}/u);
  expect(readOperatorsFile(file).map(({ name }) => name)).toEqual(["alice", "bob"]);
});

test("a rotation replaces one token and keeps everything else, mode and comments included", async () => {
  writeFileSync(file, "# people on call");
  await json("add", "alice", "--role", "operator");
  await json("add", "bob", "--role", "viewer");
  chmodSync(file, 0o640);
  const before = readOperatorsFile(file);
  const { hash } = await json("rotate", "alice");
  expect(readOperatorsFile(file)).toEqual([{ ...before[0], hash }, before[1]]);
  expect(hash).not.toBe(before[0]?.hash);
  expect(readFileSync(file, "utf8")).toMatch(/^# people on call\nalice operator /u);
  expect(statSync(file).mode & 0o777).toBe(0o640);
  await run("remove", "alice");
  expect(readOperatorsFile(file)).toEqual([before[1]]);
  expect(readdirSync(folder)).toEqual(["operators.txt"]);
  expect((await run("list")).out).toContain("bob");
});

test.each([
  ["add", "two words"],
  ["add", "admin-1a2b3c4d"],
  ["add", "oidc:alice"],
  ["add", "<file>"],
])("%s %s is refused: no operator can have the name of another kind", async (verb, name) => {
  await expect(run(verb, name, "--role", "admin")).rejects.toMatchObject({
    code: "ERR_CLI_OPERATOR",
  });
});

test("a second operator of one name, and a change of an unknown one, are refused with a fix", async () => {
  await expect(run("rotate", "alice")).rejects.toThrow(/does not exist\. Fix: /u);
  await json("add", "alice", "--role", "viewer");
  await expect(run("add", "alice", "--role", "admin")).rejects.toThrow(/Fix: run countersign/u);
  await expect(run("remove", "eve")).rejects.toThrow(/eve is not in .* Fix: /u);
});

test("without a file the command prints the lines that the configuration loads", async () => {
  const config = join(folder, "countersign.yaml");
  writeFileSync(config, "agents: { a: { url: 'http://h/' } }\n");
  const { out } = await runProgram("operators", "add", "ann", "--role", "admin", "-c", config);
  const block = out.slice(out.indexOf("control:")).replaceAll(/^ {2}/gmu, "");
  const loaded = loadConfig(readFileSync(config, "utf8") + block, {
    file: config,
    environment: {},
  });
  const token = /cso_[\w-]{43}/u.exec(out)?.[0] ?? "";
  expect(loaded.control.operators).toEqual([
    { name: "ann", role: "admin", hash: `sha256:${sha256Hex(token)}` },
  ]);
});
