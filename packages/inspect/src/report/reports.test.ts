import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { findBrowser, startBrowser } from "@countersign/testkit";
import { expect, test } from "vitest";
import { examineRecording } from "../doctor/recording.js";
import type { DoctorReport } from "../doctor/report.js";
import { failing } from "../doctor/report.js";
import { toHtml } from "./html.js";
import { toJunit } from "./junit.js";
import { toSarif } from "./sarif.js";

const HOSTILE =
  "</script><script>document.title='owned'</script><img src=x onerror=\"document.title='owned'\">\u0001";

function recorded(): Promise<DoctorReport> {
  const events = [
    { type: "RUN_STARTED", threadId: "t", runId: "r" },
    { type: "STATE_SNAPSHOT", snapshot: {} },
    { type: "TEXT_MESSAGE_START", messageId: HOSTILE, role: "assistant" },
    ...Array.from({ length: 12 }, () => ({
      type: "TEXT_MESSAGE_CONTENT",
      messageId: HOSTILE,
      delta: " word",
    })),
    { type: "TOOL_CALL_ARGS", toolCallId: HOSTILE, delta: "{}" },
    { type: "TEXT_MESSAGE_END", messageId: HOSTILE },
    { type: "RUN_FINISHED", threadId: "t", runId: "r", colour: 1 },
  ];
  const times = [
    0, 40, 90, 120, 150, 190, 240, 260, 300, 330, 360, 2400, 2440, 2480, 2520, 2560, 2600, 2650,
  ];
  const lines = events.map((event, index) =>
    JSON.stringify({ kind: "event", connId: "c", seq: index + 1, tMs: times[index], event }),
  );
  const header = {
    kind: "header",
    schemaVersion: 1,
    tool: "test",
    capturedAt: "2026-01-01T00:00:00Z",
    transport: "sse",
    redacted: [],
  };
  return examineRecording(
    "demo.agui.jsonl",
    (async function* () {
      yield Buffer.from([JSON.stringify(header), ...lines].join("\n"));
    })(),
  );
}

test("SARIF names each rule once, with its level and the events", async () => {
  const report = await recorded();
  const sarif = JSON.parse(toSarif(report)) as {
    runs: {
      tool: { driver: { rules: { id: string }[] } };
      results: { ruleId: string; ruleIndex: number; level: string; locations: unknown[] }[];
    }[];
  };
  const [run] = sarif.runs;
  expect(run?.results.map(({ ruleId, level }) => [ruleId, level])).toEqual([
    ["tool-call/not-open", "error"],
    ["event/unknown-field", "warning"],
    ["state/empty-first-snapshot", "note"],
  ]);
  for (const { ruleId, ruleIndex } of run?.results ?? [])
    expect(run?.tool.driver.rules[ruleIndex]?.id).toBe(ruleId);
  expect(JSON.stringify(run?.results[0]?.locations)).toContain("event 16");
});

test("JUnit fails exactly what the threshold says, and holds no control character", async () => {
  const report = await recorded();
  const strict = toJunit(report, failing(report, "warning"));
  expect(strict.match(/<failure/g)).toHaveLength(2);
  expect(toJunit(report, failing(report, "error")).match(/<failure/g)).toHaveLength(1);
  expect(toJunit(report, failing(report, "never"))).not.toContain("<failure");
  expect(strict).not.toContain("\u0001");
  expect(strict).toContain('<skipped message="a recording holds no connection"/>');
});

test("the HTML page draws every event, opens one by a click and runs nothing of the stream's", async (context) => {
  if (findBrowser() === undefined) return context.skip("no Chromium on this machine");
  const folder = mkdtempSync(join(tmpdir(), "countersign-report-"));
  const browser = await startBrowser();
  try {
    const file = join(folder, "report.html");
    writeFileSync(file, toHtml(await recorded()));
    const page = await browser.newPage({ viewport: { width: 1100, height: 1400 } });
    const errors: string[] = [];
    page.on("pageerror", (error) => errors.push(error.message));
    await page.goto(pathToFileURL(file).href);
    expect(await page.locator(".tick").count()).toBe(18);
    expect(await page.locator(".gap").count()).toBe(1);
    await page.locator('.tick[data-event="16"]').click();
    expect(await page.locator("#detail-title").textContent()).toContain("Event 16: TOOL_CALL_ARGS");
    expect(await page.locator("#detail-rules").textContent()).toContain("tool-call/not-open");
    await page.locator("#next").click();
    expect(await page.locator("#detail-json").textContent()).toContain("TEXT_MESSAGE_END");
    expect(await page.locator(".finding").count()).toBe(3);
    expect(await page.title()).toBe("countersign doctor: demo.agui.jsonl");
    expect(errors).toEqual([]);
    await page.setViewportSize({ width: 390, height: 900 });
    expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(390);
    await page.setViewportSize({ width: 1100, height: 1400 });
    const picture = process.env["COUNTERSIGN_SCREENSHOTS"];
    if (picture !== undefined)
      await page.screenshot({ path: join(picture, "doctor.png"), fullPage: true });
  } finally {
    await browser.close();
    rmSync(folder, { recursive: true, force: true });
  }
});
