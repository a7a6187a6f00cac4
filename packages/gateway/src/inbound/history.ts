import type { RequestSettings } from "@countersign/policy";
import type { Message, RunAgentInput } from "@countersign/wire";
import type { StoredRow } from "../store/keyed-store.js";
import { compareMessage, recordOf } from "../thread/message-record.js";
import { isSubsequence } from "../thread/earlier-thread.js";
import { rowOf } from "../thread/thread-state.js";
import type { ThreadState } from "../thread/thread-state.js";
import { prefixProblem } from "./run-prefix.js";
import type { Finding, FindingCode } from "./finding.js";
import { pointerTo } from "./finding.js";
import { regroupTurns } from "./regroup.js";

/** The result of comparing a request's messages with the thread. */
export type HistoryReview = {
  readonly findings: Finding[];
  /** Messages that the thread does not have yet. */
  readonly fresh: Message[];
  /** Rows to write when the request is admitted. */
  readonly rows: StoredRow[];
};

/**
 * Compares the messages of a request with the thread: message by message, then turn by turn if one differs. A turn that
 * the client divided into other messages replaces the one in the ledger when the request is admitted.
 */
export function reviewHistory(
  { messages }: RunAgentInput,
  state: ThreadState,
  settings: RequestSettings["history"],
): HistoryReview {
  const review = compareMessages(messages, state, settings);
  const isSame = review.findings.every(isReportOnly);
  // A client may lack a message that a stopped run delivered. Its result under another id then looks like a new one.
  if (isSame && !review.fresh.some(({ role }) => role === "tool")) return review;
  const regrouped = regroupTurns(
    withoutPlaceholders(messages, state).map(({ message }) => message),
    state,
  );
  if (regrouped === undefined) return review;
  const loose = new Set([...state.loose, ...regrouped.superseded]);
  const again = compareMessages(regrouped.messages, { ...state, loose }, settings);
  if (!again.findings.every(isReportOnly)) return review;
  if (isSame && again.fresh.length === review.fresh.length) return review;
  const fresh = new Set(again.fresh.map(({ id }) => id));
  const replaced = [...regrouped.replaced].map(([message, run]) =>
    rowOf("message", message.id, {
      ...recordOf(message),
      from: 0,
      ...(run === undefined ? {} : { run }),
    }),
  );
  return {
    // Indexes into the regrouped messages are not indexes into the request.
    findings: again.findings.map((finding) => ({ ...finding, at: pointerTo("messages") })),
    fresh: again.fresh,
    rows: [...again.rows.filter(({ id }) => fresh.has(id)), ...replaced],
  };
}

/**
 * The messages of a request, each with its index, except empty answers that the gateway did not deliver. Clients keep
 * such an answer where a run failed before its first word. Its id must be its own: some agents replace a message by a
 * later one with its id.
 */
function withoutPlaceholders(
  messages: readonly Message[],
  { messages: known, shown }: ThreadState,
): { readonly index: number; readonly message: Message }[] {
  const count = new Map<string, number>();
  for (const { id } of messages) count.set(id, (count.get(id) ?? 0) + 1);
  const isPlaceholder = (message: Message): boolean => {
    const { id, role, metadata: _, ...others } = message;
    if (role !== "assistant" || known.has(id) || shown.has(id) || count.get(id) !== 1) return false;
    return Object.values(others).every(
      (value) => value === undefined || value === null || value.length === 0,
    );
  };
  return messages.flatMap((message, index) => (isPlaceholder(message) ? [] : [{ index, message }]));
}

function isReportOnly(finding: Finding): boolean {
  return finding.isReportOnly === true;
}

/** The place of a finding in the request, and how the gateway treats it. */
type Place = Pick<Finding, "about" | "isReportOnly" | "remedy"> & {
  readonly index?: number | undefined;
};

/** How many messages greet the person: plain text of the assistant that begins a new thread. */
function countGreetings(messages: readonly Message[], { order }: ThreadState): number {
  if (order.length > 0) return 0;
  const first = messages.findIndex(
    (message) => message.role !== "assistant" || (message.toolCalls ?? []).length > 0,
  );
  return first === -1 ? messages.length : first;
}

/** The line of the policy that accepts a new message in its role, where there is one. */
function remedyFor(
  { role }: Message,
  isGreeting: boolean,
  { newRoles }: RequestSettings["history"],
): string | undefined {
  if (!isGreeting && role !== "system" && role !== "developer") return undefined;
  const line = isGreeting ? "greeting: accept" : `new_roles: [${[...newRoles, role].join(", ")}]`;
  return `leave the message out, or add to the policy under rules: ag_ui_request: { history: { ${line} } }`;
}

/** Compares by message: one lookup and one hash each. */
function compareMessages(
  received: readonly Message[],
  state: ThreadState,
  settings: RequestSettings["history"],
): HistoryReview {
  const placed = withoutPlaceholders(received, state);
  const messages = placed.map(({ message }) => message);
  const review: HistoryReview = { findings: [], fresh: [], rows: [] };
  const find = (code: FindingCode, reason: string, { index, ...more }: Place): void => {
    const at = index === undefined ? pointerTo("messages") : pointerTo("messages", index);
    review.findings.push({ check: "history", code, reason, at, ...more });
  };
  const seen = new Set<string>();
  const greetings = countGreetings(messages, state);
  for (const [position, { index, message }] of placed.entries()) {
    const record = state.messages.get(message.id);
    if (record === undefined) {
      const isGreeting = position < greetings;
      if (!settings.newRoles.has(message.role) && !(isGreeting && settings.greeting === "accept")) {
        const reason = `message ${index} speaks as ${message.role} and was not delivered here, or is forgotten`;
        const remedy = remedyFor(message, isGreeting, settings);
        find("ERR_HISTORY_INVENTED", reason, { index, remedy });
      } else if (hasEncryptedValue(message)) {
        // Only a model creates encrypted values, and only a model can read them.
        find("ERR_HISTORY_INVENTED", `message ${index} has an encrypted value of its own`, {
          index,
        });
      } else if (seen.has(message.id)) {
        find("ERR_HISTORY_REWRITTEN", `message ${index} has the id of another`, { index });
      }
      seen.add(message.id);
      review.fresh.push(message);
      review.rows.push(rowOf("message", message.id, recordOf(message)));
    } else {
      const comparison = compareMessage(message, record);
      if (comparison === "changed") {
        find("ERR_HISTORY_REWRITTEN", `message ${index} differs from what was delivered`, {
          index,
        });
      } else if (comparison === "unfinished") {
        const reason = `message ${index} was open when the gateway ended`;
        find("ERR_HISTORY_UNFINISHED", reason, {
          index,
          isReportOnly: settings.unfinished === "accept",
        });
      }
      // The request shows which part of the message the client has.
      if (record.cut === true || record.open === true) {
        const { run, from } = record;
        const trace = run === undefined || from === undefined ? {} : { run, from };
        review.rows.push(rowOf("message", message.id, { ...recordOf(message), ...trace }));
      }
    }
  }
  const dropped = historyProblem(messages, state, settings);
  if (dropped !== undefined) {
    const { reason, index: position = -1, ...more } = dropped;
    find("ERR_HISTORY_DROPPED", reason, { ...more, index: placed[position]?.index });
    return review;
  }
  const position = interleavedAt(messages, state);
  if (position !== undefined) {
    const reason = "a new message stands in front of one that was delivered before";
    const isReportOnly = settings.interleaved === "accept";
    find("ERR_HISTORY_INTERLEAVED", reason, { index: placed[position]?.index, isReportOnly });
  }
  return review;
}

/** The index of a new message before a delivered one: a delivered answer could seem to respond to it. */
function interleavedAt(
  messages: readonly Message[],
  { messages: known }: ThreadState,
): number | undefined {
  const first = messages.findIndex(({ id, role }) => role !== "tool" && !known.has(id));
  if (first === -1) return undefined;
  const isBefore = messages.slice(first).some(({ id, role }) => role !== "user" && known.has(id));
  return isBefore ? first : undefined;
}

/** A problem of a history's order, with the index of a message in the request or the id of a missing one. */
type Gap = Place & { readonly reason: string };

/**
 * Returns why a request repeats the history in neither of the orders that a client may have. The second order must be
 * whole: its beginning is not the oldest part of the thread, so a client could omit a question and keep its answer.
 */
function historyProblem(
  messages: readonly Message[],
  state: ThreadState,
  settings: RequestSettings["history"],
): Gap | undefined {
  const problemWith = (rules: RequestSettings["history"]): Gap | undefined => {
    const problem = gapIn(messages, state, rules);
    const { own } = state;
    if (problem === undefined || own === undefined || rules.accept === "tail") return problem;
    const inOwn = gapIn(messages, { ...state, ...own }, { ...rules, accept: "full" });
    return inOwn && problem;
  };
  const problem = problemWith(settings);
  if (problem === undefined || settings.rollback) return problem;
  if (problemWith({ ...settings, rollback: true }) !== undefined) return problem;
  return { ...problem, reason: "the end of the history is missing", remedy: ROLLBACK };
}

/** The same for one order. */
function gapIn(
  messages: readonly Message[],
  state: ThreadState,
  settings: RequestSettings["history"],
): Gap | undefined {
  const gap = orderProblem(messages, state, settings);
  if (gap !== undefined) return gap;
  const reason = prefixProblem(messages, state, settings);
  return reason === undefined ? undefined : { reason };
}

/** The fix for a request that a rollback opens. */
const ROLLBACK =
  "send the history up to its end, or add to the policy under rules, for clients that edit and regenerate: ag_ui_request: { history: { rollback: true } }";

/**
 * Whether the messages are the history or its end, and then new ones, as nearly every client sends them. It compares
 * only ids: 0.05 ms for 1,000 messages, where the full comparison takes 1.3 ms.
 */
function repeatsExactly(
  messages: readonly Message[],
  { order, messages: known }: ThreadState,
  { accept }: RequestSettings["history"],
): boolean {
  const [first] = messages;
  const start = first === undefined ? -1 : order.indexOf(first.id);
  if (start === -1 || accept === "tail" || (accept === "full" && start > 0)) return false;
  return (
    messages.every(({ id }, index) =>
      start + index < order.length ? id === order[start + index] : !known.has(id),
    ) && messages.length >= order.length - start
  );
}

/** Returns why the history in a request has a gap or another order; `undefined` if it has neither. */
function orderProblem(
  messages: readonly Message[],
  state: ThreadState,
  settings: RequestSettings["history"],
): Gap | undefined {
  if (repeatsExactly(messages, state, settings)) return undefined;
  const { order, latest, messages: known } = state;
  const places = new Map<string, { last: number; count: number }>();
  for (const [last, id] of order.entries()) {
    places.set(id, { last, count: (places.get(id)?.count ?? 0) + 1 });
  }
  const held = messages.filter(({ id }) => places.has(id)).map(({ id }) => id);
  const gap = gapProblem(held, state, settings, places.get(held.at(-1) ?? "")?.last ?? -1);
  if (gap !== undefined) return gap;
  const times = new Map<string, number>();
  let isBegun = false;
  let isNew = false;
  let isLate = false;
  for (const [index, { id, role }] of messages.entries()) {
    const place = places.get(id);
    const record = known.get(id);
    const time = (times.get(id) ?? 0) + 1;
    times.set(id, time);
    // Two results with one id are two messages; any other message appears in a history once.
    const most = Math.max(place?.count ?? 0, role === "tool" ? (record?.content.length ?? 1) : 1);
    if (record !== undefined && time > most)
      return { reason: "a message of the history is there twice", index };
    // A person may send a message while an answer still arrives, but not insert one before it.
    const isEarlier = place !== undefined && (isLate || place.last < latest);
    if ((isNew || isLate) && isEarlier) {
      return { reason: "a new message stands inside the history, before a known one", index };
    }
    if (place !== undefined) isBegun = true;
    if (role === "tool" || place !== undefined) continue;
    // After a message list, the reasoning of an older client has no place in the order.
    if (role === "reasoning" && record !== undefined) continue;
    // A known message without a place is of a run that did not store its order, so it is last. A new question before an
    // old answer would change the conversation.
    if (record === undefined && isBegun) isNew = true;
    else isLate = true;
  }
  return undefined;
}

/** Whether the repeated messages follow each other as in the ledger, up to its end unless the policy allows a rollback. */
function gapProblem(
  held: readonly string[],
  { order, loose }: ThreadState,
  { accept, rollback }: RequestSettings["history"],
  last: number,
): Gap | undefined {
  if (accept === "tail" && held.length > 0) return { reason: "only new messages are accepted" };
  let at = rollback ? last : order.length - 1;
  for (const id of held.toReversed()) {
    while (at >= 0 && order[at] !== id && loose.has(order[at] as string)) at -= 1;
    if (at < 0 || order[at] !== id) {
      const about = order[at];
      return isSubsequence(held, order) && about !== undefined
        ? { reason: "a message of the history is missing", about }
        : { reason: "the history has another order", about: id };
    }
    at -= 1;
  }
  const about = order.slice(0, at + 1).find((id) => !loose.has(id));
  const isAsked = accept === "full" && (held.length > 0 || !rollback);
  return isAsked && about !== undefined
    ? { reason: "part of the history is missing", about }
    : undefined;
}

/** Whether a message, or a call in it, has an encrypted value. */
function hasEncryptedValue(message: Message): boolean {
  if ("encryptedValue" in message && message.encryptedValue !== undefined) return true;
  const calls = message.role === "assistant" ? (message.toolCalls ?? []) : [];
  return calls.some(({ encryptedValue }) => encryptedValue !== undefined);
}
