import { isCountersignError } from "@countersign/core";
import type { ErrorCode } from "@countersign/core";
import type { Signal } from "../../base/signal.js";

/** A failure in words for the person and a code for programs. */
export type Failure = {
  readonly code: string;
  readonly message: string;
  /** The receipt of the decision that ended the run, where one did. */
  readonly receipt?: string;
  /** What lets it through the next time, where more can be said than of every run with this code. */
  readonly remedy?: string;
};

/** The person pressed stop, or somebody did for them. */
export const STOPPED: Failure = { code: "RUN_STOPPED", message: "the run was stopped" };

/** The credential that opened the stream counts no longer. */
export const ACCESS_EXPIRED: Failure = {
  code: "ACCESS_EXPIRED",
  message: "the credential that opened the stream has expired",
};

/** Why a run was stopped, as the reason of its signal. */
export class Stop extends Error {
  readonly failure: Failure;

  constructor(reason: string, failure: Failure = STOPPED) {
    super(reason);
    this.failure = failure;
  }
}

/** What the person is told about a run that was stopped. */
export function failureOfStop(stopped: Signal): Failure {
  return stopped.reason instanceof Stop ? stopped.reason.failure : STOPPED;
}

/** A block that ends the run. */
export const BLOCKED: Failure = {
  code: "BLOCKED_BY_POLICY",
  message: "the run was ended by policy",
};

/** The agent's stream breaks a rule of the protocol that its client would stumble over. */
export const DISORDERED: Failure = {
  code: "AGENT_PROTOCOL_VIOLATION",
  message: "the agent's stream breaks the protocol",
};

/** What is left of a stream after withholding would make the client throw: better an honest end. */
export const UNSOUND: Failure = {
  code: "GATEWAY_FAILURE",
  message: "what may be shown of the stream does not hold together",
};

/** The rule under which an event is blocked that the client would throw on. */
export const UNSOUND_RULE = "gateway/unsound";

const MALFORMED: Failure = {
  code: "AGENT_MALFORMED_EVENT",
  message: "the agent sent something that is not valid AG-UI",
};

/** What the person is told for each way an agent's stream can fail. Messages carry no payload. */
const FAILURES: Partial<Record<ErrorCode, Failure>> = {
  ERR_UPSTREAM_UNREACHABLE: {
    code: "AGENT_UNREACHABLE",
    message: "the agent could not be reached",
  },
  ERR_UPSTREAM_STATUS: { code: "AGENT_REFUSED", message: "the agent refused the request" },
  ERR_UPSTREAM_NOT_A_STREAM: {
    code: "AGENT_NOT_AG_UI",
    message: "the agent answered with something that is not an AG-UI stream",
  },
  ERR_UPSTREAM_ENCODING: {
    code: "AGENT_NOT_AG_UI",
    message: "the agent's stream is encoded in a way that cannot be inspected",
  },
  ERR_UPSTREAM_TIMEOUT: { code: "AGENT_TIMEOUT", message: "the agent took too long" },
  ERR_UPSTREAM_BROKEN: { code: "AGENT_STREAM_TRUNCATED", message: "the agent's stream broke off" },
  ERR_PROTO_TRUNCATED: { code: "AGENT_STREAM_TRUNCATED", message: "the agent's stream broke off" },
  ERR_RUN_SILENCE: { code: "AGENT_TIMEOUT", message: "the agent sent no event for too long" },
  ERR_RUN_TIME: { code: "RUN_LIMIT", message: "the run took longer than a run may" },
  ERR_RUN_EVENTS: { code: "RUN_LIMIT", message: "the run has more events than a run may" },
  ERR_RUN_BYTES: { code: "RUN_LIMIT", message: "the run has more bytes than a run may" },
  ERR_ENVELOPE_NOT_CONFIGURED: {
    code: "AGENT_DIALECT_NOT_CONFIGURED",
    message: "the agent sends event envelopes and is not configured with dialect: envelope",
  },
  ERR_LIMIT_EXCEEDED: { code: "GATEWAY_LIMIT", message: "the agent's stream is over a limit" },
  ERR_ID_TOO_LONG: { code: "GATEWAY_LIMIT", message: "the agent's stream is over a limit" },
};

/** The failure an error stands for; anything unforeseen about the stream counts as malformed. */
export function failureOf(error: unknown): Failure {
  if (!isCountersignError(error)) {
    return { code: "GATEWAY_FAILURE", message: "the gateway could not handle the stream" };
  }
  return FAILURES[error.code] ?? MALFORMED;
}
