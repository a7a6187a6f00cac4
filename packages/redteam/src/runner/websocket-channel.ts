import { CountersignError } from "@countersign/core";
import { decodeTextFrame } from "@countersign/wire/websocket";
import { WebSocket } from "ws";
import type { Channel, ChannelOptions, RunRequest, RunSink } from "./channel.js";
import "./errors.js";
import { connectionError, createStopwatch } from "./stopwatch.js";

type Current = { readonly end: (failure?: CountersignError) => void; readonly sink: RunSink };

/**
 * One socket per actor, one frame per request. Frames hold a bare JSON event or SSE text; a socket that the
 * target closes after a run is opened anew for the next. What arrives belongs to the request sent last.
 */
export function createWebSocketChannel(options: ChannelOptions): Channel {
  let socket: WebSocket | undefined;
  let current: Current | undefined;

  const connect = (run: RunRequest): WebSocket => {
    const opened = new WebSocket(options.target.replace(/^http/i, "ws"), {
      headers: { ...options.headers, ...run.headers },
      maxPayload: options.limits.maxFrameBytes,
      perMessageDeflate: false,
      handshakeTimeout: options.timeouts.connect,
    });
    opened.on("message", (data, isBinary) => receive(data.toString(), isBinary));
    opened.on("unexpected-response", (request, response) => {
      const { statusCode = 0 } = response;
      current?.sink.refused(statusCode, "");
      request.destroy();
      current?.end();
    });
    opened.on("error", (error) => current?.end(connectionError(error)));
    opened.on("close", () => {
      if (socket === opened) socket = undefined;
      current?.end();
    });
    return opened;
  };
  const receive = (text: string, isBinary: boolean): void => {
    const { sink } = current ?? {};
    if (sink === undefined) return;
    try {
      if (isBinary) throw new TypeError("a binary frame");
      for (const json of decodeTextFrame(text)) sink.text(json);
    } catch {
      const message = "the target sent a frame that cannot be read";
      current?.end(new CountersignError("ERR_REDTEAM_STREAM", message, { reason: "frame" }));
    }
  };
  return {
    kind: "websocket",
    start(run, sink) {
      current?.end();
      let isOver = false;
      const end = (failure?: CountersignError): void => {
        if (isOver) return;
        isOver = true;
        stopwatch.stop();
        if (current === mine) current = undefined;
        sink.ended(failure);
      };
      const stopwatch = createStopwatch(options.timeouts, (late) => {
        end(late);
        socket?.terminate();
      });
      const watched: RunSink = {
        ...sink,
        text(json) {
          stopwatch.expect("idle");
          sink.text(json);
        },
      };
      const mine: Current = { end, sink: watched };
      current = mine;
      const ready = (): void => {
        stopwatch.expect("firstByte");
        socket?.send(run.body);
      };
      if (socket?.readyState === WebSocket.OPEN) ready();
      else {
        stopwatch.expect("connect");
        socket = connect(run);
        socket.once("open", ready);
      }
      return () => end();
    },
    sendFrame(json) {
      if (socket?.readyState !== WebSocket.OPEN) return false;
      socket.send(json);
      return true;
    },
    close: () => socket?.terminate(),
  };
}
