import { request as requestHttp } from "node:http";
import type { ClientRequest, IncomingMessage } from "node:http";
import { request as requestHttps } from "node:https";
import { CountersignError } from "@countersign/core";
import { createSseDecoder } from "@countersign/wire/sse";
import type { Channel, ChannelOptions, RunRequest, RunSink } from "./channel.js";
import { connectionError, createStopwatch } from "./stopwatch.js";

const MOST_OF_A_REFUSAL = 65_536;

/** One connection per request; events come back as SSE. */
export function createHttpChannel(options: ChannelOptions, method: "POST" | "GET"): Channel {
  const open = new Set<ClientRequest>();
  return {
    kind: method === "POST" ? "post" : "get",
    start(run, sink) {
      const request = send(options, method, run);
      open.add(request);
      let isOver = false;
      const end = (failure?: CountersignError): void => {
        if (isOver) return;
        isOver = true;
        stopwatch.stop();
        open.delete(request);
        request.destroy();
        sink.ended(failure);
      };
      const stopwatch = createStopwatch(options.timeouts, end);
      stopwatch.expect("connect");
      request.on("socket", (socket) => {
        const secure = request.protocol === "https:";
        socket.once(secure ? "secureConnect" : "connect", () => stopwatch.expect("firstByte"));
      });
      request.on("error", (error) => end(connectionError(error)));
      request.on("response", (response) => {
        const status = response.statusCode ?? 0;
        response.on("data", () => stopwatch.expect("idle"));
        response.on("error", (error) => end(connectionError(error)));
        if (status >= 200 && status < 300) readStream(response, options, sink, end);
        else readRefusal(response, status, sink, end);
      });
      return () => end();
    },
    sendFrame: () => false,
    close() {
      for (const request of open) request.destroy();
    },
  };
}

function send(options: ChannelOptions, method: "POST" | "GET", run: RunRequest): ClientRequest {
  const url = new URL(options.target);
  const headers: Record<string, string> = {
    accept: "text/event-stream",
    "accept-encoding": "identity",
    ...options.headers,
  };
  if (method === "GET") {
    // An EventSource has no body: what selects the run rides in the query.
    url.searchParams.set("threadId", run.threadId);
    url.searchParams.set("runId", run.runId);
    url.searchParams.set("input", run.body);
  } else {
    headers["content-type"] = "application/json";
    headers["content-length"] = String(Buffer.byteLength(run.body));
  }
  Object.assign(headers, run.headers);
  const request = url.protocol === "https:" ? requestHttps : requestHttp;
  // A connection of its own: nothing of one document may reach the next.
  const sent = request(url, { method, headers, agent: false });
  sent.end(method === "POST" ? run.body : undefined);
  return sent;
}

type End = (failure?: CountersignError) => void;

function readStream(
  response: IncomingMessage,
  options: ChannelOptions,
  sink: RunSink,
  end: End,
): void {
  const { maxFrameBytes } = options.limits;
  const decoder = createSseDecoder({ maxFrameBytes, maxLineBytes: maxFrameBytes });
  const take = (read: () => readonly { readonly data: string }[]): boolean => {
    try {
      for (const { data } of read()) if (data !== "" && data !== "[DONE]") sink.text(data);
      if (decoder.failure === undefined) return true;
    } catch {
      // The decoder says below that it is dead.
    }
    const message = "the target's stream cannot be read";
    end(new CountersignError("ERR_REDTEAM_STREAM", message, { reason: "frame" }));
    return false;
  };
  response.on("data", (chunk: Buffer) => take(() => decoder.push(chunk)));
  response.on("end", () => {
    if (take(() => decoder.end())) end();
  });
}

function readRefusal(response: IncomingMessage, status: number, sink: RunSink, end: End): void {
  let body = "";
  const finish = (): void => {
    sink.refused(status, body);
    end();
  };
  response.setEncoding("utf8");
  response.on("data", (text: string) => {
    body += text;
    if (body.length < MOST_OF_A_REFUSAL) return;
    body = body.slice(0, MOST_OF_A_REFUSAL);
    response.removeAllListeners("end");
    finish();
  });
  response.on("end", finish);
}
