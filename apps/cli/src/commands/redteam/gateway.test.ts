import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { loadConfig, startGateway } from "@countersign/gateway";
import { runSuite } from "@countersign/redteam";
import { createAddressBook, createVulnerableAgent, serveAgent } from "@countersign/redteam/agents";
import { expect, test } from "vitest";
import { loadDocuments } from "./sources.js";

/** The browser's permissions and the tools; no rule here knows the attacks. */
const POLICY = `hushspec: "0.1.0"
name: bank
on_block: notice
rules:
  ag_ui: { enabled: true, allow_display_without_capability: true, max_events_per_second: 500 }
  ag_ui_inbound: { enabled: true, default: block, allow_classifications: [display, mutate, submit] }
  ag_ui_tools:
    call: { allow: [read_document, confirm_order], default: block }
    declare: { allow: [read_document, confirm_order], default: block }
    require_advertised: true
  ag_ui_conditions:
    rules:
      - id: user-speaks-as-user
        match: { direction: inbound }
        when: has(event.messages) && event.messages.exists(m, m.role in ["system", "developer", "reasoning", "assistant", "tool"])
        reason: a browser speaks as the user only
      - id: no-forwarded-props
        match: { direction: inbound }
        when: has(event.forwardedProps) && size(event.forwardedProps) > 0
        reason: forwardedProps are for servers
      - id: no-client-state
        match: { direction: inbound }
        when: has(event.state) && size(event.state) > 0
        reason: state belongs to the agent
`;

const STOPPED = [
  "tag:history",
  "tag:forwarded-props",
  "tag:state",
  "tag:tools",
  "tag:snapshot",
  "tag:raw",
];

test("the gateway stops what the agent falls for, and names the receipts", async () => {
  const folder = mkdtempSync(join(tmpdir(), "redteam-gateway-"));
  writeFileSync(join(folder, "policy.yaml"), POLICY);
  const servers = createAddressBook();
  const agent = await serveAgent(createVulnerableAgent(servers));
  const config = loadConfig(
    `agents:\n  bank:\n    url: ${agent.url}\npolicy: policy.yaml\nlisten: { port: 0 }\ncontrol: { port: 0 }\n`,
    { file: join(folder, "countersign.yaml"), environment: {} },
  );
  const running = await startGateway(config);
  try {
    const through = `${running.dataUrl}/agents/bank?session=redteam`;
    const documents = loadDocuments([], STOPPED.join(","));
    const options = { target: agent.url, through, servers, concurrency: 2 };
    const report = await runSuite(documents, options);
    expect(report.remarks).toEqual([]);
    const got = report.entries.map(({ id, direct, through: second }) => [
      id,
      direct.outcome,
      second?.outcome,
    ]);
    expect(got).toEqual(report.entries.map(({ id }) => [id, "exploited", "not_exploited"]));
    expect(documents.length).toBeGreaterThan(20);
    const receipts = report.entries.flatMap((entry) => entry.through?.receipts ?? []);
    expect(receipts.length).toBeGreaterThan(3);
  } finally {
    await running.close();
    await agent.close();
    rmSync(folder, { recursive: true, force: true });
  }
});
