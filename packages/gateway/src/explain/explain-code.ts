import type { ErrorCode } from "@countersign/core";
import { isRunLimit } from "../event/run-limits.js";
import { statusOf } from "../http/problem.js";
import type { Opening, RequestCheckName } from "@countersign/policy";
import { remedyOf } from "../http/remedies.js";
import type { FindingCode } from "../inbound/finding.js";
import { OWN_RULES, REQUEST_RULES } from "../event/own-rules.js";

/** The meaning of a code in a problem document or a `RUN_ERROR`. */
export type CodeMeaning = {
  /** The HTTP status, for codes of rejected requests. */
  readonly status?: number;
  readonly title?: string;
  readonly remedy: string;
  readonly opening: Opening;
};

/** Whether a code ends a stream that has begun: no response has a status for it. */
function endsStream(code: string): boolean {
  return isRunLimit(code) || code === "ERR_ENVELOPE_NOT_CONFIGURED";
}

/** Explains the code of a rejected request; `undefined` for codes that no client gets. */
export function explainCode(code: string): CodeMeaning | undefined {
  const remedy = remedyOf(code);
  if (remedy === undefined) return undefined;
  const opening = openingOfCode(code);
  const told = { remedy, opening };
  const isResponse = code.startsWith("ERR_") && !endsStream(code);
  return isResponse ? { ...statusOf(code as ErrorCode), ...told } : told;
}

/** The opening of one thing that a name can stand for; `about` says which, where there are several. */
export type NamedOpening = { readonly about?: string; readonly opening: Opening };

/** The check of `ag_ui_request` behind each code of a rejected request. */
const CHECKS: Readonly<Record<FindingCode, RequestCheckName>> = {
  ERR_INBOUND_UNKNOWN_KEY: "unknown_keys",
  ERR_THREAD_OWNER: "threads",
  ERR_RUN_ID_REUSED: "runs",
  ERR_RUN_ACTIVE: "runs",
  ERR_HISTORY_INVENTED: "history",
  ERR_HISTORY_REWRITTEN: "history",
  ERR_HISTORY_DROPPED: "history",
  ERR_HISTORY_UNFINISHED: "history",
  ERR_HISTORY_INTERLEAVED: "history",
  ERR_TOOL_RESULT_UNKNOWN: "tool_results",
  ERR_TOOL_RESULT_TWICE: "tool_results",
  ERR_TOOL_RESULT_FOREIGN: "tool_results",
  ERR_RESUME_UNKNOWN: "resume",
  ERR_RESUME_INCOMPLETE: "resume",
  ERR_RESUME_EXPIRED: "resume",
  ERR_RESUME_MISMATCH: "resume",
  ERR_RESUME_ANSWERED: "resume",
  ERR_TOOLS_NAME: "tools",
  ERR_TOOLS_SHADOWED: "tools",
  ERR_TOOLS_UNPINNED: "tools",
  ERR_STATE_REFUSED: "state",
  ERR_CONTEXT_REFUSED: "context",
  ERR_FORWARDED_PROPS_REFUSED: "forwarded_props",
  ERR_REQUEST_ACTION_UNREADABLE: "actions",
  ERR_REQUEST_ACTION_UNKNOWN: "actions",
  ERR_REQUEST_ACTION_CONTEXT: "actions",
  ERR_REQUEST_ACTION_USED: "actions",
  ERR_REQUEST_APP_UNKNOWN: "actions",
  ERR_REQUEST_APP_METHOD: "actions",
};

const config = (lines: string): Opening => ({ config: lines });
const policy = (lines: string): Opening => ({ policy: lines });
const runLimits = OWN_RULES["gateway/run-limit"].opening;
const envelopes = config("agents: { NAME: { url: http://127.0.0.1:8000/, dialect: envelope } }");
const timeouts = config(
  "agents: { NAME: { url: http://127.0.0.1:8000/, answer_timeout: 120, idle_timeout: 600 } }",
);

/** Codes that a setting opens. */
const OPENINGS: Readonly<Record<string, Opening>> = {
  ...Object.fromEntries(
    Object.entries(CHECKS).map(([code, check]) => [code, REQUEST_RULES[check].opening]),
  ),
  // Narrower than the mode of the whole check.
  ERR_HISTORY_UNFINISHED: policy("ag_ui_request: { history: { unfinished: accept } }"),
  ERR_HISTORY_INTERLEAVED: policy("ag_ui_request: { history: { interleaved: accept } }"),
  ERR_REQUEST_ACTION_USED: policy("ag_ui_request: { actions: { repeat: [ACTION] } }"),
  ERR_RUN_TIME: runLimits,
  ERR_RUN_SILENCE: runLimits,
  ERR_RUN_EVENTS: runLimits,
  ERR_RUN_BYTES: runLimits,
  RUN_LIMIT: runLimits,
  ERR_LIMIT_EXCEEDED: config("limits: { body_bytes: 10485760, frame_bytes: 10485760 }"),
  GATEWAY_LIMIT: config("limits: { body_bytes: 10485760, frame_bytes: 10485760 }"),
  ERR_ENVELOPE_NOT_CONFIGURED: envelopes,
  AGENT_DIALECT_NOT_CONFIGURED: envelopes,
  ERR_ACCESS_RUNS: config("limits: { runs_per_principal: 1024 }"),
  ERR_ACCESS_ADDRESS: config("limits: { connections_per_address: 1024 }"),
  ERR_REQUEST_TIMEOUT: config("limits: { request_timeout: 120 }"),
  ERR_STREAM_LIMIT: config("limits: { followed_streams: 4096 }"),
  ERR_SOCKET_RATE: config("limits: { messages_per_second: 1000 }"),
  ERR_MESSAGE_ONE_WAY: OWN_RULES["gateway/one-way"].opening,
  ERR_UPSTREAM_TIMEOUT: timeouts,
  AGENT_TIMEOUT: timeouts,
  ORIGIN_NOT_ALLOWED: config("origins: [https://app.example.org]"),
  ERR_CONTROL_SESSION_OWNER: {
    closed: "the request itself allows it with allow_unowned_session: true",
  },
  ACCESS_EXPIRED: { closed: "an expired credential is invalid; get a new one" },
  ERR_INBOUND_BLOCKED: {
    closed:
      "the code names no rule; explain the receipt of the rejected request, whose rule has its own lines",
  },
  BLOCKED_BY_POLICY: {
    closed:
      "the code names no rule; explain the receipt of the error, whose rule has its own lines",
  },
};

/** An opening for the refused parts whose sentence fits. */
type OpeningOfPart = {
  readonly about: string;
  readonly fits: RegExp;
  readonly opening: Opening;
};

const OBSERVED = policy("ag_ui_request: { history: { mode: observe } }");

/** Codes whose opening depends on the refused part; the first one fits most requests. */
const SEVERAL: Readonly<Record<string, readonly OpeningOfPart[]>> = {
  ERR_HISTORY_INVENTED: [
    {
      about: "a greeting of the page, as text of the assistant that begins a new thread",
      fits: /speaks as assistant/u,
      opening: policy("ag_ui_request: { history: { greeting: accept } }"),
    },
    {
      about: "instructions of the page (system, developer)",
      fits: /speaks as (?:system|developer)/u,
      opening: policy("ag_ui_request: { history: { new_roles: [user, tool, system, developer] } }"),
    },
    {
      about:
        "any other message, for every client: the gateway records the difference and accepts it",
      fits: /speaks as (?!system|developer)|encrypted value/u,
      opening: OBSERVED,
    },
  ],
  ERR_HISTORY_DROPPED: [
    {
      about: "a client that leaves out the end of the history (edit, regenerate)",
      fits: /the end of the history is missing/u,
      opening: policy("ag_ui_request: { history: { rollback: true } }"),
    },
    {
      about: "any other difference, for every client: the gateway records it and accepts it",
      fits: /./u,
      opening: OBSERVED,
    },
  ],
};

/** The openings of an error code; for a sentence with the code, those that fit it. */
export function openingsOfCode(code: string, sentence?: string): readonly NamedOpening[] {
  const all = Object.hasOwn(SEVERAL, code) ? (SEVERAL[code] ?? []) : [];
  const fitting = all.filter(({ fits }) => sentence !== undefined && fits.test(sentence));
  const chosen = fitting.length === 0 ? all : fitting;
  if (chosen.length === 0) return [{ opening: openingOfCode(code) }];
  return chosen.map(({ about, opening }) => ({ about, opening }));
}

/** The reasons why no setting opens the codes of a family. */
const FAMILIES: readonly (readonly [RegExp, string])[] = [
  [
    /^ERR_(?:JSON|DIALECT|ENFORCE|DECODE|SSE|PROTO|WEBSOCKET|CHUNK|SOCKET|BYTES|ID|REDUCE|PATCH|ORDER)_|^AGENT_(?:MALFORMED|PROTOCOL|NOT_AG_UI)/u,
    "the gateway cannot evaluate input that it cannot parse or that violates the protocol, so no setting allows it",
  ],
  [
    /^ERR_(?:ACCESS|SESSION|CAPABILITY|CONTROL)_/u,
    "the code protects the access to the gateway; no setting allows a request without the credential",
  ],
  [
    /^ERR_(?:STORE|SIGN|LOG|LEDGER|ENTRY|KEYS|RECEIPT|CHECKPOINT|NOTE|TILE|PROOF|EXPORT|REVOCATIONS|BUDGETS|VELOCITY|FLEET)_|^RECEIPTS_UNAVAILABLE$/u,
    "the gateway forwards no event without a receipt and verifies every receipt; no setting changes that",
  ],
  [
    /^ERR_(?:UPSTREAM|STREAM|RUN|MESSAGE)_|^AGENT_|^RUN_STOPPED$|^GATEWAY_(?:FAILURE|LOST)$/u,
    "the code reports the end of a run; the gateway blocked nothing that a setting could allow",
  ],
];

/** The opening of an error code, or the reason why there is none. */
export function openingOfCode(code: string): Opening {
  const first = Object.hasOwn(SEVERAL, code) ? SEVERAL[code]?.[0] : undefined;
  if (first !== undefined) return first.opening;
  const known = Object.hasOwn(OPENINGS, code) ? OPENINGS[code] : undefined;
  if (known !== undefined) return known;
  const closed =
    FAMILIES.find(([pattern]) => pattern.test(code))?.[1] ??
    "the code reports an error, not a decision; no setting applies";
  return { closed };
}
