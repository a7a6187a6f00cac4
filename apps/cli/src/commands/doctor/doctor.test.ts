import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startFakeAgent, sseFrame } from "@countersign/testkit";
import { afterAll, beforeAll, expect, test } from "vitest";
import { runProgram as run } from "../../testing/run-program.js";

let directory = "";
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), "countersign-doctor-"));
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

const file = (name: string, text: string): string => {
  const path = join(directory, name);
  writeFileSync(path, text);
  return path;
};

const RUN = '{"type":"RUN_STARTED","threadId":"t","runId":"r"}\n';
const FINISH = '{"type":"RUN_FINISHED","threadId":"t","runId":"r"}\n';

test("a clean recording exits 0 and says which layers were not looked at", async () => {
  const { code, out } = await run("doctor", file("good.jsonl", RUN + FINISH));
  expect(code).toBe(0);
  expect(out).toContain("Clean: nothing wrong found, 2 events checked.");
  expect(out).toContain("Layer 1 network: skipped (a recording holds no connection)");
});

test("findings exit 1, name rule, event, remedy and page, and cannot colour the terminal", async () => {
  const text = `${RUN}{"type":"TEXT_MESSAGE_END","messageId":"\\u001b[31mx"}\n${FINISH}`;
  const { code, out } = await run("doctor", file("bad.jsonl", text));
  expect(code).toBe(1);
  expect(out).toContain("error text/not-open");
  expect(out).toContain("at event 2 x");
  expect(out).toContain("docs/rules/text-not-open.md");
});

test("--fail-on, --severity and every format agree", async () => {
  const odd = file("odd.jsonl", `${RUN}{"type":"PROGRESS"}\n${FINISH}`);
  expect((await run("doctor", odd)).code).toBe(1);
  expect((await run("doctor", odd, "--fail-on", "error")).code).toBe(0);
  expect((await run("doctor", odd, "--severity", "event/unknown-type=off")).code).toBe(0);
  const { out } = await run("doctor", odd, "--json");
  expect(JSON.parse(out)).toMatchObject({
    ok: false,
    findings: [{ rule: "event/unknown-type", severity: "warning" }],
  });
  expect(JSON.parse((await run("doctor", odd, "--sarif")).out)).toMatchObject({ version: "2.1.0" });
  const html = join(directory, "report.html");
  const junit = join(directory, "report.xml");
  await run("doctor", odd, "--html", html, "--junit", junit);
  expect(readFileSync(html, "utf8")).toContain("event/unknown-type");
  expect(readFileSync(junit, "utf8")).toContain('<failure type="warning"');
});

test("a live agent is checked with the headers and the input that were given", async () => {
  const agent = await startFakeAgent(() => ({
    pieces: [sseFrame(JSON.parse(RUN)), sseFrame(JSON.parse(FINISH))],
  }));
  const input = file("input.json", '{"threadId":"t","runId":"r","messages":[]}');
  const { code, out } = await run(
    "doctor",
    agent.url,
    "-H",
    "X-One: 1",
    "--input",
    input,
    "--timeout",
    "5",
  );
  await agent.stop();
  expect(code).toBe(0);
  expect(out).toContain("POST → 200 over HTTP/1.1");
  expect(out).toMatch(/sse-http1 .* spoken/);
  const asked = agent.requests.findLast(({ method }) => method === "POST");
  expect(asked).toMatchObject({ method: "POST", headers: { "x-one": "1" } });
});

test("what cannot be checked is an error, not a finding", async () => {
  await expect(run("doctor", join(directory, "missing.jsonl"))).rejects.toThrow("ENOENT");
  await expect(run("doctor", directory)).rejects.toThrow("is not a file");
  for (const bad of [
    ["--severity", "no/rule=off"],
    ["--fail-on", "maybe"],
    ["--timeout", "-1"],
    ["-H", "nonsense"],
  ]) {
    await expect(run("doctor", "x", ...bad)).rejects.toMatchObject({
      code: "commander.invalidArgument",
    });
  }
});

test("capture --session writes a file that doctor and replay --step read", async () => {
  const agent = await startFakeAgent(() => ({
    pieces: [sseFrame(JSON.parse(RUN)), sseFrame(JSON.parse(FINISH))],
  }));
  const recording = join(directory, "session.agui.jsonl");
  const { out } = await run("capture", "--session", agent.url, "--out", recording);
  await agent.stop();
  expect(out).toContain("2 events are in");
  expect(existsSync(recording)).toBe(true);
  expect((await run("doctor", recording)).code).toBe(0);
  const steps = await run("replay", recording, "--step");
  expect(steps.out).toContain("#1");
  expect(steps.out).toContain("RUN_FINISHED");
  await expect(run("capture")).rejects.toThrow("one of --target and --session");
  await expect(run("capture", "--target", "x", "--redact", "all,none")).rejects.toMatchObject({
    code: "commander.invalidArgument",
  });
});
