import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sseFrame, startFakeAgent } from "@countersign/testkit";
import { afterAll, beforeAll, expect, test } from "vitest";
import { runProgram as run } from "../../testing/run-program.js";

const OLD = "a recording of another day\n";
let directory = "";
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), "countersign-capture-"));
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

function recording(name: string): string {
  const file = join(directory, name);
  writeFileSync(file, OLD);
  return file;
}

const startAgent = () =>
  startFakeAgent(({ path }) =>
    path === "/no"
      ? { status: 403, pieces: [] }
      : { pieces: [sseFrame({ type: "RUN_STARTED", threadId: "t", runId: "r" })] },
  );

test("a recording that is there is replaced only with --force", async () => {
  const agent = await startAgent();
  const file = recording("there.agui.jsonl");
  const capture = ["capture", "--session", agent.url, "--out", file];
  await expect(run(...capture)).rejects.toThrow("--force");
  expect(readFileSync(file, "utf8")).toBe(OLD);
  await run(...capture, "--force");
  await agent.stop();
  const lines = readFileSync(file, "utf8").trim().split("\n");
  expect(lines.map((line) => (JSON.parse(line) as { kind: string }).kind)).toEqual([
    "header",
    "request",
    "keepalive",
    "event",
    "keepalive",
  ]);
});

test("a capture whose port is taken costs no recording and leaves no empty one", async () => {
  const taken = createServer();
  await new Promise<void>((done) => taken.listen(0, "127.0.0.1", done));
  const { port } = taken.address() as AddressInfo;
  const old = recording("old.agui.jsonl");
  const fresh = join(directory, "fresh.agui.jsonl");
  for (const file of [old, fresh]) {
    const target = ["--target", "http://127.0.0.1:1/", "--port", String(port), "--force"];
    await expect(run("capture", ...target, "--out", file)).rejects.toThrow("EADDRINUSE");
  }
  await new Promise((done) => taken.close(done));
  expect(readFileSync(old, "utf8")).toBe(OLD);
  expect(existsSync(fresh)).toBe(false);
});

test("a session that is refused costs no recording", async () => {
  const agent = await startAgent();
  const file = recording("refused.agui.jsonl");
  const capture = run("capture", "--session", `${agent.url}no`, "--out", file, "--force");
  await expect(capture).rejects.toMatchObject({ code: "ERR_INSPECT_SESSION_REFUSED" });
  await agent.stop();
  expect(readFileSync(file, "utf8")).toBe(OLD);
});
