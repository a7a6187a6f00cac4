// An A2A agent (JSON-RPC, streaming) of A2A's own SDK, and AG-UI's adapter in front of it.
import { randomUUID } from "node:crypto";
import { createServer } from "node:http";
import { A2AAgent } from "@ag-ui/a2a";
import { A2AClient } from "@a2a-js/sdk/client";
import { A2AExpressApp, DefaultRequestHandler, InMemoryTaskStore } from "@a2a-js/sdk/server";
import express from "express";
import { nextTurn } from "../../model.mjs";
import { serve } from "../serve.mjs";

const executor = {
  execute: async ({ userMessage, taskId, contextId }, bus) => {
    const said = userMessage.parts.map(({ text }) => text ?? "").join("");
    const { text } = nextTurn({ messages: [{ role: "user", content: said }] });
    const parts = [{ kind: "text", text }];
    bus.publish({
      kind: "message",
      messageId: randomUUID(),
      role: "agent",
      parts,
      taskId,
      contextId,
    });
    bus.finished();
  },
  cancelTask: async () => undefined,
};
const app = express();
const server = createServer(app);
await new Promise((resolve) => {
  server.listen(0, "127.0.0.1", resolve);
});
const url = `http://127.0.0.1:${server.address().port}`;
const card = {
  name: "main",
  description: "A scripted agent",
  url: `${url}/`,
  version: "1.0.0",
  protocolVersion: "0.3.0",
  capabilities: { streaming: true },
  defaultInputModes: ["text"],
  defaultOutputModes: ["text"],
  skills: [],
};
new A2AExpressApp(new DefaultRequestHandler(card, new InMemoryTaskStore(), executor)).setupRoutes(
  app,
);

serve((input) => {
  const agent = new A2AAgent({ a2aClient: new A2AClient(url), initialMessages: input.messages });
  return agent.run(input);
});
