/**
 * An agent as AgentCore Runtime hosts it: `POST /invocations` is answered by SSE, `/ws` carries bare JSON events and stays open for
 * the next run, `GET /ping` tells that it is well. What it says is scripted; the platform's header names the session.
 */
import { createServer } from "node:http";
import { pathToFileURL } from "node:url";
import { WebSocketServer } from "ws";

const SESSION = "x-amzn-bedrock-agentcore-runtime-session-id";
const MAX_BYTES = 1024 * 1024;

/** The events of one run. Asked to `open` something it tries to lead the person to another page. */
function* eventsOf(input, session) {
  const { threadId, runId } = input;
  const messageId = `answer-${runId}`;
  const question = input.messages.findLast(({ role }) => role === "user")?.content ?? "";
  yield { type: "RUN_STARTED", threadId, runId };
  yield { type: "STATE_SNAPSHOT", snapshot: {} };
  if (/\bopen\b/i.test(question)) {
    const toolCallId = `call-${runId}`;
    yield { type: "TOOL_CALL_START", toolCallId, toolCallName: "navigate_to" };
    yield { type: "TOOL_CALL_ARGS", toolCallId, delta: '{"url":"https://login.example.net/"}' };
    yield { type: "TOOL_CALL_END", toolCallId };
  }
  yield { type: "TEXT_MESSAGE_START", messageId, role: "assistant" };
  for (const delta of ["You are in ", "session ", `${session ?? "without a name"}.`]) {
    yield { type: "TEXT_MESSAGE_CONTENT", messageId, delta };
  }
  yield { type: "TEXT_MESSAGE_END", messageId };
  yield { type: "RUN_FINISHED", threadId, runId };
}

/** Serves the agent on a port of this machine; resolves when it listens. */
export async function startAgent(port) {
  const server = createServer((request, response) => {
    if (request.method === "GET" && request.url === "/ping") {
      return void answer(response, 200, { status: "Healthy" });
    }
    if (request.method === "POST" && request.url === "/invocations") {
      return void invoke(request, response);
    }
    return void answer(response, 404, { error: "not found" });
  });
  const sockets = new WebSocketServer({ server, path: "/ws", maxPayload: MAX_BYTES });
  sockets.on("connection", (socket, { headers }) => {
    socket.on("error", () => socket.terminate());
    socket.on("message", (data) => {
      const input = parse(data);
      if (input === undefined) return socket.close(1003, "a RunAgentInput is expected");
      for (const event of eventsOf(input, headers[SESSION])) socket.send(JSON.stringify(event));
    });
  });
  await new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, "127.0.0.1", resolve);
  });
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    async close() {
      for (const socket of sockets.clients) socket.terminate();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function invoke(request, response) {
  const input = parse(await bodyOf(request));
  if (input === undefined) return answer(response, 400, { error: "a RunAgentInput is expected" });
  response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-store" });
  for (const event of eventsOf(input, request.headers[SESSION])) {
    response.write(`data: ${JSON.stringify(event)}\n\n`);
  }
  response.end();
}

/** The body of a request; nothing when it is too large. */
async function bodyOf(request) {
  const parts = [];
  let size = 0;
  for await (const part of request) {
    size += part.length;
    if (size > MAX_BYTES) return "";
    parts.push(part);
  }
  return Buffer.concat(parts);
}

function parse(data) {
  try {
    const input = JSON.parse(String(data));
    return Array.isArray(input?.messages) ? input : undefined;
  } catch {
    return undefined;
  }
}

function answer(response, status, body) {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const { url } = await startAgent(Number(process.env.AGENT_PORT ?? 8000));
  process.stdout.write(`agent listening ${url}\n`);
}
