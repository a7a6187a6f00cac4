import { randomUUID } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { AgentExecutor } from "@a2a-js/sdk/server";
import { parseJson } from "@countersign/core";
import type { JsonObject } from "@countersign/core";
import { encodeSse } from "@countersign/wire/sse";
import { textMember } from "../oatf/json/values.js";
import { textMessage, textsIn } from "./a2a-message.js";
import type { AgentLogic } from "./turn.js";

const SKILL = { id: "ask", name: "Ask", description: "Asks the assistant a question." };
const MODES = ["text/plain"];

/** The path at which a demo agent is an MCP server with one tool, `ask`. */
export const MCP_PATH = "/mcp";
/** The path at which it is an A2A agent. */
export const A2A_PATH = "/a2a";
const CARD_PATH = "/.well-known/agent-card.json";

/** Whether a request is for MCP or A2A. */
export function isForFront(path: string): boolean {
  return path === MCP_PATH || path === A2A_PATH || path === CARD_PATH;
}

/** Answers other agents as it answers a user: by the text of its run. */
export async function answerFront(
  logic: AgentLogic,
  request: IncomingMessage,
  response: ServerResponse,
  path: string,
  body: string,
): Promise<void> {
  if (path === MCP_PATH) return answerMcp(logic, request, response, body);
  const origin = `http://${request.headers.host ?? "127.0.0.1"}`;
  const { handler, card } = await createA2aHandler(logic, origin);
  if (path === CARD_PATH) return sendJson(response, card);
  const { ServerCallContext } = await import("@a2a-js/sdk/server");
  const answer = await handler.handle(body, new ServerCallContext());
  if (!(Symbol.asyncIterator in answer)) return sendJson(response, answer);
  response.writeHead(200, { "content-type": "text/event-stream" });
  for await (const item of answer) response.write(encodeSse(JSON.stringify(item)));
  response.end();
}

/** The text of the run that a text starts. */
async function ask(logic: AgentLogic, text: string): Promise<string> {
  const input = {
    threadId: randomUUID(),
    runId: randomUUID(),
    messages: [{ id: randomUUID(), role: "user", content: text }],
    tools: [],
    context: [],
    state: {},
    forwardedProps: {},
  };
  const headers = { "content-type": "application/json" };
  const answer = await logic.answer({ method: "POST", headers, body: JSON.stringify(input) });
  if ("refusal" in answer) return `refused: ${answer.refusal.code}`;
  return answer.events.map((event) => textMember(event, "delta") ?? "").join("");
}

async function answerMcp(
  logic: AgentLogic,
  request: IncomingMessage,
  response: ServerResponse,
  body: string,
): Promise<void> {
  const [
    { McpServer },
    { StreamableHTTPServerTransport },
    { CallToolRequestSchema, ListToolsRequestSchema },
  ] = await Promise.all([
    import("@modelcontextprotocol/sdk/server/mcp.js"),
    import("@modelcontextprotocol/sdk/server/streamableHttp.js"),
    import("@modelcontextprotocol/sdk/types.js"),
  ]);
  const { server } = new McpServer(
    { name: "northwind-assistant", version: "1.0.0" },
    { capabilities: { tools: {} } },
  );
  const inputSchema = { type: "object" as const, properties: { text: { type: "string" } } };
  server.setRequestHandler(ListToolsRequestSchema, () => ({
    tools: [{ name: SKILL.id, description: SKILL.description, inputSchema }],
  }));
  server.setRequestHandler(CallToolRequestSchema, async ({ params }) => {
    const text = await ask(logic, String(params.arguments?.["text"] ?? ""));
    return { content: [{ type: "text", text }] };
  });
  const transport = new StreamableHTTPServerTransport({});
  response.on("close", () => void server.close().catch(() => {}));
  await server.connect(transport as never);
  await transport.handleRequest(request, response, body === "" ? undefined : parsed(body));
}

/** A body that is not JSON stays a text, which the SDK rejects. */
function parsed(body: string): unknown {
  try {
    return parseJson(body);
  } catch {
    return body;
  }
}

async function createA2aHandler(logic: AgentLogic, origin: string) {
  const [
    { DefaultRequestHandler, InMemoryTaskStore, AgentEvent },
    { parseLegacyAgentCard },
    legacy,
    { Role },
  ] = await Promise.all([
    import("@a2a-js/sdk/server"),
    import("@a2a-js/sdk/compat/v0_3/client"),
    import("@a2a-js/sdk/compat/v0_3/server"),
    import("@a2a-js/sdk"),
  ]);
  const card: JsonObject = {
    protocolVersion: "0.3.0",
    name: "northwind-assistant",
    description: "The assistant of a bank.",
    url: `${origin}${A2A_PATH}`,
    preferredTransport: "JSONRPC",
    version: "1.0.0",
    capabilities: { streaming: true },
    defaultInputModes: MODES,
    defaultOutputModes: MODES,
    skills: [{ ...SKILL, tags: [] }],
  };
  const executor: AgentExecutor = {
    async execute({ userMessage, contextId }, bus) {
      const text = await ask(logic, textsIn(userMessage));
      bus.publish(AgentEvent.message(textMessage(Role.ROLE_AGENT, text, contextId)));
      bus.finished();
    },
    async cancelTask() {
      // A run is over before another agent can cancel it.
    },
  };
  const requests = new DefaultRequestHandler(
    parseLegacyAgentCard(card),
    new InMemoryTaskStore(),
    executor,
  );
  return { handler: new legacy.LegacyJsonRpcTransportHandler(requests), card };
}

function sendJson(response: ServerResponse, value: unknown): void {
  response.writeHead(200, { "content-type": "application/json" });
  response.end(JSON.stringify(value));
}
