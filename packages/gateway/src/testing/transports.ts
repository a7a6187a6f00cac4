import { parseJson } from "@countersign/core";
import { createProtoDecoder, encodeProto } from "@countersign/wire/proto";
import type { AgUiEvent } from "@countersign/wire";
import type { FakeAnswer } from "@countersign/testkit";
import { sseFrame } from "@countersign/testkit";
import { WebSocket } from "ws";
import type { UpstreamTarget } from "../agent/upstream.js";

/** The transport of each kind of agent, and its encoding of events. */
export const AGENT_TRANSPORTS: Record<
  string,
  { target: Partial<UpstreamTarget>; answer: (events: readonly object[]) => FakeAnswer }
> = {
  "POST + SSE": { target: {}, answer: (events) => ({ pieces: events.map(sseFrame) }) },
  "POST + protobuf": {
    target: { accept: "protobuf" },
    answer: (events) => ({
      headers: { "content-type": "application/vnd.ag-ui.event+proto" },
      pieces: events.map((event) => encodeProto(event as AgUiEvent)),
    }),
  },
  "GET + SSE": {
    target: { transport: "get-sse" },
    answer: (events) => ({ pieces: events.map(sseFrame) }),
  },
  "WebSocket, JSON frames": {
    target: { transport: "websocket", frames: "json" },
    answer: (events) => ({ pieces: events.map((event) => JSON.stringify(event)) }),
  },
  "WebSocket, data frames": {
    target: { transport: "websocket", frames: "data" },
    answer: (events) => ({ pieces: events.map(sseFrame) }),
  },
};

type Ask = (
  urls: { http: string; ws: string },
  input: { threadId: string; runId: string },
) => Promise<object[]>;

/** The ways in which a client requests a run; the session is named after the thread. */
export const CLIENT_TRANSPORTS: Record<string, Ask> = {
  "POST + SSE": async ({ http }, input) => {
    const response = await post(
      `${http}/agents/support?session=${input.threadId}`,
      input,
      "text/event-stream",
    );
    return sseEvents(await response.text());
  },
  "POST + protobuf": async ({ http }, input) => {
    const type = "application/vnd.ag-ui.event+proto";
    const response = await post(`${http}/ag-ui/run?session=${input.threadId}`, input, type);
    const decoder = createProtoDecoder();
    return decoder.push(new Uint8Array(await response.arrayBuffer()));
  },
  "GET + SSE": async ({ http }, { threadId, runId }) => {
    const response = await fetch(`${http}/ag-ui/stream?session=${threadId}&run=${runId}`);
    return sseEvents(await response.text());
  },
  WebSocket: ({ ws }, input) => socketRun(`${ws}/ws?session=${input.threadId}`, input),
};

/** Sends an input as a client would. */
export function post(
  url: string,
  input: object,
  accept = "text/event-stream",
  signal?: AbortSignal,
): Promise<Response> {
  return fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json", accept },
    body: JSON.stringify({ protocolVersion: "1.0", messages: [], ...input }),
    ...(signal === undefined ? {} : { signal }),
  });
}

/** The events in an SSE text. */
export function sseEvents(body: string): { type: string; [field: string]: unknown }[] {
  return body
    .split("\n\n")
    .filter((block) => block.startsWith("data: "))
    .map((block) => parseJson(block.slice(6)) as { type: string });
}

/** Sends an input on a socket and collects events up to the terminal one. */
export function socketRun(url: string, input: object): Promise<object[]> {
  return new Promise((resolve, reject) => {
    const socket = new WebSocket(url);
    const events: object[] = [];
    socket.on("open", () =>
      socket.send(JSON.stringify({ protocolVersion: "1.0", messages: [], ...input })),
    );
    socket.on("message", (data) => {
      const event = JSON.parse(String(data)) as { type: string };
      events.push(event);
      if (event.type === "RUN_FINISHED" || event.type === "RUN_ERROR") socket.close();
    });
    socket.on("close", () => resolve(events));
    socket.on("error", reject);
  });
}
