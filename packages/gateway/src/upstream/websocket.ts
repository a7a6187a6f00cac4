import { CountersignError } from "@countersign/core";
import { DEFAULT_LIMITS } from "@countersign/core";
import { WebSocket } from "ws";
import "./errors.js";
import type { UpstreamPiece, UpstreamRequest, UpstreamStream, UpstreamTarget } from "./upstream.js";

/** Frames waiting to be judged before the socket is paused; bounds memory per stream. */
const MAX_QUEUED_FRAMES = 256;

/** Opens one socket for one run and sends the input as its first frame. */
export async function openWebSocketStream(
  target: UpstreamTarget,
  request: UpstreamRequest,
): Promise<UpstreamStream> {
  const socket = await connect(target, request);
  const queue = createFrameQueue(target, socket, request.signal);
  socket.send(target.frames === "data" ? `data: ${request.body}\n\n` : request.body);
  return { headers: {}, pieces: queue, send: (text) => socket.send(text) };
}

function connect(target: UpstreamTarget, request: UpstreamRequest): Promise<WebSocket> {
  return new Promise((resolve, reject) => {
    const socket = new WebSocket(target.url, {
      headers: { ...target.headers },
      followRedirects: false,
      perMessageDeflate: false,
      maxPayload: DEFAULT_LIMITS.maxFrameBytes,
      handshakeTimeout: target.answerTimeoutMs,
    });
    const abort = (): void => socket.terminate();
    request.signal.addEventListener("abort", abort, { once: true });
    socket.on("close", () => request.signal.removeEventListener("abort", abort));
    socket.once("open", () => resolve(socket));
    socket.once("unexpected-response", (_request, response) => {
      const status = response.statusCode ?? 0;
      socket.terminate();
      reject(
        new CountersignError("ERR_UPSTREAM_STATUS", `agent ${target.name} answered ${status}`, {
          agent: target.name,
          status,
        }),
      );
    });
    socket.once("error", (error: NodeJS.ErrnoException) => {
      const reason = error.code ?? error.name;
      reject(
        new CountersignError(
          "ERR_UPSTREAM_UNREACHABLE",
          `agent ${target.name} could not be reached (${reason})`,
          { agent: target.name, reason },
          { cause: error },
        ),
      );
    });
  });
}

/** Turns socket events into a pulled sequence; a full queue pauses the socket. */
function createFrameQueue(
  target: UpstreamTarget,
  socket: WebSocket,
  signal: AbortSignal,
): AsyncIterable<UpstreamPiece> {
  const frames: string[] = [];
  let finished = false;
  let failure: CountersignError | undefined;
  let wake: (() => void) | undefined;
  const notify = (): void => {
    wake?.();
    wake = undefined;
  };
  const broken = (reason: string): void => {
    failure ??= new CountersignError(
      "ERR_UPSTREAM_BROKEN",
      `the stream of agent ${target.name} broke off (${reason})`,
      { agent: target.name, reason },
    );
  };
  const idle = setTimeout(() => {
    failure ??= new CountersignError("ERR_UPSTREAM_TIMEOUT", `agent ${target.name} fell silent`, {
      agent: target.name,
      phase: "idle",
      milliseconds: target.idleTimeoutMs,
    });
    socket.terminate();
  }, target.idleTimeoutMs);

  socket.on("message", (data, isBinary) => {
    idle.refresh();
    if (isBinary) {
      broken("binary frame");
      socket.close(1003);
      return;
    }
    frames.push(data.toString());
    if (frames.length >= MAX_QUEUED_FRAMES) socket.pause();
    notify();
  });
  socket.on("error", (error: NodeJS.ErrnoException) => broken(error.code ?? error.name));
  socket.on("close", (code) => {
    clearTimeout(idle);
    if (code !== 1000 && code !== 1005 && !signal.aborted) broken(`close ${code}`);
    finished = true;
    notify();
  });

  return {
    async *[Symbol.asyncIterator]() {
      try {
        for (;;) {
          while (frames.length > 0) {
            const text = frames.shift() ?? "";
            if (socket.isPaused && frames.length < MAX_QUEUED_FRAMES / 2) socket.resume();
            yield { kind: "frame", text };
          }
          if (finished) break;
          await new Promise<void>((resolve) => {
            wake = resolve;
          });
        }
        if (failure !== undefined) throw failure;
      } finally {
        clearTimeout(idle);
        socket.close();
      }
    },
  };
}
