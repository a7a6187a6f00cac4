import { CountersignError } from "@countersign/core";
import type { CompiledPolicy, Denial, RequestCheckName } from "@countersign/policy";
import type { StoredRow } from "../store/keyed-store.js";
import "../base/errors.js";
import type { RefusedPart } from "../base/errors.js";

/** The codes with which the gateway's own checks refuse a request. The policy may switch a check off or let it observe: {@link sortFindings}. */
export type FindingCode =
  | "ERR_INBOUND_UNKNOWN_KEY"
  | "ERR_THREAD_OWNER"
  | "ERR_RUN_ID_REUSED"
  | "ERR_RUN_ACTIVE"
  | "ERR_HISTORY_INVENTED"
  | "ERR_HISTORY_REWRITTEN"
  | "ERR_HISTORY_DROPPED"
  | "ERR_HISTORY_UNFINISHED"
  | "ERR_HISTORY_INTERLEAVED"
  | "ERR_TOOL_RESULT_UNKNOWN"
  | "ERR_TOOL_RESULT_TWICE"
  | "ERR_TOOL_RESULT_FOREIGN"
  | "ERR_RESUME_UNKNOWN"
  | "ERR_RESUME_INCOMPLETE"
  | "ERR_RESUME_EXPIRED"
  | "ERR_RESUME_MISMATCH"
  | "ERR_RESUME_ANSWERED"
  | "ERR_TOOLS_NAME"
  | "ERR_TOOLS_SHADOWED"
  | "ERR_TOOLS_UNPINNED"
  | "ERR_STATE_REFUSED"
  | "ERR_CONTEXT_REFUSED"
  | "ERR_FORWARDED_PROPS_REFUSED"
  | "ERR_REQUEST_ACTION_UNREADABLE"
  | "ERR_REQUEST_ACTION_UNKNOWN"
  | "ERR_REQUEST_ACTION_CONTEXT"
  | "ERR_REQUEST_ACTION_USED"
  | "ERR_REQUEST_APP_UNKNOWN"
  | "ERR_REQUEST_APP_METHOD";

/** A part of a request that a check of the gateway refuses or reports. */
export type Finding = {
  readonly check: RequestCheckName;
  readonly code: FindingCode;
  /** A sentence without any value from the client. */
  readonly reason: string;
  /** The JSON Pointer of the part in the request; see {@link pointerTo}. */
  readonly at?: string | undefined;
  /** The id of the missing or repeated part, for the client only. */
  readonly about?: string | undefined;
  /** A fix that is more specific than the one for the code. */
  readonly remedy?: string | undefined;
  /** Open interrupts without an answer. */
  readonly open?: readonly string[];
  /** Recorded, but never refused. */
  readonly isReportOnly?: boolean;
  /** Refused in every policy mode, because the gateway cannot do it. */
  readonly isMandatory?: true;
};

/** The thread belongs to another principal. */
export const FOREIGN: Finding = {
  check: "threads",
  code: "ERR_THREAD_OWNER",
  reason: "the thread belongs to another principal",
  at: "/threadId",
};

export const USED: Finding = {
  check: "runs",
  code: "ERR_RUN_ID_REUSED",
  reason: "this run id was used before",
  at: "/runId",
};

/** A socket has one run at a time: a client could not assign the frames of two runs. */
export const SECOND_RUN: Finding = {
  check: "runs",
  code: "ERR_RUN_ACTIVE",
  reason: "the socket has an open run",
  isMandatory: true,
};

/** A row that only one gateway can write, and the finding for the gateway that comes second. A lookup writes nothing. */
export type AnswerClaim = {
  readonly row: StoredRow;
  readonly finding: Finding;
  readonly isLookup?: true;
};

const RULE_PREFIX = "ag_ui_request.";

/** The rule id that a receipt names for a finding. */
export function ruleOf({ check }: Finding): string {
  return RULE_PREFIX + check;
}

/** Whether a denial comes from the gateway's own checks rather than from the policy's other rules. */
export function isFindingDenial({ rule }: Denial): boolean {
  return rule.startsWith(RULE_PREFIX);
}

/** Sorts the findings that the policy does not switch off. */
export function sortFindings(
  findings: readonly Finding[],
  { request }: CompiledPolicy,
): {
  /** The finding that refuses the request. */
  readonly refusing: Finding | undefined;
  /** The findings that refuse it in enforce mode. */
  readonly violations: readonly Finding[];
  readonly reported: readonly Finding[];
} {
  const counted = findings.filter(
    ({ check, isMandatory }) => isMandatory === true || request.mode(check) !== "off",
  );
  const violations = counted.filter(({ isReportOnly }) => isReportOnly !== true);
  return {
    refusing: violations.find(
      ({ check, isMandatory }) => isMandatory === true || request.mode(check) === "enforce",
    ),
    violations,
    reported: counted.filter(({ isReportOnly }) => isReportOnly === true),
  };
}

/** Converts a finding to a denial. */
export function denialOf(finding: Finding): Denial {
  return {
    allow: false,
    rule: ruleOf(finding),
    reason: `${finding.code}: ${placed(finding)}`,
    reasonCode: "evaluation_failed",
    onBlock: "end",
    ...(finding.at === undefined ? {} : { path: finding.at }),
  };
}

/** Creates the error that the client receives for a finding. */
export function errorOf(finding: Finding): CountersignError {
  const { code, at, about, remedy, open = [] } = finding;
  const message = placed(finding) + (about === undefined ? "" : `: ${about.slice(0, MAX_ID)}`);
  const part: RefusedPart = {
    ...(at === undefined ? {} : { pointer: at }),
    ...(remedy === undefined ? {} : { remedy }),
  };
  const facts = code === "ERR_RESUME_INCOMPLETE" ? { ...part, open } : part;
  return new CountersignError(code, message, facts);
}

const MAX_ID = 128;

function placed({ reason, at }: Finding): string {
  return at === undefined ? reason : `${reason}, at ${at}`;
}

/** An identifier as programs use it for a key; any other key may contain a person's words. */
const PLAIN = /^[A-Za-z_$][\w$.-]{0,39}$/;

/**
 * Returns the JSON Pointer (RFC 6901) of a part of a request, for responses and receipts.
 *
 * The client chooses the keys. The pointer ends above a key that is not a plain identifier.
 */
export function pointerTo(...steps: readonly (string | number)[]): string {
  let pointer = "";
  for (const step of steps) {
    if (typeof step === "string" && !isPlainKey(step)) break;
    pointer += `/${step}`;
  }
  return pointer;
}

/** Whether a response or a receipt may contain a key. */
export function isPlainKey(key: string): boolean {
  return PLAIN.test(key);
}
