import { sha256Hex } from "@countersign/core";
import { loadConfig } from "@countersign/gateway";
import { expect, test } from "vitest";
import { runProgram } from "../../testing/run-program.js";

test("an API key is shown once with the hash that a gateway loads", async () => {
  const { code, out } = await runProgram("keys", "api", "support-bot");
  expect(code).toBe(0);
  const key = /csk_[\w-]{43}/.exec(out)?.[0] ?? "";
  const block = out.slice(out.indexOf("access:")).replaceAll(/^ {2}/gm, "");
  const config = loadConfig(`agents: { a: { url: "http://h/" } }\n${block}`, {
    file: "countersign.yaml",
    environment: {},
  });
  expect(config.access.keys).toEqual([{ name: "support-bot", hash: `sha256:${sha256Hex(key)}` }]);
});

test("for machines there is the line of the key file", async () => {
  const { out } = await runProgram("keys", "api", "bot", "--json");
  const made = JSON.parse(out) as { key: string; hash: string; line: string };
  expect(made.hash).toBe(`sha256:${sha256Hex(made.key)}`);
  expect(made.line).toBe(`bot ${made.hash}`);
});

test("a name that would break the file is refused", async () => {
  await expect(runProgram("keys", "api", "two words")).rejects.toMatchObject({
    code: "ERR_CLI_KEY_NAME",
  });
});
