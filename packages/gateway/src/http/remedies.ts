import { pageAddress } from "@countersign/core";
import type { ErrorCode } from "@countersign/core";
import type { FindingCode } from "../inbound/finding.js";
import type { SendBlocker } from "../inbound/send-blocker.js";

/** The fix for each refusal that depends on the thread; a finding with a more specific fix carries its own. */
const FINDING_REMEDIES: Readonly<Record<FindingCode | SendBlocker["code"], string>> = {
  ERR_INBOUND_UNKNOWN_KEY:
    "send only what AG-UI defines for the client's version; own data belongs into forwardedProps, state or metadata; ag_ui_request.unknown_keys.action: strip removes unknown keys instead",
  ERR_MESSAGE_NO_RUN: "send the input first, and messages while its run is open",
  ERR_MESSAGE_ONE_WAY:
    "send it with the next request; only an agent behind ws: takes messages while it answers",
  ERR_THREAD_OWNER: "use a thread of one's own; thread ids should be random",
  ERR_RUN_ID_REUSED: "send a fresh runId with every request",
  ERR_RUN_ACTIVE: "wait for the end of the run before, or stop it (POST /ag-ui/stop)",
  ERR_HISTORY_INVENTED:
    "start a new thread, or send only what is new; roles that clients may add are listed in ag_ui_request.history.new_roles",
  ERR_HISTORY_REWRITTEN: "send messages back as they came, each under its own id",
  ERR_HISTORY_DROPPED:
    "send the whole history, its end without a gap, or only new messages, which come last; ag_ui_request.history.rollback allows leaving out the end",
  ERR_HISTORY_UNFINISHED:
    "leave the message out, or set ag_ui_request.history.unfinished: accept in the policy",
  ERR_HISTORY_INTERLEAVED:
    "send new messages last, or set ag_ui_request.history.interleaved: accept in the policy",
  ERR_TOOL_RESULT_UNKNOWN:
    "answer only calls that arrived whole on this thread, under their own id",
  ERR_TOOL_RESULT_TWICE: "answer each call once",
  ERR_TOOL_RESULT_FOREIGN: "declare the tool in tools of the run that calls it",
  ERR_RESUME_UNKNOWN: "answer the interrupts of the latest RUN_FINISHED",
  ERR_RESUME_INCOMPLETE:
    'answer or cancel every open interrupt: resume: [{"interruptId": …, "status": "resolved" or "cancelled"}]',
  ERR_RESUME_EXPIRED: "cancel it, and let the agent ask again",
  ERR_RESUME_MISMATCH: "send a payload that fits the interrupt's responseSchema",
  ERR_RESUME_ANSWERED: "keep to the first answer",
  ERR_TOOLS_NAME:
    "give each tool a name of its own, of printable ASCII without spaces, 128 characters at most",
  ERR_TOOLS_SHADOWED: "rename the client's tool",
  ERR_TOOLS_UNPINNED: "review the tool and add its hash to ag_ui_request.tools.pinned",
  ERR_STATE_REFUSED: "send less state, or widen ag_ui_request.state in the policy",
  ERR_CONTEXT_REFUSED: "send less context, or widen ag_ui_request.context in the policy",
  ERR_FORWARDED_PROPS_REFUSED: "list the key in ag_ui_request.forwarded_props.allow in the policy",
};

const CODE_REMEDIES: Partial<Record<ErrorCode, string>> = {
  ...FINDING_REMEDIES,
  ERR_INBOUND_BLOCKED:
    "look at the receipt (countersign policy explain RECEIPT): its rule says what would open this",
  ERR_LIMIT_EXCEEDED: "send less at once, or raise the limit under limits in countersign.yaml",
  ERR_RUN_TIME: "see why the agent does not finish, or raise limits.run_timeout",
  ERR_RUN_SILENCE:
    "have the agent report its work as events (STEP_STARTED, ACTIVITY_SNAPSHOT), or raise limits.run_silence",
  ERR_RUN_EVENTS: "have the agent send fewer, larger deltas, or raise limits.run_events",
  ERR_RUN_BYTES: "have the agent send patches in place of snapshots, or raise limits.run_bytes",
  ERR_ID_TOO_LONG: "use shorter ids",
  ERR_ID_CHARACTERS: "write ids, names and codes without control characters and line breaks",
  ERR_ENVELOPE_NOT_CONFIGURED:
    "set dialect: envelope for the agent in countersign.yaml, if it is meant to send envelopes",
  ERR_LEDGER_FULL: "go on in a new thread",
  ERR_LEDGER_UNAVAILABLE:
    "repeat the request; if it stays, look at the store that receipts.store names",
  ERR_ACCESS_MISSING: `send a credential; ${pageAddress("access.md")} says how for each transport`,
  ERR_ACCESS_TOKEN: "get a fresh credential; the gateway's log says what is wrong with this one",
  ERR_ACCESS_SCOPE: "ask for a token with the scope that access.jwt.scopes names",
  ERR_ACCESS_SESSION: "use a session of one's own; session names should be random",
  ERR_ACCESS_RUNS: "wait for a run to end, or stop one (POST /ag-ui/stop)",
  ERR_ACCESS_ADDRESS: "wait until others of the same address are done",
  ERR_ACCESS_FULL: "try again in a minute",
  ERR_ACCESS_KEYS: "try again; the issuer's keys could not be read",
  ERR_REQUEST_TIMEOUT: "send the whole request at once",
  ERR_STREAM_GONE: "ask anew: the stream is over, or was never kept here",
  ERR_STREAM_UNREACHABLE:
    "come back again after Retry-After; if it stays, see that gateways reach each other at fleet.address",
  ERR_STREAM_RELAYS:
    "come back again after Retry-After, or raise relays under limits in countersign.yaml",
  ERR_RECEIPTS_QUESTION: "write 1 to get the receipts of what is shown, or leave it out",
  ERR_SESSION_NAME: "name the session with letters, digits or any of . : @ _ -, 256 at most",
  ERR_RUN_DRAINING: "try again after Retry-After",
  ERR_RUN_STOPPED: "ask again if it was not meant",
  ERR_SOCKET_FRAME: "send one JSON text per frame",
  ERR_SOCKET_RATE:
    "send fewer messages a second, or raise messages_per_second under limits in countersign.yaml",
  ERR_UPSTREAM_UNREACHABLE:
    "see that the agent runs at the address in countersign.yaml (countersign doctor URL)",
  ERR_UPSTREAM_STATUS: "see why the agent says no (countersign doctor URL, and its own log)",
  ERR_UPSTREAM_NOT_A_STREAM:
    "see that the address is the agent's AG-UI endpoint (countersign doctor URL)",
  ERR_UPSTREAM_ENCODING: "have the agent answer without content-encoding",
  ERR_UPSTREAM_TIMEOUT: "see why the agent is slow, or raise its timeouts in countersign.yaml",
  ERR_LOG_QUEUE_FULL: "try again after Retry-After",
  ERR_LOG_CLOSED: "try again after Retry-After",
  ERR_LOG_FOREIGN_TAIL: "ask the operator: another program wrote to the receipt store",
  ERR_LOG_INCONSISTENT: "ask the operator: the store of receipts lost entries",
};

/** Codes of the listeners, and of a `RUN_ERROR` with which the gateway ends a stream. */
const LISTENER_REMEDIES = {
  ORIGIN_NOT_ALLOWED: "list the page's origin under origins in countersign.yaml",
  AGENT_UNKNOWN: "use a name that stands under agents in countersign.yaml",
  SESSION_MISSING: "name the session in the address: ?session=NAME",
  STOP_UNREADABLE: 'send {"runId": …}, with the session in the address',
  BAD_ADDRESS: "write the path plainly, without .., \\ and #, and Host once",
  METHOD_NOT_ALLOWED: "POST a RunAgentInput, or GET the paths of EventSource and WebSocket",
  NOT_FOUND: `POST to /agents/NAME; ${pageAddress("gateway.md#paths")} lists every path`,
  INTERNAL: "repeat the request; the gateway's log has the cause",
  RUN_STOPPED: "ask again if it was not meant",
  ACCESS_EXPIRED: "get a fresh credential and connect again",
  BLOCKED_BY_POLICY: "look at the receipt that the error names: countersign policy explain RECEIPT",
  RECEIPTS_UNAVAILABLE:
    "look at the receipt store and the thread ledger; the log line `run failed` names the cause. The gateway delivers no event without its receipt",
  RUN_LIMIT:
    "see why the agent sends so much, or raise run_timeout, run_events or run_bytes under limits in countersign.yaml",
  GATEWAY_LIMIT:
    "have the agent send less at once, or raise the limit under limits in countersign.yaml",
  GATEWAY_FAILURE:
    "look at the gateway's log, and at what was withheld in the run (countersign receipts list --run RUN --blocked)",
  AGENT_PROTOCOL_VIOLATION: "fix the agent: countersign doctor URL names the rule and the event",
  AGENT_MALFORMED_EVENT: "fix the agent: countersign doctor URL shows the event",
  AGENT_DIALECT_NOT_CONFIGURED:
    "set dialect: envelope for the agent in countersign.yaml, if it is meant to send envelopes",
  AGENT_UNREACHABLE:
    "see that the agent runs at the address in countersign.yaml (countersign doctor URL)",
  AGENT_REFUSED: "see why the agent says no (countersign doctor URL, and its own log)",
  AGENT_NOT_AG_UI: "see that the address is the agent's AG-UI endpoint (countersign doctor URL)",
  AGENT_TIMEOUT: "see why the agent is slow, or raise its timeouts in countersign.yaml",
  AGENT_STREAM_TRUNCATED: "see why the agent's stream broke off; its own log knows",
  AGENT_STREAM_WITHOUT_END: "have the agent end every run with RUN_FINISHED or RUN_ERROR",
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
  [/^ERR_DIALECT_/, "send one dialect, the names of AG-UI 1.0 best of all"],
  [/^ERR_ENFORCE_/, "send a RunAgentInput as AG-UI defines it; the detail names the place"],
  [/^ERR_(STORE|SIGN|LOG)_/, "try again after Retry-After; if it stays, look at the receipt store"],
];

/** Every code with a fix of its own, and the fix. */
export function allRemedies(): ReadonlyMap<string, string> {
  return REMEDIES;
}

/** The fix for a client that was refused with this code; `undefined` for codes that no client receives. */
export function remedyOf(code: string): string | undefined {
  return REMEDIES.get(code) ?? FAMILIES.find(([pattern]) => pattern.test(code))?.[1];
}
