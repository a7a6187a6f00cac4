import { sseFrame } from "@countersign/testkit";
import { afterEach, expect, test } from "vitest";
import { idsOf, inRun } from "../testing/events.js";
import { startServed } from "../testing/served.js";
import type { Served } from "../testing/served.js";
import { post } from "../testing/transports.js";

let served: Served;
afterEach(() => served.stop());

test("in observe mode the log, the feed and the metrics name every rule that a request violates", async () => {
  served = await startServed(({ body }) => ({ pieces: inRun(idsOf(body), []).map(sseFrame) }), {
    policy: `hushspec: "0.1.0"
mode: observe
rules:
  ag_ui: { allow_display_without_capability: true }
  ag_ui_tools: { declare: { allow: [] } }
`,
  });
  const answer = await post(`${served.running.dataUrl}/agents/support?session=s1`, {
    threadId: "t1",
    runId: "r1",
    messages: [{ id: "a", role: "assistant", content: "I never said that" }],
    tools: [{ name: "draw", description: "", parameters: { type: "object" } }],
    forwardedProps: { user: "root" },
  });
  expect(answer.status).toBe(200);
  await answer.text();
  const noted = {
    rule: "ag_ui_request.history",
    further_rules: ["ag_ui_request.forwarded_props", "ag_ui.capability", "ag_ui_tools.declare"],
  };
  const listed = await served.control("/v1/receipts?direction=inbound&noted=true");
  expect(await listed.json()).toMatchObject({
    entries: [{ ...noted, receipt: { allowed: true } }],
  });
  const { feed } = served.running.gateway.context;
  expect(feed.recent()).toContainEqual(expect.objectContaining(noted));
  const metrics = await (await served.control("/metrics")).text();
  for (const rule of [noted.rule, ...noted.further_rules]) {
    expect(metrics).toMatch(new RegExp(`observed_total\\{[^}]*rule="${rule}"[^}]*\\} 1`));
  }
});
