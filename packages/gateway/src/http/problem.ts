import { remedyOf } from "./remedies.js";
import type { HttpResponse } from "./exchange.js";
import { isCountersignError } from "@countersign/core";
import type { ErrorCode } from "@countersign/core";
import "../base/errors.js";
import type { RefusedPart } from "../base/errors.js";
import { receiptOf } from "../inbound/refusal-log.js";

/** A refusal before any stream: RFC 9457 with a stable code. */
export type Problem = {
  status: number;
  code: string;
  title: string;
  detail?: string;
  /** The part of the request that is invalid: a JSON Pointer (RFC 6901). */
  pointer?: string;
  /** A specific fix, if it says more than the general one of the code. */
  remedy?: string;
  /** The receipt of the decision behind the refusal, if there is one. */
  receipt?: string;
  /** Ids of open interrupts: a reloaded page can cancel them. */
  interrupts?: readonly string[];
};

/** When a client may retry: another gateway or the store should be available by then. */
const RETRY_AFTER_SECONDS = "5";

/** Builds the problem document. */
export function documentOf(problem: Problem): object {
  const { status, code, title, detail, pointer, receipt, interrupts } = problem;
  const { remedy = remedyOf(code) } = problem;
  return {
    type: `urn:countersign:problem:${code}`,
    title,
    status,
    code,
    ...(detail === undefined ? {} : { detail }),
    ...(pointer === undefined ? {} : { pointer }),
    ...(remedy === undefined ? {} : { remedy }),
    ...(receipt === undefined ? {} : { receipt }),
    ...(interrupts === undefined ? {} : { interrupts }),
  };
}

/** Responds with a problem document. */
export function sendProblem(
  response: HttpResponse,
  problem: Problem,
  headers: Readonly<Record<string, string>> = {},
): void {
  const { status } = problem;
  const body = JSON.stringify(documentOf(problem));
  response.writeHead(status, {
    ...headers,
    "content-type": "application/problem+json",
    "cache-control": "no-store",
    ...(status === 503 ? { "retry-after": RETRY_AFTER_SECONDS } : {}),
    "content-length": String(Buffer.byteLength(body)),
  });
  response.end(body);
}

type Status = { readonly status: number; readonly title: string };

const STORE_CODES = /^ERR_(STORE|SIGN|LOG)_/;

/** Refusals that depend on the state of the thread; see docs/inbound.md. */
const MEDIATED =
  /^ERR_(THREAD|HISTORY|TOOL_RESULT|RESUME|TOOLS|STATE|CONTEXT|FORWARDED_PROPS|REQUEST_ACTION|REQUEST_APP)_/;
const NOT_ALLOWED: Status = { status: 403, title: "A client may not send this" };

const BAD_REQUEST: Status = { status: 400, title: "The request is not a valid RunAgentInput" };

/** The status of each refusal before a stream; every other coded error is a bad request. */
export const STATUSES: Partial<Record<ErrorCode, Status>> = {
  ERR_LIMIT_EXCEEDED: { status: 413, title: "The request exceeds a limit" },
  ERR_INBOUND_BLOCKED: { status: 403, title: "The policy does not allow this request" },
  ERR_ACCESS_MISSING: { status: 401, title: "A credential is required" },
  ERR_ACCESS_TOKEN: { status: 401, title: "Invalid credential" },
  ERR_ACCESS_SCOPE: { status: 403, title: "The token does not have a required scope" },
  ERR_ACCESS_SESSION: { status: 403, title: "The session belongs to another principal" },
  ERR_ACCESS_RUNS: { status: 429, title: "Too many open runs" },
  ERR_ACCESS_ADDRESS: { status: 429, title: "Too many open requests from this address" },
  ERR_ACCESS_FULL: { status: 429, title: "Too many unused tickets" },
  ERR_ACCESS_KEYS: { status: 503, title: "The gateway cannot verify credentials now" },
  ERR_REQUEST_TIMEOUT: { status: 408, title: "The request body did not arrive in time" },
  ERR_STREAM_GONE: { status: 410, title: "The stream cannot be resumed" },
  ERR_STREAM_UNREACHABLE: {
    status: 503,
    title: "The store of resumable streams does not respond; try again",
  },
  ERR_STREAM_LIMIT: { status: 503, title: "Too many streams of other gateways; try again" },
  ERR_RUN_ID_REUSED: { status: 409, title: "The run id was used before" },
  ERR_LEDGER_UNAVAILABLE: { status: 503, title: "The thread ledger is unavailable" },
  ERR_LEDGER_FULL: { status: 413, title: "The thread is too long" },
  ERR_RUN_ACTIVE: { status: 409, title: "The thread has an open run" },
  ERR_MESSAGE_NO_RUN: { status: 409, title: "No open run for the message" },
  ERR_MESSAGE_ONE_WAY: { status: 409, title: "The agent does not accept messages during a run" },
  ERR_RECEIPTS_QUESTION: { status: 400, title: "Invalid value for receipts" },
  ERR_SESSION_NAME: { status: 400, title: "Invalid session name" },
  ERR_SOCKET_FRAME: { status: 400, title: "Invalid frame" },
  ERR_SOCKET_RATE: { status: 429, title: "Too many messages per second" },
  ERR_RUN_DRAINING: { status: 503, title: "The gateway is shutting down; try again" },
  ERR_AGENT_CONTAINED: { status: 503, title: "An operator stopped the agent" },
  ERR_RUN_STOPPED: { status: 409, title: "The run was stopped before it started" },
  ERR_UPSTREAM_UNREACHABLE: { status: 502, title: "The agent could not be reached" },
  ERR_UPSTREAM_STATUS: { status: 502, title: "The agent rejected the request" },
  ERR_UPSTREAM_NOT_A_STREAM: {
    status: 502,
    title: "The agent did not respond with an AG-UI stream",
  },
  ERR_UPSTREAM_NOT_JSON: { status: 502, title: "The runtime did not respond with JSON" },
  ERR_UPSTREAM_ENCODING: { status: 502, title: "The agent's stream cannot be inspected" },
  ERR_UPSTREAM_TIMEOUT: { status: 504, title: "The agent took too long" },
  ERR_LOG_QUEUE_FULL: { status: 503, title: "The receipt log is overloaded" },
  ERR_LOG_CLOSED: { status: 503, title: "The gateway is shutting down" },
};

/** The status and title of a code. */
export function statusOf(code: ErrorCode): Status {
  const known = STATUSES[code];
  if (known !== undefined) return known;
  if (STORE_CODES.test(code)) return { status: 503, title: "The receipt store is unavailable" };
  return MEDIATED.test(code) ? NOT_ALLOWED : BAD_REQUEST;
}

/** The response to a request that was refused before its stream began. */
export function problemOf(error: unknown): Problem {
  if (!isCountersignError(error)) {
    return { status: 503, code: "INTERNAL", title: "The gateway could not handle the request" };
  }
  const { status, title } = statusOf(error.code);
  const { pointer, remedy } = error.facts as RefusedPart;
  const problem: Problem = {
    status,
    title,
    code: error.code,
    detail: error.message,
    ...(pointer === undefined ? {} : { pointer }),
    ...(remedy === undefined ? {} : { remedy }),
  };
  if (isCountersignError(error, "ERR_RESUME_INCOMPLETE")) problem.interrupts = error.facts.open;
  const receipt = receiptOf(error);
  return receipt === undefined ? problem : { ...problem, receipt };
}
