// An agent as a process of its own, so that a test can kill or stop it. Streams words for ever, or, for
// threads that begin with "short", one message. Argument: the port (0 takes a free one); prints the port.
import { createServer } from "node:http";

const frame = (event) => `data: ${JSON.stringify(event)}\n\n`;

const server = createServer(async (request, response) => {
  let body = "";
  for await (const part of request) body += part;
  const { threadId, runId } = JSON.parse(body);
  const messageId = `m-${runId}`;
  response.writeHead(200, { "content-type": "text/event-stream" });
  response.write(frame({ type: "RUN_STARTED", threadId, runId }));
  response.write(frame({ type: "TEXT_MESSAGE_START", messageId, role: "assistant" }));
  if (threadId.startsWith("short")) {
    response.write(frame({ type: "TEXT_MESSAGE_CONTENT", messageId, delta: "hello" }));
    response.write(frame({ type: "TEXT_MESSAGE_END", messageId }));
    response.end(frame({ type: "RUN_FINISHED", threadId, runId }));
    return;
  }
  let count = 0;
  const timer = setInterval(() => {
    count += 1;
    response.write(frame({ type: "TEXT_MESSAGE_CONTENT", messageId, delta: `word ${count}` }));
  }, 2);
  response.on("close", () => clearInterval(timer));
});
server.listen(Number(process.argv[2] ?? 0), "127.0.0.1", () => {
  process.stdout.write(`${server.address().port}\n`);
});
