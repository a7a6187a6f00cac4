import { readFileSync } from "node:fs";
import { sseFrame } from "@countersign/testkit";
import { expect, test } from "vitest";
import { idsOf, inRun, text } from "../testing/events.js";
import { CHAT_POLICY } from "../testing/fixture.js";
import { readScrape, valueOf } from "../testing/scrape.js";
import { startServed } from "../testing/served.js";
import type { Served } from "../testing/served.js";
import { post } from "../testing/transports.js";
import { METRICS } from "./catalogue.js";
import { Histogram, Tally } from "./counters.js";

const answer = ({ body }: { body: string }) => ({
  pieces: inRun(idsOf(body), [
    ...text("m1", "hi"),
    { type: "STATE_SNAPSHOT", snapshot: { a: 1 } },
  ]).map(sseFrame),
});

async function scrape(served: Served) {
  const response = await served.control("/metrics");
  expect(response.headers.get("content-type")).toContain("version=0.0.4");
  return readScrape(await response.text());
}

async function run(served: Served, runId: string): Promise<string> {
  const response = await post(`${served.running.dataUrl}/agents/support?session=s1`, {
    threadId: "t1",
    runId,
    state: {},
    tools: [],
    context: [],
    forwardedProps: {},
  });
  return response.text();
}

test("a scrape is well-formed, lists the whole catalogue, and its numbers move with traffic", async () => {
  const served = await startServed(answer, { policy: CHAT_POLICY });
  try {
    const before = await scrape(served);
    expect([...before.keys()]).toEqual(Object.keys(METRICS));
    for (const [name, metric] of before) {
      expect(metric.type).toBe(METRICS[name as keyof typeof METRICS].type);
    }
    expect(valueOf(before, "countersign_ready")).toBe(1);
    expect(valueOf(before, "process_resident_memory_bytes")).toBeGreaterThan(1e7);
    const body = await run(served, "r1");
    expect(body).toContain("RUN_FINISHED");
    await run(served, "r1");
    const after = await scrape(served);
    expect(
      valueOf(after, "countersign_events_forwarded_total", { agent: "support", class: "display" }),
    ).toBeGreaterThanOrEqual(4);
    const blocked = after.get("countersign_events_blocked_total")?.samples ?? [];
    expect(blocked.map(({ labels }) => labels["rule"]).join()).toMatch(/ag_ui|capability/u);
    const refusals = after.get("countersign_inbound_refusals_total")?.samples ?? [];
    expect(refusals.reduce((sum, { value }) => sum + value, 0)).toBe(1);
    expect(valueOf(after, "countersign_runs_ended_total", { state: "finished" })).toBe(1);
    expect(valueOf(after, "countersign_added_latency_seconds_count")).toBeGreaterThan(0);
    expect(valueOf(after, "countersign_store_append_seconds_count")).toBeGreaterThan(0);
    expect(valueOf(after, "countersign_receipts_appended_total")).toBe(
      valueOf(after, "countersign_store_entries"),
    );
    expect(valueOf(after, "countersign_store_entries")).toBeGreaterThanOrEqual(7);
    expect(valueOf(after, "countersign_policy_info", { name: "chat", mode: "enforce" })).toBe(1);
    const ended = served.lines.filter(({ msg }) => msg === "run ended");
    expect(ended).toHaveLength(1);
    expect(ended[0]).toMatchObject({ run: "r1", state: "finished", agent: "support" });
    expect(ended[0], "why something is missing on the screen").toMatchObject({
      blocked: expect.any(Number),
      blocked_by: expect.stringMatching(/ag_ui|capability/u),
    });
    expect(served.lines.filter(({ msg }) => msg === "refused")).toHaveLength(1);
  } finally {
    await served.stop();
  }
});

test("a request that passes only in observe mode is counted under the rule that would block it", async () => {
  const policy = CHAT_POLICY.replace("name: chat", "name: chat\nmode: observe");
  const served = await startServed(answer, { policy });
  try {
    await run(served, "r1");
    expect(await run(served, "r1")).toContain("RUN_FINISHED");
    const labels = { rule: "ag_ui_request.runs" };
    expect(valueOf(await scrape(served), "countersign_events_observed_total", labels)).toBe(1);
  } finally {
    await served.stop();
  }
});

test("metrics need the admin token unless the configuration makes them public", async () => {
  const closed = await startServed(answer);
  const open = await startServed(answer, { config: "metrics: { public: true }\n" });
  try {
    expect((await fetch(`${closed.running.controlUrl}/metrics`)).status).toBe(401);
    expect((await fetch(`${open.running.controlUrl}/metrics`)).status).toBe(200);
    expect((await fetch(`${open.running.controlUrl}/v1/status`)).status).toBe(401);
  } finally {
    await closed.stop();
    await open.stop();
  }
});

test("a label has at most 256 values: later ones are counted as other", () => {
  const tally = new Tally();
  for (let rule = 0; rule < 10_000; rule += 1) tally.add(`rule-${rule}`, "display");
  const entries = [...tally.entries()];
  expect(entries).toHaveLength(257);
  expect(entries.at(-1)).toEqual(["other", "display", 10_000 - 256]);
  expect(tally.total).toBe(10_000);
});

test("a histogram counts a value at its bound into that bucket", () => {
  const histogram = new Histogram([1, 2]);
  for (const value of [0.5, 1, 1.5, 2, 3]) histogram.observe(value);
  expect(histogram.cumulative()).toEqual([2, 4, 5]);
  expect(histogram.sum).toBe(8);
  expect(() => new Histogram([2, 1])).toThrow(TypeError);
});

test("the metrics page lists exactly the existing metrics, with type and labels", () => {
  const page = readFileSync(
    new URL("../../../../docs/reference/metrics.md", import.meta.url),
    "utf8",
  );
  const listed = [
    ...page.matchAll(/^\| `((?:countersign|process|nodejs)_\w+)` \| (\w+) \| ([^|]*) \|/gmu),
  ];
  expect(listed.map(([, name, type, labels]) => [name, type, labels?.trim()])).toEqual(
    Object.entries(METRICS).map(([name, { type, labels }]) => [
      name,
      type,
      labels.map((label) => `\`${label}\``).join(", "),
    ]),
  );
});
