// AG-UI's MCP Apps middleware around CopilotKit's BuiltInAgent, with an MCP server whose tool brings a page of its own.
import { createServer } from "node:http";
import { MCPAppsMiddleware } from "@ag-ui/mcp-apps-middleware";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import { createBuiltInAgent } from "../copilotkit/built-in-agent.mjs";
import { serve } from "../serve.mjs";

const PAGE = "ui://shop/chart";
const HTML = "text/html;profile=mcp-app";

function createMcpServer() {
  const server = new McpServer({ name: "shop", version: "1.0.0" });
  server.registerTool(
    "show_chart",
    {
      description: "Shows a chart of sales",
      inputSchema: {},
      _meta: { ui: { resourceUri: PAGE } },
    },
    async () => ({ content: [{ type: "text", text: "sales: 3, 5, 8" }] }),
  );
  server.registerResource("chart", PAGE, { mimeType: HTML }, async () => ({
    contents: [{ uri: PAGE, mimeType: HTML, text: "<p>3, 5, 8</p>" }],
  }));
  return server;
}

const mcp = createServer(async (request, response) => {
  const transport = new StreamableHTTPServerTransport({ sessionIdGenerator: undefined });
  await createMcpServer().connect(transport);
  await transport.handleRequest(request, response);
});
await new Promise((resolve) => {
  mcp.listen(0, "127.0.0.1", resolve);
});
const url = `http://127.0.0.1:${mcp.address().port}/mcp`;
const mcpServers = [{ type: "http", url, serverId: "shop" }];

serve((input) => new MCPAppsMiddleware({ mcpServers }).run(input, createBuiltInAgent()));
