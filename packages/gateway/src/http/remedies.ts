import { pageAddress } from "@countersign/core";
import type { ErrorCode } from "@countersign/core";
import type { FindingCode } from "../inbound/finding.js";
import type { SendBlocker } from "../inbound/send-blocker.js";

/** The fix for each refusal that depends on the thread; a finding with a more specific fix carries its own. */
const FINDING_REMEDIES: Readonly<Record<FindingCode | SendBlocker["code"], string>> = {
  ERR_INBOUND_UNKNOWN_KEY:
    "send only keys that AG-UI defines for the client's version; put your own data into forwardedProps, state or metadata; ag_ui_request.unknown_keys.action: strip removes unknown keys instead",
  ERR_MESSAGE_NO_RUN: "send the input first, and messages while its run is open",
  ERR_MESSAGE_ONE_WAY:
    "send the message with the next request; only an agent behind ws: accepts messages during a run",
  ERR_THREAD_OWNER:
    "use a thread of the same principal, or start a new one; thread ids should be random",
  ERR_RUN_ID_REUSED: "send a fresh runId with every request",
  ERR_RUN_ACTIVE: "wait until the open run ends, or stop it (POST /ag-ui/stop)",
  ERR_HISTORY_INVENTED:
    "start a new thread, or send only new messages; countersign policy explain ERR_HISTORY_INVENTED has the lines that accept a greeting or instructions of the page",
  ERR_HISTORY_REWRITTEN: "send each message back unchanged, with its own id",
  ERR_HISTORY_DROPPED:
    "send the whole history in the delivered order, its last part without a gap, or only new messages at the end",
  ERR_HISTORY_UNFINISHED:
    "leave out the unfinished message, or set ag_ui_request.history.unfinished: accept in the policy",
  ERR_HISTORY_INTERLEAVED:
    "send new messages last, or set ag_ui_request.history.interleaved: accept in the policy",
  ERR_TOOL_RESULT_UNKNOWN:
    "send results only for calls that the client received completely on this thread, with the id of the call",
  ERR_TOOL_RESULT_TWICE: "send one result for each call",
  ERR_TOOL_RESULT_FOREIGN: "declare the tool in tools of the run that calls it",
  ERR_RESUME_UNKNOWN: "resume only interrupts of the latest RUN_FINISHED",
  ERR_RESUME_INCOMPLETE:
    'resolve or cancel every open interrupt: resume: [{"interruptId": …, "status": "resolved" or "cancelled"}]',
  ERR_RESUME_EXPIRED: "cancel the expired interrupt, so that the agent can interrupt again",
  ERR_RESUME_MISMATCH: "send a payload that matches the interrupt's responseSchema",
  ERR_RESUME_ANSWERED: "do not change the first answer to an interrupt",
  ERR_TOOLS_NAME:
    "give each tool a unique name of printable ASCII characters without spaces, 128 characters at most",
  ERR_TOOLS_SHADOWED: "rename the client's tool",
  ERR_TOOLS_UNPINNED: "review the tool and add its hash to ag_ui_request.tools.pinned",
  ERR_STATE_REFUSED: "send less state, or extend ag_ui_request.state in the policy",
  ERR_CONTEXT_REFUSED: "send less context, or extend ag_ui_request.context in the policy",
  ERR_FORWARDED_PROPS_REFUSED: "list the key in ag_ui_request.forwarded_props.allow in the policy",
  ERR_REQUEST_ACTION_UNREADABLE:
    "send one userAction, action or callAgentFunction as the renderer writes it: name, surfaceId, sourceComponentId and an object context; of an app serverId or serverHash, method and params",
  ERR_REQUEST_ACTION_UNKNOWN:
    "send only clicks on components that are on the screen of this thread; reload the conversation if it is old",
  ERR_REQUEST_ACTION_CONTEXT:
    "send only keys that the action declares in its context, or declare the key there",
  ERR_REQUEST_ACTION_USED:
    "ask the agent to draw the component again, or list the action in ag_ui_request.actions.repeat",
  ERR_REQUEST_APP_UNKNOWN:
    "open the app again on this thread; an app can reach its own server and read its own ui:// resource only",
  ERR_REQUEST_APP_METHOD:
    "send tools/call with a name, resources/read with a uri, notifications/message or ping",
};

const CODE_REMEDIES: Partial<Record<ErrorCode, string>> = {
  ...FINDING_REMEDIES,
  ERR_INBOUND_BLOCKED:
    "run countersign policy explain RECEIPT: it shows the rule and the setting that allows the request",
  ERR_LIMIT_EXCEEDED: "send less at once, or raise the limit under limits in countersign.yaml",
  ERR_RUN_TIME: "find out why the agent does not finish, or raise limits.run_timeout",
  ERR_RUN_SILENCE:
    "change the agent to report progress as events (STEP_STARTED, ACTIVITY_SNAPSHOT), or raise limits.run_silence",
  ERR_RUN_EVENTS: "change the agent to send fewer, larger deltas, or raise limits.run_events",
  ERR_RUN_BYTES: "change the agent to send patches instead of snapshots, or raise limits.run_bytes",
  ERR_ID_TOO_LONG: "use shorter ids",
  ERR_ID_CHARACTERS: "write ids, names and codes without control characters and line breaks",
  ERR_ENVELOPE_NOT_CONFIGURED:
    "set dialect: envelope for the agent in countersign.yaml if the agent sends envelopes",
  ERR_LEDGER_FULL: "start a new thread",
  ERR_LEDGER_UNAVAILABLE:
    "repeat the request; if the error persists, check the store that receipts.store names",
  ERR_ACCESS_MISSING: `send a credential; ${pageAddress("access.md")} describes how for each transport`,
  ERR_ACCESS_TOKEN: "get a new credential; the gateway's log names the reason",
  ERR_ACCESS_SCOPE: "request a token with the scope that access.jwt.scopes names",
  ERR_ACCESS_SESSION:
    "use a session of the same principal, or start a new one; session names should be random",
  ERR_ACCESS_RUNS: "wait until a run ends, or stop a run (POST /ag-ui/stop)",
  ERR_ACCESS_ADDRESS: "wait until other connections from the same address are closed",
  ERR_ACCESS_FULL: "try again in a minute",
  ERR_ACCESS_KEYS: "try again; the gateway could not fetch the issuer's keys",
  ERR_REQUEST_TIMEOUT: "send the whole request at once",
  ERR_STREAM_GONE: "start a new run: the stream has ended, or this gateway does not hold it",
  ERR_STREAM_UNREACHABLE:
    "try again after Retry-After; if the error persists, check that the gateway reaches Redis at cluster.redis",
  ERR_STREAM_LIMIT:
    "try again after Retry-After, or raise followed_streams under limits in countersign.yaml",
  ERR_RECEIPTS_QUESTION:
    "set receipts to 1 to get the receipts of forwarded events, or leave it out",
  ERR_SESSION_NAME: "use a session name of letters, digits and . : @ _ -, 256 characters at most",
  ERR_AGENT_CONTAINED: "wait until an operator resumes the agent",
  ERR_RUN_DRAINING: "try again after Retry-After",
  ERR_RUN_STOPPED: "start a new run if the stop was not intended",
  ERR_SOCKET_FRAME: "send one JSON text per frame",
  ERR_SOCKET_RATE:
    "send fewer messages per second, or raise messages_per_second under limits in countersign.yaml",
  ERR_UPSTREAM_UNREACHABLE:
    "check that the agent runs at the address in countersign.yaml (countersign doctor URL)",
  ERR_UPSTREAM_STATUS:
    "find out why the agent rejects the request (countersign doctor URL, and the agent's log)",
  ERR_UPSTREAM_NOT_A_STREAM:
    "check that the address is the agent's AG-UI endpoint (countersign doctor URL)",
  ERR_UPSTREAM_NOT_JSON:
    "check that the address in countersign.yaml is the base path of the CopilotKit runtime",
  ERR_UPSTREAM_ENCODING: "change the agent to respond without content-encoding",
  ERR_UPSTREAM_TIMEOUT: "find out why the agent is slow, or raise its timeouts in countersign.yaml",
  ERR_LOG_QUEUE_FULL: "try again after Retry-After",
  ERR_LOG_CLOSED: "try again after Retry-After",
  ERR_LOG_FOREIGN_TAIL: "contact the operator: another program wrote to the receipt store",
  ERR_LOG_INCONSISTENT: "contact the operator: the receipt store lost entries",
};

/** Codes of the listeners, and of a `RUN_ERROR` with which the gateway ends a stream. */
const LISTENER_REMEDIES = {
  ORIGIN_NOT_ALLOWED: "list the page's origin under origins in countersign.yaml",
  AGENT_UNKNOWN: "use a name that is listed under agents in countersign.yaml",
  SESSION_MISSING: "name the session in the address: ?session=NAME",
  STOP_UNREADABLE: 'send {"runId": …}, with the session in the address',
  RUNTIME_ROUTE_CLOSED:
    "list the route under agents.NAME.routes in countersign.yaml; the policy does not judge what such a route returns",
  RUNTIME_ROUTE_UNKNOWN: `${pageAddress("how-to/copilotkit.md")} lists the routes`,
  RUNTIME_AGENT_CLOSED: "list the agent under agents.NAME.runtime_agents in countersign.yaml",
  RUNTIME_CALL_UNREADABLE:
    'send JSON: {"method": "agent/run", "params": {"agentId": …}, "body": {…}}',
  BAD_ADDRESS: "send a path without .., \\ and #, and one Host header",
  METHOD_NOT_ALLOWED: "POST a RunAgentInput, or GET the paths of EventSource and WebSocket",
  NOT_FOUND: `POST to /agents/NAME; ${pageAddress("gateway.md#paths")} lists every path`,
  INTERNAL: "repeat the request; the gateway's log names the cause",
  RUN_STOPPED: "start a new run if the stop was not intended",
  GATEWAY_LOST: "start a new run; the agent may have done part of the work",
  ACCESS_EXPIRED: "get a new credential and connect again",
  BLOCKED_BY_POLICY: "run countersign policy explain RECEIPT with the receipt that the error names",
  RECEIPTS_UNAVAILABLE:
    "check the receipt store and the thread ledger; the log line `run failed` names the cause. The gateway forwards no event without its receipt",
  RUN_LIMIT:
    "find out why the agent sends so much, or raise run_timeout, run_events or run_bytes under limits in countersign.yaml",
  GATEWAY_LIMIT:
    "change the agent to send less at once, or raise the limit under limits in countersign.yaml",
  GATEWAY_FAILURE:
    "check the gateway's log and the withheld events of the run (countersign receipts list --run RUN --blocked)",
  AGENT_PROTOCOL_VIOLATION: "fix the agent: countersign doctor URL names the rule and the event",
  AGENT_MALFORMED_EVENT: "fix the agent: countersign doctor URL shows the event",
  AGENT_DIALECT_NOT_CONFIGURED:
    "set dialect: envelope for the agent in countersign.yaml if the agent sends envelopes",
  AGENT_UNREACHABLE:
    "check that the agent runs at the address in countersign.yaml (countersign doctor URL)",
  AGENT_REFUSED:
    "find out why the agent rejects the request (countersign doctor URL, and the agent's log)",
  AGENT_NOT_AG_UI: "check that the address is the agent's AG-UI endpoint (countersign doctor URL)",
  AGENT_TIMEOUT: "find out why the agent is slow, or raise its timeouts in countersign.yaml",
  AGENT_STREAM_TRUNCATED: "find out in the agent's log why its stream broke off",
  AGENT_STREAM_WITHOUT_END: "change the agent to end every run with RUN_FINISHED or RUN_ERROR",
};

const REMEDIES: ReadonlyMap<string, string> = new Map([
  ...Object.entries(CODE_REMEDIES),
  ...Object.entries(LISTENER_REMEDIES),
]);

/** Codes that share a fix: those of the JSON reader, and those of the store. */
const FAMILIES: readonly (readonly [RegExp, string])[] = [
  [
    /^ERR_JSON_/,
    "send valid JSON (RFC 8259): each key once, no lone surrogates, within the limits",
  ],
  [/^ERR_DIALECT_/, "send one dialect, preferably the names of AG-UI 1.0"],
  [
    /^ERR_ENFORCE_/,
    "send a RunAgentInput as AG-UI defines it; the detail names the invalid member",
  ],
  [
    /^ERR_(STORE|SIGN|LOG)_/,
    "try again after Retry-After; if the error persists, check the receipt store",
  ],
];

/** Every code with a fix of its own, and the fix. */
export function allRemedies(): ReadonlyMap<string, string> {
  return REMEDIES;
}

/** The fix for a client that was refused with this code; `undefined` for codes that no client receives. */
export function remedyOf(code: string): string | undefined {
  return REMEDIES.get(code) ?? FAMILIES.find(([pattern]) => pattern.test(code))?.[1];
}
