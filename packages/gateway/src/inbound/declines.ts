import { parseLeniently } from "@countersign/core";

/** Words by which an answer declines, in the forms of the verb, and with the object or duration that follows them. */
const DECLINES =
  /^(?:(?:the )?(?:user|human|person) (?:has )?|i )?(?:no|nope|false|n|0|none|never(?: mind)?|abort(?:ed)?|block(?:ed)?|cancel(?:l?ed)?|declin(?:e|ed)|den(?:y|ied)|disagree|disallow(?:ed)?|disapprov(?:e|ed)|dismiss(?:ed)?|forbid(?:den)?|ignor(?:e|ed)|refus(?:e|ed)|reject(?:ed|ion)?|stop(?:ped)?|(?:not|do not|don[\u2019']?t)(?: (?:approved?|allow(?:ed)?|confirm(?:ed)?|accept(?:ed)?|proceed))?)(?: (?:once|always|all|it|this|that|the|action|call|operation|permission|request|tool))*$/u;
/** Members that say yes with `true`: every other value declines. */
const YES_MEMBERS: ReadonlySet<string> = new Set([
  "accept",
  "accepted",
  "agree",
  "agreed",
  "allow",
  "allowed",
  "approve",
  "approved",
  "authorized",
  "authorised",
  "confirm",
  "confirmed",
  "consent",
  "consented",
  "granted",
  "permitted",
  "proceed",
]);
/** Members that say no with any value but an empty one, such as `{"rejected": true}` or `{"reject": {"reason": ""}}`. */
const NO_MEMBERS: ReadonlySet<string> = new Set([
  "abort",
  "aborted",
  "cancel",
  "canceled",
  "cancelled",
  "decline",
  "declined",
  "denied",
  "deny",
  "disapproved",
  "dismissed",
  "refused",
  "reject",
  "rejected",
]);
/** Members that contain the decision. */
const DECISION_MEMBERS: ReadonlySet<string> = new Set([
  "action",
  "answer",
  "approval",
  "approvals",
  "behavior",
  "behaviour",
  "choice",
  "confirmation",
  "decision",
  "decisions",
  "option",
  "optionid",
  "outcome",
  "payload",
  "permission",
  "response",
  "responses",
  "result",
  "resume",
  "selected",
  "selection",
  "status",
  "type",
  "value",
  "verdict",
]);
/** The nesting of a decision: the agents of LangChain have `{"decisions": [{"type": "reject"}]}`, some clients as a text. */
const MAX_DEPTH = 5;

/**
 * Whether the payload of an answer declines: with `false`, with words that decline, or with AG-UI's `{"approved": false}`
 * and its relatives, as JSON values or as text of JSON.
 */
export function declines(payload: unknown, depth = 0): boolean {
  if (payload === false || payload === 0) return true;
  // Undecided means no.
  if (depth > MAX_DEPTH) return true;
  if (typeof payload === "string") return textDeclines(payload, depth);
  // A list of decisions has one answer: one that declines declines the question.
  if (Array.isArray(payload)) return payload.some((one) => declines(one, depth + 1));
  if (typeof payload !== "object" || payload === null) return false;
  return Object.entries(payload).some(([name, value]) => {
    const member = memberOf(name);
    if (YES_MEMBERS.has(member)) return value !== true && value !== "true" && value !== 1;
    if (NO_MEMBERS.has(member)) return !isEmpty(value);
    return DECISION_MEMBERS.has(member) && declines(value, depth + 1);
  });
}

/** The first clause of a text decides: "No, thanks" declines, and "No problem, go ahead" does not. */
function textDeclines(text: string, depth: number): boolean {
  const plain = text
    .normalize("NFKC")
    .replaceAll(/\p{Cf}/gu, "")
    .trim();
  if (/^["[{]/u.test(plain)) {
    const value = parseLeniently(plain);
    if (value !== undefined) return declines(value, depth + 1);
  }
  const [clause = ""] = plain.split(/[.,;:!?\n\u2013\u2014]| - /u, 1);
  return DECLINES.test(wordsOf(clause));
}

/** One form for `reject_once`, `rejectOnce`, `REJECT-ONCE` and `Reject once`. */
function wordsOf(name: string): string {
  return name
    .slice(0, MAX_CLAUSE)
    .replaceAll(/(\p{Ll})(?=\p{Lu})/gu, "$1 ")
    .replaceAll(/[\s_-]+/gu, " ")
    .trim()
    .toLowerCase();
}

/** Longer than any clause that declines. */
const MAX_CLAUSE = 80;

/** `isApproved`, `is_approved`, `userApproved` and `Approved` are one member. */
function memberOf(name: string): string {
  return wordsOf(name)
    .replace(/^(?:is|was|has|user|human) /u, "")
    .replaceAll(" ", "");
}

function isEmpty(value: unknown): boolean {
  if (typeof value === "string") return value.trim() === "" || DECLINES.test(wordsOf(value));
  return value === undefined || value === null || value === false || value === 0;
}
