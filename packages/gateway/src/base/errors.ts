import type { DocumentIssue } from "@countersign/policy/yaml";

/** The refused part of a request, and the fix, if known. */
export type RefusedPart = {
  /** A JSON Pointer into the request. */
  readonly pointer?: string;
  readonly remedy?: string;
};

/** Why a credential is invalid. It never contains anything from the credential itself. */
export type TokenFault =
  | "too-large"
  | "malformed"
  | "unknown"
  | "algorithm"
  | "key"
  | "signature"
  | "issuer"
  | "audience"
  | "client"
  | "expired"
  | "not-yet-valid"
  | "claim"
  | "ticket";

// Every error code of the gateway with the facts that it carries. docs/errors explains each of them.
declare module "@countersign/core" {
  interface ErrorFacts {
    // Requests and runs
    /** A request has a key that AG-UI does not define. */
    ERR_INBOUND_UNKNOWN_KEY: RefusedPart;
    /** A message on a socket that has no run. */
    ERR_MESSAGE_NO_RUN: RefusedPart;
    /** A message to an agent whose transport accepts none. */
    ERR_MESSAGE_ONE_WAY: RefusedPart;
    /** The thread belongs to another principal. */
    ERR_THREAD_OWNER: RefusedPart;
    /** A message that the gateway never delivered, in a role that is not the client's. */
    ERR_HISTORY_INVENTED: RefusedPart;
    /** A message with other content than was delivered or accepted. */
    ERR_HISTORY_REWRITTEN: RefusedPart;
    /** A message of the history is missing, or the history has another order. */
    ERR_HISTORY_DROPPED: RefusedPart;
    /** A message without a known end, because the gateway was killed. */
    ERR_HISTORY_UNFINISHED: RefusedPart;
    /** A new message before one that was delivered earlier. */
    ERR_HISTORY_INTERLEAVED: RefusedPart;
    /** A result of a call that was not delivered on this thread. */
    ERR_TOOL_RESULT_UNKNOWN: RefusedPart;
    /** A second result of one call. */
    ERR_TOOL_RESULT_TWICE: RefusedPart;
    /** A result of a call of a tool that is not the client's. */
    ERR_TOOL_RESULT_FOREIGN: RefusedPart;
    /** An answer to an interrupt that is not open on this thread. */
    ERR_RESUME_UNKNOWN: RefusedPart;
    /** Not every open interrupt is answered. */
    ERR_RESUME_INCOMPLETE: RefusedPart & { open: readonly string[] };
    /** The interrupt has expired. */
    ERR_RESUME_EXPIRED: RefusedPart;
    /** The answer does not match the interrupt's schema. */
    ERR_RESUME_MISMATCH: RefusedPart;
    /** The interrupt was answered before with another answer. */
    ERR_RESUME_ANSWERED: RefusedPart;
    /** A declared tool whose name is not plain ASCII, is too long or appears twice. */
    ERR_TOOLS_NAME: RefusedPart;
    /** A declared tool has the name of one of the agent's own tools. */
    ERR_TOOLS_SHADOWED: RefusedPart;
    /** A declared tool is not in the pinned manifest, or differs from it. */
    ERR_TOOLS_UNPINNED: RefusedPart;
    /** The state is too large or has keys that the policy does not allow. */
    ERR_STATE_REFUSED: RefusedPart;
    /** The context is too large or has entries that the policy does not allow. */
    ERR_CONTEXT_REFUSED: RefusedPart;
    /** The forwarded properties are too large or have keys that the policy does not allow. */
    ERR_FORWARDED_PROPS_REFUSED: RefusedPart;
    /** A click or a request of an MCP App has another shape than renderers send. */
    ERR_REQUEST_ACTION_UNREADABLE: RefusedPart;
    /** A click on a component or an action that the thread does not show. */
    ERR_REQUEST_ACTION_UNKNOWN: RefusedPart;
    /** A click with a context key that the action does not declare. */
    ERR_REQUEST_ACTION_CONTEXT: RefusedPart;
    /** A second click on an action that submits. */
    ERR_REQUEST_ACTION_USED: RefusedPart;
    /** A request of an MCP App to a server, or for a resource, that the thread does not show. */
    ERR_REQUEST_APP_UNKNOWN: RefusedPart;
    /** A request of an MCP App with another method than those that apps may send. */
    ERR_REQUEST_APP_METHOD: RefusedPart;
    /** The run id was used before. */
    ERR_RUN_ID_REUSED: RefusedPart;
    /** The last run on the thread is still open. */
    ERR_RUN_ACTIVE: RefusedPart;
    /** The run was stopped before the agent responded. */
    ERR_RUN_STOPPED: Record<string, never>;
    /** The gateway is shutting down and accepts no new runs. */
    ERR_RUN_DRAINING: Record<string, never>;
    /** The policy blocks the request. */
    ERR_INBOUND_BLOCKED: RefusedPart & { rule: string; receipt: string };

    // Events of agents
    /** The run takes longer than its limit, in milliseconds. */
    ERR_RUN_TIME: { allowed: number };
    /** The agent sent no event for longer than the limit, in milliseconds, whatever else it sent. */
    ERR_RUN_SILENCE: { allowed: number };
    /** The agent sent more events than one run may have. */
    ERR_RUN_EVENTS: { allowed: number };
    /** The agent sent more bytes than one run may have. */
    ERR_RUN_BYTES: { allowed: number };
    /** A frame held JSON that is not an object. */
    ERR_DECODE_NOT_OBJECT: Record<string, never>;
    /** An agent sends event envelopes, and its configuration does not name that dialect. */
    ERR_ENVELOPE_NOT_CONFIGURED: { agent: string };
    /** An id or a name in an event or an input is longer than the log allows. */
    ERR_ID_TOO_LONG: { member: string; limit: number };
    /** An id, name or code in an event or an input has a control character, or an id has markup or only white space. */
    ERR_ID_CHARACTERS: { member: string };

    // Connections to agents
    /** An operator stopped the agent; it gets no new runs. */
    ERR_AGENT_CONTAINED: { agent: string };
    /** The agent could not be reached, or the connection broke before it responded. */
    ERR_UPSTREAM_UNREACHABLE: { agent: string; reason: string };
    /** The agent responded with an error status. */
    ERR_UPSTREAM_STATUS: { agent: string; status: number };
    /** The agent responded 200 with something that is not an AG-UI stream. */
    ERR_UPSTREAM_NOT_A_STREAM: { agent: string; contentType: string };
    /** A route of a CopilotKit runtime responded with something that is not JSON. */
    ERR_UPSTREAM_NOT_JSON: { agent: string; status: number };
    /** The agent was silent for longer than the limit. */
    ERR_UPSTREAM_TIMEOUT: { agent: string; phase: "answer" | "idle"; milliseconds: number };
    /** The agent compressed its stream although the gateway accepts no compression. */
    ERR_UPSTREAM_ENCODING: { agent: string; encoding: string };
    /** The connection broke in the middle of the stream. */
    ERR_UPSTREAM_BROKEN: { agent: string; reason: string };

    // Access
    /** A request has no credential. */
    ERR_ACCESS_MISSING: Record<string, never>;
    /** A request has an invalid credential. */
    ERR_ACCESS_TOKEN: { reason: TokenFault };
    /** The credential is valid, but lacks a scope that the configuration requires. */
    ERR_ACCESS_SCOPE: { scopes: readonly string[] };
    /** The issuer's keys could not be fetched, so no token can be verified. */
    ERR_ACCESS_KEYS: { issuer: string };
    /** The session belongs to another principal. */
    ERR_ACCESS_SESSION: Record<string, never>;
    /** The principal has reached its limit of open runs. */
    ERR_ACCESS_RUNS: { allowed: number };
    /** The client's address has reached its limit of open connections. */
    ERR_ACCESS_ADDRESS: { allowed: number };
    /** The gateway has reached its limit of unused tickets. */
    ERR_ACCESS_FULL: Record<string, never>;
    /** A list of API keys is invalid. */
    ERR_ACCESS_KEY_LIST: { file: string; line: number };
    /** A list of operators is invalid. */
    ERR_OPERATORS_LIST: { file: string; line: number };
    /** The database in which gateways share revocations did not respond. */
    ERR_REVOCATIONS_UNAVAILABLE: Record<string, never>;
    /** The database in which gateways share the budgets of capabilities did not respond. */
    ERR_BUDGETS_UNAVAILABLE: Record<string, never>;
    /** A revocation is in effect at this gateway, but could not be written to the revocation file. */
    ERR_REVOCATIONS_FILE: { file: string };

    // HTTP
    /** A client resumes a stream that is not kept here, or from an event that is no longer kept. */
    ERR_STREAM_GONE: Record<string, never>;
    /** A request's body arrived too slowly. */
    ERR_REQUEST_TIMEOUT: { milliseconds: number };
    /** A client requests receipts with an invalid value. */
    ERR_RECEIPTS_QUESTION: Record<string, never>;
    /** A client sends an invalid session id. */
    ERR_SESSION_NAME: Record<string, never>;
    /** A WebSocket frame is not text, is ambiguous, or violates the protocol. */
    ERR_SOCKET_FRAME: { cause: string };
    /** A client sends WebSocket frames faster than allowed. */
    ERR_SOCKET_RATE: { perSecond: number };
    /** The store of the streams that all gateways can resume does not respond. */
    ERR_STREAM_UNREACHABLE: Record<string, never>;
    /** The gateway has reached its limit of streams of other gateways. */
    ERR_STREAM_LIMIT: { allowed: number };

    // Control API
    /** A request to the control plane has an invalid field. */
    ERR_CONTROL_FIELD: { field: string; expected: string };
    /** The open runs are not those that the operator saw. */
    ERR_CONTROL_STOP_CHANGED: { runs: number };
    /** The policy file cannot be written, or there is none. */
    ERR_CONTROL_POLICY_READ_ONLY: { file?: string };
    /** The active policy, or its file, is not the one that the operator saw. */
    ERR_CONTROL_POLICY_CHANGED: { hash: string };
    /** The history has no text for this policy, or the text no longer gives it. */
    ERR_CONTROL_POLICY_UNKNOWN: { hash: string };
    /** A capability for a session without an owner, or with another one, was not requested explicitly. */
    ERR_CONTROL_SESSION_OWNER: { owner?: string };

    // Threads, store and quota
    /** A thread has more messages than the ledger keeps. */
    ERR_LEDGER_FULL: { limit: number };
    /** The keyed store did not answer a read or a write. */
    ERR_LEDGER_UNAVAILABLE: Record<string, never>;
    /** The evidence store failed, or its database did not answer. */
    ERR_EVIDENCE_UNAVAILABLE: Record<string, never>;
    /** A kept payload is not what was sealed for its entry. */
    ERR_EVIDENCE_DAMAGED: { seq: number };
    /** The key directory has no key for kept payloads. */
    ERR_EVIDENCE_KEY: { seq?: number; key: string };
    /** The log has entries, but its keyed store is missing or was never used. */
    ERR_LEDGER_MISSING: { entries: number };
    /** The database of the shared counts did not answer. */
    ERR_VELOCITY_UNAVAILABLE: Record<string, never>;

    // Gateways on one database
    /** The database that the gateways of a log share did not answer. */
    ERR_FLEET_UNAVAILABLE: Record<string, never>;
    /** Other gateways that may have the run did not answer the stop order. */
    ERR_FLEET_SILENT: { gateways: number };

    /** Redis did not execute a command; it may have been executed without a response. */
    ERR_REDIS_UNAVAILABLE: { reason: string };

    // Keys, configuration and files
    /** The key history does not match the key in use. */
    ERR_KEYS_HISTORY: { file: string };
    /** A file that should hold a private key does not. */
    ERR_KEYS_UNREADABLE: { file: string };
    /** A key file could not be written; nothing was left behind. */
    ERR_KEYS_UNWRITABLE: { file: string };
    /** The store does not hold the last checkpoint that this gateway signed. */
    ERR_KEYS_LOG_CHANGED: { size: number; file: string };
    /** The log has entries, and the checkpoint next to the keys is missing. */
    ERR_KEYS_CHECKPOINT_MISSING: { file: string };
    /** The log in the store is signed by other keys. */
    ERR_KEYS_OTHER_LOG: { origin: string; directory: string };
    /** The configuration is invalid. */
    ERR_CONFIG_INVALID: { file: string; issues: readonly DocumentIssue[] };
    /** The configuration refers to an environment variable that is not set. */
    ERR_CONFIG_VARIABLE: { file: string; line: number; column: number; variable: string };
    /** The path is a pipe, a device or a directory instead of a file. */
    ERR_FILE_KIND: { file: string };
    /** The file is larger than the limit of its kind. */
    ERR_FILE_TOO_LARGE: { file: string; limit: number };

    // Start
    /** The certificate or the key of the data plane is invalid. */
    ERR_SERVE_TLS: { file: string; cause: string };
  }
}
