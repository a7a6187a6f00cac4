// An AG-UI agent for a first look: it answers with text, and tries to open another page, which the policy blocks.
import { createServer } from "node:http";

const MAX_BODY_BYTES = 1024 * 1024;

createServer(async (request, response) => {
  const parts = [];
  let size = 0;
  for await (const part of request) {
    size += part.length;
    if (size > MAX_BODY_BYTES) return void response.writeHead(413).end();
    parts.push(part);
  }
  const { threadId, runId } = JSON.parse(Buffer.concat(parts).toString());
  response.writeHead(200, { "content-type": "text/event-stream" });
  const send = (event) => response.write(`data: ${JSON.stringify(event)}\n\n`);
  send({ type: "RUN_STARTED", threadId, runId });
  send({ type: "TEXT_MESSAGE_START", messageId: `${runId}-1`, role: "assistant" });
  send({
    type: "TEXT_MESSAGE_CONTENT",
    messageId: `${runId}-1`,
    delta: "Your order is on its way.",
  });
  send({ type: "TEXT_MESSAGE_END", messageId: `${runId}-1` });
  send({ type: "TOOL_CALL_START", toolCallId: `${runId}-2`, toolCallName: "navigate_to" });
  send({
    type: "TOOL_CALL_ARGS",
    toolCallId: `${runId}-2`,
    delta: '{"url":"https://elsewhere.example/"}',
  });
  send({ type: "TOOL_CALL_END", toolCallId: `${runId}-2` });
  send({ type: "RUN_FINISHED", threadId, runId });
  response.end();
}).listen(Number(process.env.PORT ?? 8000));
