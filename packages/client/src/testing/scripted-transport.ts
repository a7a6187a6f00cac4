import { createFrameQueue } from "../transport/frame-queue.js";
import type { FrameQueue } from "../transport/frame-queue.js";
import { LOST } from "../transport/transport.js";
import type { Transport, TransportRequest } from "../transport/transport.js";

/** One connection that a test holds the other end of. */
export type ScriptedConnection = {
  readonly request: TransportRequest;
  /** Sends events in one batch; a string is sent as it is, as broken servers do. */
  send(...events: readonly (object | string)[]): void;
  /** Sends one event under an id. */
  sendAs(id: string, event: object): void;
  lose(): void;
  end(error?: unknown): void;
};

/** A transport whose server is the test. */
export type ScriptedTransport = Transport & {
  readonly connections: ScriptedConnection[];
  readonly stops: string[];
  /** The latest connection. */
  last(): ScriptedConnection;
};

/** Options of {@link createScriptedTransport}. */
export type ScriptedOptions = {
  readonly resumable?: boolean;
  readonly shared?: boolean;
  readonly canStop?: boolean;
  /** Errors with which the next attempts to connect fail. */
  readonly refusals?: unknown[];
};

/** Makes a transport for tests. */
export function createScriptedTransport(options: ScriptedOptions = {}): ScriptedTransport {
  const connections: ScriptedConnection[] = [];
  const stops: string[] = [];
  return {
    name: "scripted",
    resumable: options.resumable ?? false,
    shared: options.shared ?? false,
    connections,
    stops,
    last() {
      const connection = connections.at(-1);
      if (connection === undefined) throw new TypeError("nobody connected yet");
      return connection;
    },
    open: async function* (request) {
      const queue = createFrameQueue(1024 * 1024);
      connections.push(connectionOf(request, queue));
      const refusal = options.refusals?.shift();
      if (refusal !== undefined) throw refusal;
      request.signal.addEventListener("abort", () => queue.end(), { once: true });
      yield* queue.read();
    },
    ...(options.canStop === true
      ? { stop: ({ runId }: { runId: string }) => void stops.push(runId) }
      : {}),
  };
}

function connectionOf(request: TransportRequest, queue: FrameQueue): ScriptedConnection {
  return {
    request,
    send: (...events) =>
      queue.push(
        events.map((event) => ({
          json: typeof event === "string" ? event : JSON.stringify(event),
        })),
      ),
    sendAs: (id, event) => queue.push([{ json: JSON.stringify(event), id }]),
    lose: () => queue.push([LOST]),
    end: (error) => queue.end(error),
  };
}
