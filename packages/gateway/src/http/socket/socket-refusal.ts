import { isCountersignError } from "@countersign/core";
import type { ErrorCode } from "@countersign/core";
import { VENDOR_KEY } from "@countersign/wire/dialects";
import type { WebSocket } from "ws";
import { documentOf, problemOf } from "../problem.js";
import type { Problem } from "../problem.js";
import { failureOf } from "../../outbound/deliver/run-error.js";
import type { Failure } from "../../outbound/deliver/run-error.js";
import type { GatewayContext } from "../../runs/gateway-context.js";
import { noteRefusal } from "../../runs/run-watch.js";
import type { RefusalFacts } from "../../runs/run-watch.js";

/** Close codes: done, unreadable input, policy violation, unavailable for now, invalid credential. */
export const CLOSE = {
  done: 1000,
  unreadable: 1003,
  policy: 1008,
  tryAgain: 1013,
  unauthorized: 4401,
} as const;

/** Bytes that may be buffered for a client before it is disconnected; more than the largest event. */
const MAX_UNREAD_BYTES = 16 * 1024 * 1024;

const CLOSES: ReadonlyMap<number, number> = new Map([
  [401, CLOSE.unauthorized],
  [403, CLOSE.policy],
  [404, CLOSE.policy],
  [409, CLOSE.policy],
  [410, CLOSE.policy],
]);

/** Refusals whose status alone does not decide whether the socket stays open. */
const OWN_CLOSES: Partial<Record<ErrorCode, number | "stays">> = {
  // A client that sends that fast is disconnected.
  ERR_SOCKET_RATE: CLOSE.policy,
  ERR_RUN_STOPPED: "stays",
  // A run may end while its client writes: that is not the client's fault.
  ERR_MESSAGE_NO_RUN: "stays",
  ERR_MESSAGE_ONE_WAY: "stays",
};

/** An unavailable agent or store ends this run only; a bad request or a policy violation ends the socket. */
export function sendRefusal(
  context: GatewayContext,
  socket: WebSocket,
  error: unknown,
  client: RefusalFacts,
): void {
  noteRefusal(context, error, client);
  const problem = problemOf(error);
  const { code, title: message } = problem;
  const isAgents = isCountersignError(error) && error.code.startsWith("ERR_UPSTREAM_");
  const failure = isAgents ? failureOf(error) : { code, message };
  sendError(socket, failure, problem);
  const close = closeOf(error, problem);
  if (close !== "stays") socket.close(close, failure.code);
}

/** Reports a rejection before anything is read, and closes the socket. */
export function closeWith(socket: WebSocket, problem: Problem): void {
  const { code, title: message, status } = problem;
  sendError(socket, { code, message }, problem);
  socket.close(CLOSES.get(status) ?? CLOSE.unreadable, code);
}

function closeOf(error: unknown, { status }: Problem): number | "stays" {
  const own = isCountersignError(error) ? OWN_CLOSES[error.code] : undefined;
  if (own !== undefined) return own;
  if (status >= 500 || status === 429) return "stays";
  return CLOSES.get(status) ?? CLOSE.unreadable;
}

/**
 * A socket has no status and no body next to its events, so the error carries the HTTP problem in its metadata, under
 * our own name. Not in `rawEvent`: no client may act on that.
 */
function sendError(socket: WebSocket, { code, message }: Failure, problem: Problem): void {
  if (socket.readyState !== socket.OPEN) return;
  // A client that does not read is disconnected: its refusals would be buffered without limit.
  if (socket.bufferedAmount > MAX_UNREAD_BYTES) return socket.terminate();
  const metadata = { [VENDOR_KEY]: { problem: documentOf(problem) } };
  socket.send(JSON.stringify({ type: "RUN_ERROR", message, code, metadata }));
}
