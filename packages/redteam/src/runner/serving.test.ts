import type { JsonObject } from "@countersign/core";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { expect, test } from "vitest";
import type { DocumentResult } from "./run-document.js";
import { runDriven, UNSEEN, user } from "./testing/driven.js";

const CALLS_PAY =
  "{protocol: mcp, direction: request, surface: tools/call, target: name, pattern: {condition: pay}}";
const responses = [{ content: "poison" }];
const tool = (more: JsonObject = {}): JsonObject => ({
  name: "a",
  description: "obey",
  inputSchema: { type: "object" },
  ...more,
});
const withTool = (more: JsonObject = {}): JsonObject => ({ tools: [tool({ responses, ...more })] });

/** Runs a document with an MCP server of these states, each until a tool is called, against an agent that asks it. */
function asked(
  states: readonly JsonObject[],
  ask: (client: Client) => Promise<unknown>,
  indicator = UNSEEN,
): Promise<DocumentResult> {
  const phases = states.map((state, index) => ({
    state,
    ...(index < states.length - 1 ? { trigger: { event: "tools/call" } } : {}),
  }));
  return runDriven(
    [{ name: "poison", mode: "mcp_server", phases }, user("Hi")],
    async ({ mcp }) => {
      const client = new Client({ name: "test", version: "1" });
      const url = new URL(mcp["poison"] ?? "");
      await client.connect(new StreamableHTTPClientTransport(url) as never);
      await ask(client);
      await client.close();
      return "done";
    },
    {},
    indicator,
  );
}
const call = (client: Client): Promise<unknown> => client.callTool({ name: "a", arguments: {} });
const list = (client: Client): Promise<unknown> => client.listTools();
const inOrder =
  (...steps: ((client: Client) => Promise<unknown>)[]) =>
  async (client: Client): Promise<void> => {
    for (const step of steps) await step(client);
  };

test.each([
  ["descriptions of tools", { tools: [tool()] }],
  ["responses of tools", withTool()],
  ["resources", { resources: [{ uri: "doc://a", name: "A", description: "obey" }] }],
  ["prompts", { prompts: [{ name: "p", description: "obey" }] }],
  ["templates", { resource_templates: [{ uriTemplate: "doc://{a}", description: "obey" }] }],
] as [string, JsonObject][])("a handshake alone does not deliver %s", async (_, state) => {
  for (const indicator of [UNSEEN, CALLS_PAY]) {
    const ran = await asked([state], inOrder(), indicator);
    expect([ran.outcome, ran.reason]).toEqual(["error", expect.stringContaining("asked for none")]);
  }
});

test("a handshake delivers instructions, and a list the descriptions in it", async () => {
  expect((await asked([{ instructions: "obey" }], inOrder())).outcome).toBe("not_exploited");
  expect((await asked([{ tools: [tool()] }], list)).outcome).toBe("not_exploited");
});

test("a description that changes has to be listed again; responses that change do not", async () => {
  const changed = withTool({ description: "obey twice" });
  const stale = await asked([withTool(), changed], inOrder(list, call, call));
  expect([stale.outcome, stale.reason]).toEqual(["error", expect.stringContaining("its tools")]);
  const fresh = await asked([withTool(), changed], inOrder(list, call, list, call));
  expect([fresh.outcome, fresh.reason]).toEqual(["not_exploited", undefined]);
  const more = withTool({ responses: [{ content: "more" }] });
  expect((await asked([withTool(), more], inOrder(list, call, call))).outcome).toBe(
    "not_exploited",
  );
});

test.each([
  "{protocol: mcp, surface: tools/call, target: 'content[*].text', pattern: {contains: zzz}}",
  "{protocol: mcp, surface: tools/list, target: 'tools[*].name', pattern: {contains: zzz}}",
  "{protocol: mcp, direction: request, surface: tools/list, target: tools, pattern: {contains: zzz}}",
  "{protocol: mcp, direction: request, surface: sampling/createMessage, target: messages, pattern: {contains: zzz}}",
  "{protocol: mcp, direction: request, surface: tools/call, target: '', expression: {cel: 'has(message.content)'}}",
  "{protocol: mcp, direction: request, surface: tools/call, target: name, pattern: {regex: 'a^b'}}",
  "{protocol: mcp, actor: user, target: arguments, pattern: {contains: zzz}}",
  "{protocol: ag_ui, actor: poison, target: toolCallName, pattern: {contains: zzz}}",
  "{protocol: ag_ui, actor: poison, target: response.content, pattern: {contains: zzz}}",
])(
  "an indicator that no message of the agent can match makes no defence: %s",
  async (indicator) => {
    for (const indicators of [indicator, `${UNSEEN}, ${indicator}`]) {
      const ran = await asked([withTool()], inOrder(list, call), indicators);
      expect([ran.outcome, ran.reason]).toEqual(["error", expect.stringContaining("indicator-")]);
    }
  },
);

/** Speaks MCP without a stream for messages of the server. */
async function askDeaf(url: string): Promise<void> {
  let session: Record<string, string> = {};
  const post = async (message: object): Promise<void> => {
    const accept = "application/json, text/event-stream";
    const headers = { "content-type": "application/json", accept, ...session };
    const body = JSON.stringify({ jsonrpc: "2.0", ...message });
    const response = await fetch(url, { method: "POST", headers, body });
    session = { "mcp-session-id": response.headers.get("mcp-session-id") ?? "" };
    await response.text();
  };
  const params = {
    protocolVersion: "2025-11-25",
    capabilities: {},
    clientInfo: { name: "a", version: "1" },
  };
  await post({ id: 1, method: "initialize", params });
  const kept = session;
  for (const message of [
    { method: "notifications/initialized" },
    { id: 2, method: "tools/list", params: {} },
    { id: 3, method: "tools/call", params: { name: "a", arguments: {} } },
  ]) {
    session = kept;
    await post(message);
  }
}

test.each([
  ["elicitation/create", "error"],
  ["sampling/createMessage", "error"],
  ["notifications/message", "error"],
  ["notifications/tools/list_changed", "not_exploited"],
])("%s to an agent that does not listen: %s", async (method, outcome) => {
  const params = { message: "obey", level: "info", data: "x" };
  const phases = [
    { state: withTool(), trigger: { event: "tools/call" } },
    { on_enter: [{ send: { method, params } }] },
  ];
  const ran = await runDriven(
    [{ name: "poison", mode: "mcp_server", phases }, user("Hi")],
    async ({ mcp }) => {
      await askDeaf(mcp["poison"] ?? "");
      return "done";
    },
  );
  const isNamed = ran.reason?.includes(method) ?? false;
  expect([ran.outcome, isNamed]).toEqual([outcome, outcome === "error"]);
});

test.each([
  ["a description", withTool({ description: { synthesize: { prompt: "persuade" } } })],
  [
    "a response",
    withTool({
      responses: [{ content: { content: [{ type: "text", synthesize: { prompt: "p" } }] } }],
    }),
  ],
])("a server never sends synthesize in %s", async (_, state) => {
  const ran = await asked([state], async (client) => {
    await list(client).catch(() => {});
    await call(client).catch(() => {});
  });
  expect([ran.outcome, ran.reason]).toEqual(["unsupported", expect.stringContaining("synthesize")]);
  const sent = ran.execution?.trace.filter(({ direction }) => direction === "response");
  expect(JSON.stringify(sent)).not.toContain("synthesize");
});
