import { CountersignError, isCountersignError } from "@countersign/core";
import type { WebSocket } from "ws";
import { problemOf } from "../clients/refusal.js";
import { failureOf } from "../deliver/run-error.js";
import type { Failure } from "../deliver/run-error.js";
import type { Surroundings } from "../runs/surroundings.js";
import { noteRefusal } from "../telemetry/run-watch.js";

/** Close codes: done, input that cannot be read, a policy's no, a credential that does not count. */
export const CLOSE = { done: 1000, unreadable: 1003, policy: 1008, unauthorized: 4401 } as const;

const CLOSES: ReadonlyMap<number, number> = new Map([
  [401, CLOSE.unauthorized],
  [403, CLOSE.policy],
  [409, CLOSE.policy],
]);

/** An agent or a store that is down ends this run only; a bad request or a policy's no ends the socket. */
export function answerRefusal(around: Surroundings, socket: WebSocket, error: unknown): void {
  noteRefusal(around, error);
  const { code, title, status } = problemOf(error);
  const isAgents = error instanceof CountersignError && error.code.startsWith("ERR_UPSTREAM_");
  const failure = isAgents ? failureOf(error) : { code, message: title };
  if (status >= 500 || status === 429 || isCountersignError(error, "ERR_RUN_STOPPED"))
    tell(socket, failure);
  else refuse(socket, failure, CLOSES.get(status) ?? CLOSE.unreadable);
}

function tell(socket: WebSocket, { code, message }: Failure): void {
  if (socket.readyState === socket.OPEN) {
    socket.send(JSON.stringify({ type: "RUN_ERROR", message, code }));
  }
}

/** Tells why and says goodbye. */
export function refuse(socket: WebSocket, failure: Failure, close: number): void {
  tell(socket, failure);
  socket.close(close, failure.code);
}
