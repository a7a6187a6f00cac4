// Agent, gateway, runtime and page, each on a free port of this machine.
import { randomUUID } from "node:crypto";
import { createAgent } from "./agent.mjs";
import { startGateway } from "./gateway.mjs";

// CopilotKit reads these while it loads, so they are set before it is imported: nothing leaves this machine.
process.env.COPILOTKIT_TELEMETRY_DISABLED = "true";
process.env.DO_NOT_TRACK = "1";

/** The agent's scopes in this session: one dialog, and its own view of the conversation. */
const SCOPES = ["ui:submit:modal:confirm-refund", "ui:mutate:*"];

/** Starts the four; `port` is the page's, 0 takes a free one. */
export async function startApp(port) {
  const { createAppServer } = await import("./server.mjs");
  const agent = createAgent();
  const directUrl = await listen(agent.server, 0);
  const gateway = await startGateway(directUrl);
  // An app with logins would use its own session id, and ask for a token when the person may get a refund.
  const session = `copilotkit-${randomUUID()}`;
  await gateway.control("/v1/capabilities", {
    agent: "support",
    session_id: session,
    // This example has no login, so no session has an owner. An app with logins names the principal.
    allow_unowned_session: true,
    scopes: SCOPES,
    expires_in: 3600,
  });
  const server = createAppServer({ guardedUrl: gateway.urlFor(session), directUrl });
  const closeAgent = () => end(agent.server);
  const close = async () => {
    end(server);
    closeAgent();
    await gateway.close();
  };
  const url = await listen(server, port).catch(async (error) => {
    await close();
    throw error;
  });
  return {
    url,
    agent: agent.counts,
    closeAgent,
    receipts: (query) => gateway.control(`/v1/receipts?${new URLSearchParams(query)}`),
    close,
  };
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
