// An MCP server whose tool brings a page of its own: an MCP App.
import { createServer } from "node:http";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";

const PAGE = "ui://shop/invoice";
const HTML = "text/html;profile=mcp-app";

/** The server; the caller listens. It keeps no state, so each request has a server of its own. */
export function createMcpServer() {
  return createServer(async (request, response) => {
    const transport = new StreamableHTTPServerTransport({ sessionIdGenerator: undefined });
    await shop().connect(transport);
    await transport.handleRequest(request, response);
  });
}

function shop() {
  const server = new McpServer({ name: "shop", version: "1.0.0" });
  const tool = {
    description: "Shows the invoice of an order",
    inputSchema: {},
    _meta: { ui: { resourceUri: PAGE } },
  };
  server.registerTool("show_invoice", tool, async () => ({
    content: [{ type: "text", text: "Invoice of order #1024: $42.50" }],
  }));
  const text =
    "<!doctype html><title>Invoice</title><p id=invoice>Invoice of order #1024: <b>$42.50</b></p>";
  server.registerResource("invoice", PAGE, { mimeType: HTML }, async () => ({
    contents: [{ uri: PAGE, mimeType: HTML, text }],
  }));
  return server;
}
