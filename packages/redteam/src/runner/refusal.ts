import { isJsonObject, ownMember, parseJson } from "@countersign/core";
import type { JsonObject, JsonValue } from "@countersign/core";
import { textMember } from "../oatf/json/values.js";
import type { Refusal } from "./channel.js";

/** Answers that mean "not this request", as opposed to "not here", "not you" or "not now". */
const DELIBERATE = new Set([400, 403, 409, 413, 415, 422]);

/** Whether a status says that the target looked at the request and would not have it. */
export function isDeliberate(refusal: Pick<Refusal, "status">): boolean {
  return DELIBERATE.has(refusal.status);
}

/** Codes that speak of a thread or a run that was used before, whatever the request holds. */
const ABOUT_IDS =
  /conflict|history_dropped|(?:run|thread)_?(?:id_?)?(?:is_?)?(?:already|active|busy|reused|used|exists|locked|stopped|in_?use|duplicate)/i;

/**
 * Whether a refusal is about ids that were used before: the runner's own earlier request stands in the way, and what
 * the request holds was not judged.
 */
export function isAboutUsedIds({ status, code = "" }: Pick<Refusal, "status" | "code">): boolean {
  return status === 409 || ABOUT_IDS.test(code);
}

/** {@link isAboutUsedIds} for a RUN_ERROR, where a socket has no status. */
export function isErrorAboutUsedIds(event: JsonValue): boolean {
  return [event, ...problemsIn(event)].some((one) => {
    const status = ownMember(one, "status");
    const code = textMember(one, "code");
    return isAboutUsedIds({
      status: typeof status === "number" ? status : 0,
      ...(code === undefined ? {} : { code }),
    });
  });
}

/** Reads a refusal; without a problem document only the status remains. */
export function readRefusal(status: number, body: string): Refusal {
  let problem: JsonValue = null;
  try {
    problem = parseJson(body);
  } catch {
    // Any text may stand in a refusal.
  }
  const code = textMember(problem, "code");
  const title = textMember(problem, "title");
  const receipt = receiptIn(problem);
  return {
    status,
    ...(code === undefined ? {} : { code: code.slice(0, 128) }),
    ...(title === undefined ? {} : { title: title.slice(0, 256) }),
    ...(receipt === undefined ? {} : { receipt }),
  };
}

/** The problem documents that an error event carries in its metadata, where a socket has no status and no body. */
function problemsIn(event: JsonValue): JsonValue[] {
  const metadata = ownMember(event, "metadata");
  if (!isJsonObject(metadata)) return [];
  return [metadata, ...Object.values(metadata)].flatMap((one) => ownMember(one, "problem") ?? []);
}

/** The receipt id a gateway put into a problem, an error event or a notice. */
export function receiptIn(value: JsonValue): string | undefined {
  for (const holder of [
    value,
    ownMember(value, "value") ?? null,
    ownMember(value, "metadata") ?? null,
    ...problemsIn(value),
  ]) {
    for (const key of ["receipt", "receipt_id", "receiptId"]) {
      const found = textMember(holder, key);
      if (found !== undefined && /^[\w:.-]{4,128}$/.test(found)) return found;
    }
  }
  return undefined;
}

/** Words in the code of a RUN_ERROR that mean a rejection of the request. */
const REJECTION_WORDS: ReadonlySet<string> = new Set(
  (
    "refuse refused refusal reject rejected rejection deny denied denial forbid forbidden block blocked policy " +
    "guard guardrail guardrails violation violated moderation moderated safety unsafe jailbreak disallowed prohibited"
  ).split(" "),
);
/** The same in two words. */
const REJECTION_PAIRS =
  /(?:^| )(?:not allowed|content filter|content filtered|approval required)(?: |$)/;
/** Words beside them that mean a failure: a connection that was refused, a constraint of a database, a lock. */
const FAILURE_WORDS: ReadonlySet<string> = new Set(
  (
    "connection connect socket network host dns tls unhandled uncaught promise unique foreign primary key null " +
    "constraint integrity sharing lock locked thread retry retries timeout exhausted failed failure unavailable rate " +
    "quota billing io"
  ).split(" "),
);

function isRejectionCode(code: string): boolean {
  const words = code
    .replaceAll(/([a-z\d])(?=[A-Z])/g, "$1 ")
    .toLowerCase()
    .split(/[^a-z]+/);
  if (words.some((word) => FAILURE_WORDS.has(word))) return false;
  return words.some((word) => REJECTION_WORDS.has(word)) || REJECTION_PAIRS.test(words.join(" "));
}

/**
 * Whether a RUN_ERROR is a refusal. An agent that crashes, times out or cannot reach its model ends a run in
 * the same way. So a RUN_ERROR is a refusal only with a receipt, a deliberate status, or a code that names
 * one.
 */
export function isRefusalEvent(event: JsonValue): boolean {
  if (receiptIn(event) !== undefined) return true;
  const statuses = problemsIn(event).map((problem) => ownMember(problem, "status"));
  if (statuses.some((status) => DELIBERATE.has(status as number))) return true;
  return isRejectionCode(textMember(event, "code") ?? "");
}

const NOTICE = /\.blocked$/;

/** The name of what stood in the way: a rule in a notice, a code in an error or a refusal. */
export function refusalReasonIn(value: JsonValue): string | undefined {
  for (const holder of [ownMember(value, "value") ?? null, value]) {
    for (const key of ["rule", "code"]) {
      const found = textMember(holder, key);
      if (found !== undefined && /^[\w/:.-]{2,128}$/.test(found)) return found;
    }
  }
  return undefined;
}

/** The receipt of an event by which a gateway says that it withheld something. */
export function receiptOfEvent(name: string, event: JsonObject): string | undefined {
  return saysNo(name, event) ? receiptIn(event) : undefined;
}

/** The rule or code that such an event names. */
export function refusalReasonOfEvent(name: string, event: JsonObject): string | undefined {
  return saysNo(name, event) ? refusalReasonIn(event) : undefined;
}

function saysNo(name: string, event: JsonObject): boolean {
  if (name === "run_error") return isRefusalEvent(event);
  return name === "custom" && NOTICE.test(textMember(event, "name") ?? "");
}
