import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { loadConfig, startGateway } from "@countersign/gateway";
import { runSuite } from "@countersign/redteam";
import type { LoadedDocument, SuiteReport } from "@countersign/redteam";
import { createAddressBook, createVulnerableAgent, serveAgent } from "@countersign/redteam/agents";
import type { AddressBook } from "@countersign/redteam/agents";
import { expect } from "vitest";

/** The policy that `countersign init` writes, told to enforce. */
export const ENFORCED_STARTER: string = readFileSync(
  createRequire(import.meta.url).resolve("@countersign/policy/policies/starter.yaml"),
  "utf8",
).replace(/^mode: observe$/m, "mode: enforce");

/** The vulnerable demo agent, bare and behind a gateway. */
export type BehindGateway = {
  readonly agentUrl: string;
  readonly gatewayUrl: string;
  /** Tells the agent where the MCP and A2A servers of a document are. */
  readonly servers: AddressBook;
  /** Gives the session of the attacks a token for everything there is. */
  openEverything(): Promise<void>;
  stop(): Promise<void>;
};

/** Starts both; the last of the files is the policy. */
export async function startBehindGateway(
  files: Readonly<Record<string, string>>,
): Promise<BehindGateway> {
  const folder = mkdtempSync(join(tmpdir(), "behind-gateway-"));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  const servers = createAddressBook();
  const agent = await serveAgent(createVulnerableAgent(servers));
  const policy = Object.keys(files).at(-1);
  const config = loadConfig(
    `agents: { main: { url: "${agent.url}" } }\npolicy: ${policy}\nlisten: { port: 0 }\ncontrol: { port: 0 }\n`,
    { file: join(folder, "countersign.yaml"), environment: {} },
  );
  const running = await startGateway(config);
  return {
    agentUrl: agent.url,
    servers,
    gatewayUrl: `${running.dataUrl}/agents/main?session=red`,
    async openEverything() {
      const now = Math.floor(Date.now() / 1000);
      const times = { notBefore: now, expiresAt: now + 600 };
      const { token } = await running.tokens.issue({ agent: "main", scopes: ["ui:*:*"], ...times });
      running.gateway.context.sessions.addToken("red", { token });
    },
    async stop() {
      await running.close();
      await agent.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Runs documents both ways; all of them must work on the bare agent, or the second way says nothing. */
export async function attackThrough(
  { agentUrl, gatewayUrl, servers }: BehindGateway,
  documents: readonly LoadedDocument[],
): Promise<SuiteReport> {
  const report = await runSuite(documents, {
    target: agentUrl,
    through: gatewayUrl,
    servers,
    concurrency: 2,
  });
  expect(report.remarks).toEqual([]);
  const resisted = report.entries.filter(({ direct }) => direct.outcome !== "exploited");
  expect(resisted.map(({ title, direct }) => [title, direct.outcome, direct.reason])).toEqual([]);
  const undecided = report.entries.filter(
    ({ through }) => through?.outcome === "error" || through?.outcome === "unsupported",
  );
  expect(undecided.map(({ id, through }) => [id, through?.reason])).toEqual([]);
  return report;
}

/** Ids of the attacks that the gateway did not stop. */
export function stillWorking({ entries }: SuiteReport): string[] {
  return entries
    .flatMap(({ id, through }) => (through?.outcome === "not_exploited" ? [] : [id]))
    .toSorted();
}
