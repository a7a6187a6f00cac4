import { isCountersignError } from "@countersign/core";
import type { ErrorCode, Signal } from "@countersign/core";
import type { Denial } from "@countersign/policy";
import type { AgUiEvent } from "@countersign/wire";

/** A failure: a message for the person and a code for programs. */
export type Failure = {
  readonly code: string;
  readonly message: string;
  /** The receipt of the decision that ended the run, if a decision did. */
  readonly receipt?: string;
  /** A fix that is more specific than the one for the code. */
  readonly remedy?: string;
};

/** The person, or an operator, stopped the run. */
export const STOPPED: Failure = { code: "RUN_STOPPED", message: "the run was stopped" };

/** The credential that opened the stream has expired. */
export const ACCESS_EXPIRED: Failure = {
  code: "ACCESS_EXPIRED",
  message: "the credential that opened the stream has expired",
};

/** The reason of an abort signal that stops a run. */
export class Stop extends Error {
  readonly failure: Failure;

  constructor(reason: string, failure: Failure = STOPPED) {
    super(reason);
    this.failure = failure;
  }
}

/** The failure that the client receives for a stopped run. */
export function failureOfStop(stopped: Signal): Failure {
  return stopped.reason instanceof Stop ? stopped.reason.failure : STOPPED;
}

/** The gateway of a resumed stream is gone, and the run with it. */
export const GATEWAY_LOST: Failure = {
  code: "GATEWAY_LOST",
  message: "the gateway of the run is gone; the run did not finish",
};

/** A block that ends the run. */
export const BLOCKED: Failure = {
  code: "BLOCKED_BY_POLICY",
  message: "the run was ended by policy",
};

/** The agent's stream violates a protocol rule that the client enforces. */
export const DISORDERED: Failure = {
  code: "AGENT_PROTOCOL_VIOLATION",
  message: "the agent's stream violates the protocol",
};

/** After withholding, the rest of the stream would make the client throw, so the gateway ends the run. */
export const UNSOUND: Failure = {
  code: "GATEWAY_FAILURE",
  message: "the forwarded part of the stream is not valid AG-UI",
};

/** The rule that blocks an event on which the client would throw. */
export const UNSOUND_RULE = "gateway/unsound";

const MALFORMED: Failure = {
  code: "AGENT_MALFORMED_EVENT",
  message: "the agent sent invalid AG-UI",
};

/** The failure that the client receives for each error of an agent's stream. Messages contain no payload. */
const FAILURES: Partial<Record<ErrorCode, Failure>> = {
  ERR_UPSTREAM_UNREACHABLE: {
    code: "AGENT_UNREACHABLE",
    message: "the agent could not be reached",
  },
  ERR_UPSTREAM_STATUS: { code: "AGENT_REFUSED", message: "the agent rejected the request" },
  ERR_UPSTREAM_NOT_A_STREAM: {
    code: "AGENT_NOT_AG_UI",
    message: "the agent's response is not an AG-UI stream",
  },
  ERR_UPSTREAM_ENCODING: {
    code: "AGENT_NOT_AG_UI",
    message: "the agent's stream has an encoding that the gateway cannot inspect",
  },
  ERR_UPSTREAM_TIMEOUT: { code: "AGENT_TIMEOUT", message: "the agent took too long" },
  ERR_UPSTREAM_BROKEN: { code: "AGENT_STREAM_TRUNCATED", message: "the agent's stream broke off" },
  ERR_PROTO_TRUNCATED: { code: "AGENT_STREAM_TRUNCATED", message: "the agent's stream broke off" },
  ERR_RUN_SILENCE: { code: "AGENT_TIMEOUT", message: "the agent sent no event for too long" },
  ERR_RUN_TIME: { code: "RUN_LIMIT", message: "the run exceeded its time limit" },
  ERR_RUN_EVENTS: { code: "RUN_LIMIT", message: "the run exceeded its limit of events" },
  ERR_RUN_BYTES: { code: "RUN_LIMIT", message: "the run exceeded its limit of bytes" },
  ERR_ENVELOPE_NOT_CONFIGURED: {
    code: "AGENT_DIALECT_NOT_CONFIGURED",
    message: "the agent sends event envelopes and is not configured with dialect: envelope",
  },
  ERR_LIMIT_EXCEEDED: { code: "GATEWAY_LIMIT", message: "the agent's stream exceeds a limit" },
  ERR_ID_TOO_LONG: { code: "GATEWAY_LIMIT", message: "the agent's stream exceeds a limit" },
};

const OWN: Failure = {
  code: "GATEWAY_FAILURE",
  message: "the gateway could not handle the stream",
};

/** Every failure that a client can receive, but for those of single blocks. */
export const ALL_FAILURES: readonly Failure[] = [
  STOPPED,
  ACCESS_EXPIRED,
  GATEWAY_LOST,
  BLOCKED,
  DISORDERED,
  UNSOUND,
  MALFORMED,
  OWN,
  ...Object.values(FAILURES),
];

/** The failure for an error; an unknown error of the stream counts as malformed. */
export function failureOf(error: unknown): Failure {
  if (!isCountersignError(error)) return OWN;
  return FAILURES[error.code] ?? MALFORMED;
}

/**
 * Whether a block ends the run: by its rule, or because a client cannot follow a run without its start or its end.
 * `hasEnd`: the client has received an end of the run, so a blocked error ends nothing.
 */
export function endsRun({ type }: AgUiEvent, { onBlock }: Denial, hasEnd: boolean): boolean {
  if (onBlock === "end" || type === "RUN_STARTED" || type === "RUN_FINISHED") return true;
  return type === "RUN_ERROR" && !hasEnd;
}
