import { createServer } from "node:https";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { AccessControl } from "../http/access-control.js";
import { signalOfClose } from "../http/http-sink.js";
import { closeListener } from "../http/listener.js";
import type { ClosableListener } from "../http/listener.js";
import { receiveBody } from "../http/receive-body.js";
import { timersOf } from "../http/server.js";
import { attach } from "../http/resume/resume-stream.js";
import type { GatewayContext } from "../runs/gateway-context.js";
import {
  linkServerOptions,
  MAX_RELAY_REQUEST_BYTES,
  readRelayRequest,
  RELAY_PATH,
} from "./relay-protocol.js";

/** Milliseconds for the handshake, and for the request body. */
const PATIENCE_MS = 5000;

/**
 * Serves this gateway's own streams to the other gateways of the log. A peer has proved the key of the log, so its
 * statement of the client's principal is trusted.
 */
export function createRelayListener(
  context: Pick<GatewayContext, "telemetry" | "journal">,
  { resumableStreams, limits }: Pick<AccessControl, "resumableStreams" | "limits">,
  key: Uint8Array,
): ClosableListener {
  const handle = (request: IncomingMessage, response: ServerResponse): void => {
    serve(context, resumableStreams, request, response).catch(() => response.destroy());
  };
  const options = { ...linkServerOptions(key, PATIENCE_MS), ...timersOf(limits) };
  const server = createServer({ ...options, maxHeaderSize: limits.headerBytes }, handle);
  server.maxConnections = limits.connections;
  server.on("tlsClientError", () => {
    context.journal.debug({ code: "RELAY_STRANGER" }, "rejected a peer without the log key");
  });
  const sockets = new Set<Socket>();
  server.on("connection", (socket: Socket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
  });
  return { server, close: () => closeListener(server, () => sockets) };
}

async function serve(
  context: Pick<GatewayContext, "telemetry">,
  resumableStreams: AccessControl["resumableStreams"],
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const gone = signalOfClose(response);
  if (request.method !== "POST" || request.url !== RELAY_PATH) {
    response.writeHead(404).end();
    return;
  }
  const bounds = { maxBytes: MAX_RELAY_REQUEST_BYTES, timeoutMs: PATIENCE_MS };
  const back = readRelayRequest(await receiveBody(request, bounds));
  const place = back === undefined ? undefined : resumableStreams.findPosition(back);
  if (place === undefined) response.writeHead(410).end();
  else attach(place, response, gone, context);
}
