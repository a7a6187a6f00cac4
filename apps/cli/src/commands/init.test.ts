import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { runProgram } from "../testing/run-program.js";

let home = "";
beforeAll(() => {
  home = mkdtempSync(join(tmpdir(), "countersign-init-"));
});
afterAll(() => rmSync(home, { recursive: true, force: true }));

test.each([
  ["http://127.0.0.1:8000/agent", "post-sse"],
  ["https://agent.example/", "post-sse"],
  ["ws://127.0.0.1:8000/ws", "websocket"],
  ["wss://agent.example/ws", "websocket"],
])("what init writes for %s is what serve accepts: %s", async (agent, transport) => {
  const directory = join(home, encodeURIComponent(agent));
  await runProgram("init", directory, "--agent", agent);
  const config = join(directory, "countersign.yaml");
  const { out } = await runProgram("serve", "--config", config, "--check", "--json");
  expect(JSON.parse(out)).toMatchObject({ agents: [{ name: "main", url: agent, transport }] });
});

test("an agent that is not an address is refused by the name of its option, and nothing is written", async () => {
  for (const agent of ["foo", "ftp://127.0.0.1/"]) {
    await expect(runProgram("init", join(home, "no"), "--agent", agent)).rejects.toMatchObject({
      code: "commander.invalidArgument",
      message: expect.stringContaining("--agent"),
    });
  }
  expect(readdirSync(home)).not.toContain("no");
});

test("a name that looks like a file is refused with the directory to name instead, and nothing is written", async () => {
  await expect(runProgram("init", join(home, "gw", "policy.yaml"))).rejects.toThrow(
    `Fix: countersign init ${join(home, "gw")}`,
  );
  expect(readdirSync(home)).not.toContain("gw");
});
