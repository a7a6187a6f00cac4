import { CountersignError } from "@countersign/core";
import { MAX_FURTHER_RULES } from "@countersign/policy";
import type { CompiledPolicy, Denial, Permit, RequestCheckName } from "@countersign/policy";
import type { LedgerRow } from "../thread/ledger.js";
import "./errors.js";
import type { RefusedPart } from "./errors.js";

/** The codes under which a request is refused by what the gateway knows, whatever a policy's rules say. */
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
  | "ERR_FORWARDED_PROPS_REFUSED";

/** Something a browser may not say. */
export type Finding = {
  readonly check: RequestCheckName;
  readonly code: FindingCode;
  /** A sentence without anything the client chose. */
  readonly reason: string;
  /** Where it stands in the request; see {@link pointerTo}. */
  readonly at?: string;
  /** The id of what is missing or was said before, for the client alone. */
  readonly about?: string;
  /** What helps, where more can be said than of every refusal with this code. */
  readonly remedy?: string;
  /** Interrupts that are open and were not answered. */
  readonly open?: readonly string[];
  /** Put on record, but never refused. */
  readonly isRemark?: true;
  /** Refused whatever a policy's mode: it cannot be done. */
  readonly isFirm?: true;
};

/** The thread is another principal's. */
export const FOREIGN: Finding = {
  check: "threads",
  code: "ERR_THREAD_OWNER",
  reason: "the thread belongs to somebody else",
  at: "/threadId",
};

/** A socket carries one run at a time: the frames of two could not be told apart. */
export const SECOND_RUN: Finding = {
  check: "runs",
  code: "ERR_RUN_ACTIVE",
  reason: "a run is still going on this socket",
  isFirm: true,
};

/** Something that is said once, whichever gateway hears it: the row that the first one puts. */
export type Claim = { readonly row: LedgerRow; readonly finding: Finding };

const RULES = "ag_ui_request.";

/** The rule that a receipt names for a finding. */
export function ruleOf({ check }: Finding): string {
  return RULES + check;
}

/** Whether a denial is what the gateway found itself, and no answer of the policy's other rules. */
export function isFound({ rule }: Denial): boolean {
  return rule.startsWith(RULES);
}

/**
 * The findings sorted by what they do under a policy: those that refuse, those that would if it did more than observe, and
 * those that are never refused.
 */
export function weigh(
  findings: readonly Finding[],
  { request }: CompiledPolicy,
): {
  refusing: Finding | undefined;
  noted: Finding | undefined;
  /** The rules of everything that is noted. */
  notedRules: string[];
  remarks: Finding[];
} {
  const counted = findings.filter(
    ({ check, isFirm }) => isFirm === true || request.mode(check) !== "off",
  );
  const refusing = counted.find(
    ({ check, isRemark, isFirm }) =>
      isFirm === true || (isRemark !== true && request.mode(check) === "enforce"),
  );
  const isRemark = (finding: Finding): boolean => finding.isRemark === true;
  const noted = counted.filter((finding) => !isRemark(finding));
  return {
    refusing,
    noted: noted[0],
    notedRules: noted.map(ruleOf),
    remarks: counted.filter(isRemark),
  };
}

/** Every rule that a pass notes. */
export function rulesNotedBy({ observed, further = [] }: Permit): string[] {
  return observed === undefined ? [] : [observed.rule, ...further];
}

/** A pass on which the first thing noted stands, and the rules of the others. */
export function permitNoting(first: Denial, rules: readonly string[]): Permit {
  const others = new Set(rules.filter((rule) => rule !== first.rule));
  const further = [...others].slice(0, MAX_FURTHER_RULES);
  return { allow: true, observed: first, ...(further.length === 0 ? {} : { further }) };
}

/** The block that a finding means. */
export function denialOf(finding: Finding): Denial {
  return {
    allow: false,
    rule: ruleOf(finding),
    reason: `${finding.code}: ${placed(finding)}`,
    reasonCode: "evaluation_failed",
    onBlock: "end",
  };
}

/** The error a refused client gets. */
export function errorOf(finding: Finding): CountersignError {
  const { code, at, about, remedy, open = [] } = finding;
  const told = placed(finding) + (about === undefined ? "" : `: ${about.slice(0, MAX_ID)}`);
  const part: RefusedPart = {
    ...(at === undefined ? {} : { pointer: at }),
    ...(remedy === undefined ? {} : { remedy }),
  };
  if (code === "ERR_RESUME_INCOMPLETE") return new CountersignError(code, told, { ...part, open });
  return new CountersignError(code, told, part);
}

const MAX_ID = 128;

function placed({ reason, at }: Finding): string {
  return at === undefined ? reason : `${reason}, at ${at}`;
}
