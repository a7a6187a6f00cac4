import { CountersignError } from "@countersign/core";
import { decodeTextFrame } from "@countersign/wire/websocket";
import { WebSocket } from "ws";
import type { Channel, ChannelOptions, RunRequest, RunSink } from "./channel.js";
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
    // A socket that another one has replaced has nothing more to say.
    const ifCurrent = (act: () => void): void => {
      if (socket === opened) act();
    };
    opened.on("message", (data, isBinary) => ifCurrent(() => receive(data.toString(), isBinary)));
    opened.on("unexpected-response", (request, response) => {
      const { statusCode = 0 } = response;
      request.destroy();
      ifCurrent(() => {
        current?.sink.refused(statusCode, "");
        current?.end();
      });
    });
    opened.on("error", (error) => ifCurrent(() => current?.end(connectionError(error))));
    opened.on("close", () =>
      ifCurrent(() => {
        socket = undefined;
        current?.end();
      }),
    );
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
      const isOpen = socket?.readyState === WebSocket.OPEN;
      // Headers travel with the opening request only.
      if (isOpen && Object.keys(run.headers).length === 0) ready();
      else {
        stopwatch.expect("connect");
        const replaced = socket;
        socket = connect(run);
        socket.once("open", ready);
        replaced?.terminate();
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
