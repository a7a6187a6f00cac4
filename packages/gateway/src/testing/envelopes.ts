import type { Server } from "node:http";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { WebSocketServer } from "ws";
import type { WebSocket } from "ws";

/** An envelope with defaults for the fields that a test leaves out. */
export function envelope(id: string, fields: object): Record<string, unknown> {
  return {
    event_id: id,
    timestamp: 1_744_993_921,
    agent_id: "agent-support",
    session_id: "sess_01",
    event_type: "text_stream",
    target: { component_type: "chat-window", component_id: "main" },
    classification: "display",
    payload: { text: "I'll check your order status now." },
    ...fields,
  };
}

/** The three samples of the guide: text, a created form, and a prompt with a button. */
export const SAMPLES = [
  envelope("evt_01HZ8A1", {}),
  envelope("evt_01HZ8A2", {
    event_type: "lifecycle",
    target: { component_type: "form", component_id: "refund-request" },
    classification: "create",
    payload: { fields: ["order_id", "reason", "amount"] },
  }),
  envelope("evt_01HZ8A3", {
    event_type: "form_action",
    target: { component_type: "modal", component_id: "confirm-refund" },
    classification: "submit",
    payload: { prompt: "Issue $42.50 refund to order #1024?" },
  }),
];

/** An agent that streams envelopes on a socket, and keeps the messages it receives. */
export type EnvelopeAgent = {
  readonly url: URL;
  readonly received: unknown[];
  readonly paths: string[];
  stop(): Promise<void>;
};

/** Starts the agent; `stream` handles each socket. */
export async function startEnvelopeAgent(
  stream: (socket: WebSocket) => void,
): Promise<EnvelopeAgent> {
  const server: Server = createServer();
  const sockets = new WebSocketServer({ server });
  const received: unknown[] = [];
  const paths: string[] = [];
  sockets.on("connection", (socket, request) => {
    paths.push(request.url ?? "");
    socket.on("message", (data) => void received.push(JSON.parse(String(data))));
    stream(socket);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: new URL(`ws://127.0.0.1:${port}/ui`),
    received,
    paths,
    stop: () =>
      new Promise((resolve) => {
        for (const socket of sockets.clients) socket.terminate();
        server.close(() => resolve());
      }),
  };
}
