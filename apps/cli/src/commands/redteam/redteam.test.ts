import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseJson } from "@countersign/core";
import type { JsonObject, JsonValue } from "@countersign/core";
import {
  createHardenedAgent,
  createVulnerableAgent,
  serveAgent,
} from "@countersign/redteam/agents";
import { sseFrame, startFakeAgent } from "@countersign/testkit";
import { Command } from "commander";
import { afterAll, afterEach, expect, test, vi } from "vitest";
import { registerRedteam } from "./index.js";
import { readServersFile } from "./servers.js";

const folder = mkdtempSync(join(tmpdir(), "redteam-"));

afterAll(() => rmSync(folder, { recursive: true, force: true }));

afterEach(() => {
  vi.restoreAllMocks();
  process.exitCode = undefined;
});

type Ran = { readonly code: number; readonly out: string };

async function run(...words: string[]): Promise<Ran> {
  let out = "";
  vi.spyOn(process.stdout, "write").mockImplementation((text) => {
    out += String(text);
    return true;
  });
  process.exitCode = undefined;
  const program = new Command("countersign").exitOverride();
  program.configureOutput({ writeErr: () => {} });
  registerRedteam(program);
  await program.parseAsync(["redteam", ...words], { from: "user" });
  vi.restoreAllMocks();
  const code = Number(process.exitCode ?? 0);
  process.exitCode = undefined;
  return { code, out };
}

const json = ({ out }: Ran): JsonObject => parseJson(out) as JsonObject;

function write(name: string, text: string): string {
  const file = join(folder, name);
  writeFileSync(file, text);
  return file;
}

const partial = (logic: string, second: string): string => `oatf: "0.1"
attack:
  id: TEST-001
  name: Hello
  execution: {mode: ag_ui_client, state: {run_agent_input: {messages: [{id: m, role: user, content: Hi}]}}}
  indicators:
    - {surface: run_started, target: threadId, pattern: {condition: {exists: true}}}
    - {surface: ${second}, target: "", pattern: {condition: {exists: true}}}
  correlation: {logic: ${logic}}
`;

test("the exit code says clean, exploited, error or partial", async () => {
  const filter = ["--filter", "agui-001"];
  expect((await run("run", "--demo", "hardened", ...filter)).code).toBe(0);
  expect((await run("run", "--demo", "vulnerable", ...filter)).code).toBe(1);
  expect((await run("run", "--target", "http://127.0.0.1:9/", ...filter)).code).toBe(2);
  const file = write("partial.yaml", partial("all", "raw"));
  expect((await run("run", file, "--demo", "hardened")).code).toBe(3);
});

test("documents with MCP and A2A actors run against the demo agents, and against an agent that reads the file of addresses", async () => {
  const filter = ["--filter", "tag:mcp-server,tag:a2a-server", "--json"];
  const outcomes = (ran: Ran): (JsonValue | undefined)[] =>
    (json(ran)["entries"] as { direct: JsonObject }[]).map(({ direct }) => direct["outcome"]);
  const weak = await run("run", "--demo", "vulnerable", ...filter);
  expect([weak.code, new Set(outcomes(weak))]).toEqual([1, new Set(["exploited"])]);
  const strong = await run("run", "--demo", "hardened", ...filter);
  expect([strong.code, new Set(outcomes(strong))]).toEqual([0, new Set(["not_exploited"])]);
  const file = join(folder, "servers.json");
  const agent = await serveAgent(createVulnerableAgent({ servers: () => readServersFile(file) }));
  const told = await run("run", "--target", agent.url, "--servers-file", file, ...filter);
  const untold = await run("run", "--target", agent.url, ...filter);
  await agent.close();
  expect([told.code, new Set(outcomes(told))]).toEqual([1, new Set(["exploited"])]);
  expect([untold.code, new Set(outcomes(untold))]).toEqual([2, new Set(["unsupported"])]);
  expect(parseJson(readFileSync(file, "utf8"))).toEqual({ mcpServers: {}, a2aAgents: {} });
});

test("what was not delivered or could not be seen is named, and never exits clean", async () => {
  const text = (execution: string, target: string): string =>
    `oatf: "0.1"\nattack:\n  id: TEST-002\n  execution: ${execution}\n  indicators: [{protocol: ag_ui, target: ${target}, pattern: {contains: zzz}}]\n`;
  const input = "state: {run_agent_input: {messages: [{id: m, role: user, content: Hi}]}}";
  const client = `{name: page, mode: ag_ui_client, phases: [{${input}}]}`;
  const cases: [execution: string, target: string, ...named: string[]][] = [
    [
      `{actors: [${client}, {name: poison, mode: acme_server, phases: [{state: {}}]}]}`,
      "response.content",
      "unsupported",
      "poison",
      "acme_server",
    ],
    [
      `{actors: [${client}, {name: poison, mode: a2a_server, phases: [{state: {}}]}]}`,
      "response.content",
      "error",
      "poison",
      "no payload",
    ],
    [
      `{mode: ag_ui_client, phases: [{name: setup, ${input}, trigger: {event: raw}}, {name: strike, ${input}}]}`,
      "response.content",
      "error",
      "phase setup",
      "strike",
    ],
    [`{mode: ag_ui_client, ${input}}`, "params.text", "error", "TEST-002-01", "params.text"],
  ];
  for (const [execution, target, ...named] of cases) {
    const file = write("undelivered.yaml", text(execution, target));
    const ran = await run("run", file, "--demo", "hardened");
    expect(ran.code).toBe(2);
    for (const word of named) expect(ran.out).toContain(word);
  }
  const control = write(
    "delivered.yaml",
    text(`{mode: ag_ui_client, ${input}}`, "response.content"),
  );
  expect((await run("run", control, "--demo", "hardened")).code).toBe(0);
});

test("reports are written beside each other and traces only where they are asked for", async () => {
  const files = ["a.xml", "a.sarif", "a.html"].map((name) => join(folder, name));
  const [junit = "", sarif = "", html = ""] = files;
  const words = ["--filter", "agui-001", "--junit", junit, "--sarif", sarif, "--html", html];
  const ran = await run("run", "--demo", "vulnerable", "--json", ...words);
  expect(json(ran)["schema"]).toBe("countersign.redteam-report.v1");
  expect(ran.out).not.toContain("TOOL_CALL_START");
  expect(readFileSync(junit, "utf8")).toContain('failures="1"');
  expect(parseJson(readFileSync(sarif, "utf8"))).toHaveProperty("version", "2.1.0");
  expect(readFileSync(html, "utf8")).toContain("tool_call_start");
  const traced = await run(
    "run",
    "--demo",
    "vulnerable",
    "--json",
    "--trace",
    "--filter",
    "agui-001",
  );
  expect(traced.out).toContain("TOOL_CALL_START");
});

test("a baseline fails a build only on what got worse", async () => {
  const clean = await run("run", "--demo", "hardened", "--json", "--filter", "tag:resume");
  const known = await run("run", "--demo", "vulnerable", "--json", "--filter", "tag:resume");
  const [cleanFile, knownFile] = [write("clean.json", clean.out), write("known.json", known.out)];
  const words = ["run", "--demo", "vulnerable", "--filter", "tag:resume", "--baseline"];
  const worse = await run(...words, cleanFile);
  expect(worse.code).toBe(1);
  expect(worse.out).toContain("worse");
  expect((await run(...words, knownFile)).code).toBe(0);
});

test("a resumed run keeps what was finished and survives a line cut short", async () => {
  const file = join(folder, "resume.jsonl");
  const words = ["run", "--demo", "vulnerable", "--filter", "tag:state", "--resume", file];
  const first = await run(...words, "--json");
  const lines = readFileSync(file, "utf8").trimEnd().split("\n");
  const total = (json(first)["entries"] as JsonValue[]).length;
  expect(lines).toHaveLength(total + 1);
  writeFileSync(file, `${lines.slice(0, 3).join("\n")}\n${(lines[3] ?? "").slice(0, 40)}\n`);
  const second = await run(...words);
  expect(second.out.split("\n").filter((line) => line.startsWith("exploited"))).toHaveLength(
    total - 2,
  );
  await expect(run("run", "--demo", "hardened", "--resume", file)).rejects.toThrow(
    "not the beginning",
  );
});

test("a resumed run performs a document again that changed, or whose settings did", async () => {
  const file = join(folder, "changed.jsonl");
  const finished = async (text: string, ...flags: string[]): Promise<boolean> => {
    const words = ["run", write("changed.yaml", text), "--demo", "vulnerable", "--resume", file];
    const { out } = await run(...words, ...flags, "--json");
    // An entry of the file has no trace to give.
    return !out.includes('"trace"');
  };
  await run("new", join(folder, "new.yaml"), "--force");
  const first = readFileSync(join(folder, "new.yaml"), "utf8");
  expect(await finished(first, "--trace")).toBe(false);
  expect(await finished(first, "--trace")).toBe(true);
  const payload = first.replace("Please read report.txt", "Please read other.txt");
  expect(payload).not.toBe(first);
  expect(await finished(payload, "--trace")).toBe(false);
  for (const flags of [["--strict"], ["--header", "x-a: b"], ["--repeat", "2"], ["--idle", "5"]]) {
    expect(await finished(payload, "--trace", ...flags)).toBe(false);
    expect(await finished(payload, "--trace", ...flags)).toBe(true);
  }
  expect(await finished(first, "--trace")).toBe(true);
});

test("through a gateway both outcomes are shown, with the receipts the gateway named", async () => {
  const agent = await serveAgent(createVulnerableAgent());
  const gateway = await startFakeAgent(({ body }) => {
    if (!body.includes("transfer_funds")) {
      const { threadId, runId } = JSON.parse(body) as Record<string, string>;
      const said = { type: "TEXT_MESSAGE_CHUNK", messageId: "m", delta: "Hello." };
      const events = [{ type: "RUN_STARTED" }, said, { type: "RUN_FINISHED" }];
      return { pieces: events.map((event) => sseFrame({ ...event, threadId, runId })) };
    }
    const problem = { code: "ERR_INBOUND_BLOCKED", title: "no", receipt: "rcpt_01TEST" };
    return { status: 403, pieces: [JSON.stringify(problem)] };
  });
  const words = ["run", "--target", agent.url, "--through", gateway.url, "--filter", "agui-001"];
  const ran = await run(...words);
  expect(ran.code).toBe(0);
  expect(ran.out).toMatch(/exploited\s+→ \S*blocked.*by ERR_INBOUND_BLOCKED; receipt rcpt_01TEST/);
  expect(ran.out).toMatch(/closed by\s+documents\s+ERR_INBOUND_BLOCKED\s+1/);
  expect(ran.out).not.toContain("open findings");
  await Promise.all([agent.close(), gateway.stop()]);
});

test("what works through the gateway too is named at the end, and a notice by its rule", async () => {
  const agent = await serveAgent(createVulnerableAgent());
  const notice = { type: "CUSTOM", name: "countersign.blocked", value: { rule: "a.rule" } };
  const gateway = await startFakeAgent(({ body }) => {
    const { threadId, runId } = JSON.parse(body) as Record<string, string>;
    const ids = { threadId, runId };
    const fooled = [
      { type: "TOOL_CALL_START", toolCallId: "c", toolCallName: "export_customers" },
      { type: "TOOL_CALL_END", toolCallId: "c" },
    ];
    const said = body.includes("export_customers") ? fooled : [notice];
    const events = [{ type: "RUN_STARTED", ...ids }, ...said, { type: "RUN_FINISHED", ...ids }];
    return { pieces: events.map((event) => sseFrame(event)) };
  });
  const words = [
    "run",
    "--target",
    agent.url,
    "--through",
    gateway.url,
    "--filter",
    "agui-017,agui-020",
  ];
  const ran = await run(...words);
  expect(ran.out).toMatch(/AGUI-020 .* by a\.rule/);
  expect(ran.out).toMatch(/open findings: 1\S*\n {2}AGUI-017 .*\n.*ag_ui_request\.state\.keys/);
  await Promise.all([agent.close(), gateway.stop()]);
});

test("a target that refuses everybody has resisted nothing", async () => {
  const wall = await startFakeAgent(() => ({ status: 403, pieces: ["no"] }));
  const ran = await run("run", "--target", wall.url, "--filter", "agui-001");
  expect(ran.code).toBe(2);
  expect(ran.out).toContain("does not answer a harmless request");
  await wall.stop();
});

test("the same documents run over GET and WebSocket", async () => {
  const agents = [
    await serveAgent(createVulnerableAgent()),
    await serveAgent(createHardenedAgent()),
  ];
  const codes: number[] = [];
  for (const { url, webSocketUrl } of agents) {
    const filter = ["--filter", "AGUI-001,AGUI-013,AGUI-027,AGUI-030"];
    codes.push((await run("run", "--target", url, "--transport", "get", ...filter)).code);
    codes.push((await run("run", "--target", webSocketUrl, ...filter)).code);
  }
  expect(codes).toEqual([1, 1, 0, 0]);
  await Promise.all(agents.map((agent) => agent.close()));
});

test("a new document is valid and works at once", async () => {
  const file = join(folder, "attack.yaml");
  await run("new", file, "--id", "ACME-042");
  const checked = await run("validate", file, "--json");
  expect([checked.code, json(checked)["ok"]]).toEqual([0, true]);
  expect((await run("run", file, "--demo", "vulnerable")).code).toBe(1);
  expect((await run("run", file, "--demo", "hardened")).code).toBe(0);
  await expect(run("new", file)).rejects.toThrow("--force");
});

test("validate names the place of every problem, list says what would run", async () => {
  const bad = await run("validate", write("bad.yaml", 'oatf: "0.9"\nattack: {}\n'));
  expect(bad.code).toBe(1);
  expect(bad.out).toContain("V-001");
  const listed = await run("list", "--filter", "severity:critical", "--json");
  expect((json(listed)["documents"] as JsonValue[]).length).toBeGreaterThan(10);
  await expect(run("validate", join(folder, "nowhere"))).rejects.toThrow("there is no");
});
