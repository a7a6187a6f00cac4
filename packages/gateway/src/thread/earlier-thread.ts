import { SmallMap } from "@countersign/core";
import type { UnsentMessage } from "@countersign/policy";
import type { Message } from "@countersign/wire";
import { digestOf, meaningOf } from "./digest.js";
import { asRecorded, isAgents } from "./message-record.js";
import type { MessageRecord } from "./message-record.js";
import { NO_IDS } from "./thread-state.js";
import type { ThreadState } from "./thread-state.js";

/** A message that a client may hold: as its request repeats it, or else as the ledger's record. */
export type ClientPlace =
  | { readonly source: Message; readonly record?: undefined }
  | { readonly id: string; readonly record: MessageRecord; readonly source?: undefined };

/**
 * The messages that a client may hold when a run begins, in order.
 *
 * @param isHistoryChecked the request's history was compared with the ledger, so the client does
 * not hold messages that it leaves out after the first one it repeats. Without the check a client
 * may leave out any message and still hold it.
 */
export function clientPlaces(
  state: ThreadState,
  sent: readonly Message[],
  isHistoryChecked: boolean,
): ClientPlace[] {
  const { order, messages } = state;
  // Two tool results may share one id, so an id may occur twice in either list.
  const repeated = new Map<string, Message[]>();
  for (const message of sent) {
    const twins = repeated.get(message.id);
    if (twins === undefined) repeated.set(message.id, [message]);
    else twins.push(message);
  }
  const first = order.findIndex((id) => repeated.has(id));
  if (first === -1 || (isHistoryChecked && !isOwnOrder(state, sent))) {
    const unsent = first === -1 ? order : order.slice(0, first);
    return [...unsent.flatMap((id) => recordPlace(id, messages)), ...sent.map(sourcePlace)];
  }
  const placed = new Set<Message>();
  const places = order.flatMap((id): ClientPlace[] => {
    const twins = repeated.get(id);
    if (twins === undefined) return isHistoryChecked ? [] : recordPlace(id, messages);
    const source = twins.shift();
    if (source === undefined) return [];
    placed.add(source);
    return [{ source }];
  });
  return [...places, ...sent.filter((message) => !placed.has(message)).map(sourcePlace)];
}

/** Whether a request repeats the thread in the other order of {@link ThreadState.own}. */
function isOwnOrder({ order, own }: ThreadState, sent: readonly Message[]): boolean {
  if (own === undefined) return false;
  const known = new Set(order);
  return !isSubsequence(
    sent.filter(({ id }) => known.has(id)).map(({ id }) => id),
    order,
  );
}

/** Whether an order has these ids, in their order. */
export function isSubsequence(ids: readonly string[], order: readonly string[]): boolean {
  let at = 0;
  for (const id of order) if (ids[at] === id) at += 1;
  return at === ids.length;
}

function recordPlace(id: string, messages: ThreadState["messages"]): ClientPlace[] {
  const record = messages.get(id);
  return record === undefined ? [] : [{ id, record }];
}

function sourcePlace(source: Message): ClientPlace {
  return { source };
}

/** A call that was delivered on the thread before this run. */
export type EarlierCall = {
  readonly name: string;
  /** True when the client declared the tool in the run that called it. */
  readonly isClients: boolean;
  /** True when the client may still hold the call, so that a new event would change it. */
  readonly isHeld: boolean;
  /** True when only an interrupt about the call was delivered: its name is known, its arguments were never judged. */
  readonly isUnseen?: true;
};

/** The part of a thread that the request does not repeat: ids, roles, names and digests, no text. */
export type EarlierThread = {
  /** The messages that the client may hold and did not send. */
  readonly messages: SmallMap<string, MessageRecord>;
  /** Those of them that the person wrote and no list or rollback removed. */
  readonly words: ReadonlySet<string>;
  /** Every call that was delivered on the thread, and every call that the person answered about. */
  readonly calls: SmallMap<string, EarlierCall>;
  /** Digests of the names of all tools that a client declared. */
  readonly tools: ReadonlySet<string>;
};

/** The activities of earlier runs that the client may hold, by id and type. */
export function* earlierActivities({
  messages,
}: EarlierThread): Iterable<[id: string, type: string | undefined]> {
  for (const [id, { role, activityType }] of messages) {
    if (role === "activity") yield [id, activityType];
  }
}

/**
 * Copies the thread's state at the start of a run, because the run changes it.
 *
 * @param keepsInterrupts the request answered nothing: the calls of open interrupts have no result yet
 */
export function earlierThread(
  state: ThreadState,
  sent: readonly Message[],
  isHistoryChecked: boolean,
  keepsInterrupts = false,
): EarlierThread {
  const messages = new SmallMap<string, MessageRecord>();
  const isSent = new Set(sent.map(({ id }) => id));
  const isPlaced = new Set(state.order);
  for (const [id, record] of state.shown) if (!isSent.has(id)) messages.set(id, record);
  let words: Set<string> | undefined;
  for (const place of clientPlaces(state, sent, isHistoryChecked)) {
    if (place.record === undefined) continue;
    messages.set(place.id, place.record);
    if (place.record.role !== "user") continue;
    words ??= new Set();
    words.add(place.id);
  }
  // A message without a position was delivered or accepted by a run that was never saved.
  for (const [id, record] of state.messages) {
    if (!isPlaced.has(id) && !isSent.has(id)) messages.set(id, record);
  }
  const calls = new SmallMap<string, EarlierCall>();
  for (const [id, { name, isClients }] of state.calls) {
    calls.set(id, { name, isClients, isHeld: false });
  }
  for (const record of messages.values()) {
    for (const { id, name } of record.calls ?? []) {
      const known = calls.get(id);
      calls.set(id, {
        name: known?.name ?? name,
        isClients: known?.isClients ?? state.tools.has(digestOf(name)),
        isHeld: true,
      });
    }
  }
  // Some frameworks do not stream the call of an interrupt. Its result belongs to the call that the person approved; the result of a declined
  // call says that it was declined.
  for (const { toolCallId, toolName } of keepsInterrupts ? [] : state.interrupts.values()) {
    if (toolCallId === undefined || toolName === undefined || calls.has(toolCallId)) continue;
    const isClients = state.tools.has(digestOf(toolName));
    calls.set(toolCallId, { name: toolName, isClients, isHeld: false, isUnseen: true });
  }
  const tools = state.tools.size === 0 ? NO_IDS : new Set(state.tools);
  return { messages, words: words ?? NO_IDS, calls, tools };
}

/**
 * The same thread for a client that asks for a replay: it holds nothing of what an agent said, so the agent may say it again. What the person
 * said stays as they said it.
 */
export function replayedThread({ messages, words, calls, tools }: EarlierThread): EarlierThread {
  const kept = new SmallMap<string, MessageRecord>();
  for (const [id, record] of messages) if (!isAgents(record.role)) kept.set(id, record);
  const repeated = new SmallMap<string, EarlierCall>();
  for (const [id, call] of calls) repeated.set(id, { ...call, isHeld: false });
  return { messages: kept, words, calls: repeated, tools };
}

/**
 * The earlier messages that a message list must repeat to change nothing. Messages of a cut run may be missing, unless
 * the agent ended that run itself: then only the client may lack them.
 */
export function unsentMessages(state: ThreadState, { messages }: EarlierThread): UnsentMessage[] {
  const { calls } = state;
  return [...messages]
    .filter(([id, { role, run }]) => {
      if (role === "activity" || role === "reasoning") return false;
      // Of the person's messages and of tool results without a run, `shown` has only those that a list or a rollback
      // removed.
      return !state.shown.has(id) || role === "assistant" || (role === "tool" && run !== undefined);
    })
    .map(([id, record]) => ({
      id,
      isOptional: state.loose.has(id) && record.ended !== true,
      role: record.role,
      matches: (message) => asRecorded(message, record) !== undefined,
      calls: (record.calls ?? []).map((before) => ({
        id: before.id,
        matches: ({ function: now }) =>
          now.name === before.name &&
          (before.arguments.includes(digestOf(now.arguments)) ||
            calls.get(before.id)?.arguments === meaningOf(now.arguments)),
      })),
    }));
}
