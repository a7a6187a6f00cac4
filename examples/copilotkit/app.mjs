// Agent, gateways, runtimes and page, each on a free port of this machine.
import { createHash, randomUUID } from "node:crypto";
import { createAgent } from "./agent.mjs";
import { startGateway } from "./gateway.mjs";
import { createMcpServer } from "./mcp-server.mjs";

// CopilotKit reads these while it loads, so they are set before it is imported: nothing leaves this machine.
process.env.COPILOTKIT_TELEMETRY_DISABLED = "true";
process.env.DO_NOT_TRACK = "1";

/** The agent's scopes in this session: one dialog, and its own view of the conversation. */
const SCOPES = [
  "ui:submit:modal:confirm-refund",
  "ui:submit:a2ui:Button:order/button",
  "ui:mutate:*",
];

/** Starts all parts; `port` is the page's, 0 takes a free one. */
export async function startApp(port) {
  const { createAppServer } = await import("./server.mjs");
  const agent = createAgent();
  const mcp = createMcpServer();
  const app = createAppServer();
  const url = await listen(app.server, port);
  const gateways = [];
  const close = async () => {
    for (const server of [app.server, agent.server, mcp]) end(server);
    for (const gateway of gateways) await gateway.close();
  };
  try {
    const directUrl = await listen(agent.server, 0);
    const mcpUrl = await listen(mcp, 0);
    const behind = await startGateway({ agents: { support: { url: directUrl } } }, "policy.yaml");
    gateways.push(behind);
    const inFront = await startGateway(
      {
        agents: {
          support: {
            url: `${url}api/plain`,
            kind: "copilotkit-runtime",
            runtime_agents: ["support"],
            profile: "mcp-apps",
          },
        },
        origins: [new URL(url).origin],
      },
      "policy-in-front.yaml",
      { MCP_SERVER_HASH: hashOfServer(`${mcpUrl}mcp`) },
    );
    gateways.push(inFront);
    // An app with logins would use its own session id, and ask for a token when the person may get a refund.
    const session = `copilotkit-${randomUUID()}`;
    for (const gateway of gateways) {
      await gateway.control("/v1/capabilities", {
        agent: "support",
        session_id: session,
        // This example has no login, so no session has an owner. An app with logins names the principal.
        allow_unowned_session: true,
        scopes: SCOPES,
        expires_in: 3600,
      });
    }
    app.serve({
      behindUrl: `${behind.url}?session=${session}`,
      directUrl,
      mcpUrl,
      inFront: { url: inFront.url, session },
    });
    const receiptsOf = (gateway) => (query) =>
      gateway.control(`/v1/receipts?${new URLSearchParams(query)}`);
    return {
      url,
      gatewayUrl: inFront.url,
      agent: agent.counts,
      closeAgent: () => end(agent.server),
      receipts: receiptsOf(behind),
      receiptsInFront: receiptsOf(inFront),
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/** The name of an MCP server that CopilotKit's runtime sends to pages beside its id. */
function hashOfServer(url) {
  return createHash("md5")
    .update(JSON.stringify({ type: "http", url }))
    .digest("hex");
}

function listen(server, port) {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, "127.0.0.1", () => resolve(`http://127.0.0.1:${server.address().port}/`));
  });
}

function end(server) {
  server.closeAllConnections();
  server.close();
}
