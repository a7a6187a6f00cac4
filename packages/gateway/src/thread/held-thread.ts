import { SmallMap } from "@countersign/core";
import type { UnsentMessage } from "@countersign/policy";
import type { Message } from "@countersign/wire";
import { digestOf, meaningOf } from "./digest.js";
import { asRecorded } from "./message-record.js";
import type { MessageRecord } from "./message-record.js";
import type { ThreadState } from "./thread-state.js";

/** A message that a client may hold: as its request repeats it, or else by the ledger's record. */
export type HeldPlace =
  | { readonly source: Message; readonly record?: undefined }
  | { readonly id: string; readonly record: MessageRecord; readonly source?: undefined };

/**
 * The messages that a client may hold when a run begins, in their order.
 *
 * @param isHistoryChecked the request's history was compared with the ledger: what it leaves out behind the first
 * message that it repeats, the client does not hold. Without the check a client may leave out anything and hold it.
 */
export function heldPlaces(
  { order, messages }: ThreadState,
  sent: readonly Message[],
  isHistoryChecked: boolean,
): HeldPlace[] {
  // Two answers under one id are two messages, so that an id may stand in either list twice.
  const repeated = new Map<string, Message[]>();
  for (const message of sent) {
    const twins = repeated.get(message.id);
    if (twins === undefined) repeated.set(message.id, [message]);
    else twins.push(message);
  }
  const first = order.findIndex((id) => repeated.has(id));
  if (first === -1 || isHistoryChecked) {
    const unsent = first === -1 ? order : order.slice(0, first);
    return [...unsent.flatMap((id) => recordPlace(id, messages)), ...sent.map(sourcePlace)];
  }
  const placed = new Set<Message>();
  const places = order.flatMap((id): HeldPlace[] => {
    const twins = repeated.get(id);
    if (twins === undefined) return recordPlace(id, messages);
    const source = twins.shift();
    if (source === undefined) return [];
    placed.add(source);
    return [{ source }];
  });
  return [...places, ...sent.filter((message) => !placed.has(message)).map(sourcePlace)];
}

function recordPlace(id: string, messages: ThreadState["messages"]): HeldPlace[] {
  const record = messages.get(id);
  return record === undefined ? [] : [{ id, record }];
}

function sourcePlace(source: Message): HeldPlace {
  return { source };
}

/** A call that was delivered on the thread before a run. */
export type EarlierCall = {
  readonly name: string;
  /** Whether the client declared the tool in the run that called it. */
  readonly isClients: boolean;
  /** Whether the client may still hold it: a new event would write into it. */
  readonly isHeld: boolean;
  /** Whether only the question about it was delivered: its name is known, its arguments were never judged. */
  readonly isUnseen?: true;
};

/** What the ledger knows of a thread beside what the request repeats: ids, roles, names and digests, no text. */
export type EarlierThread = {
  /** The messages that the client may hold and did not send. */
  readonly messages: SmallMap<string, MessageRecord>;
  /** Of them, those that the person said and no list or rollback took away. */
  readonly words: ReadonlySet<string>;
  /** Every call that was delivered on the thread, and those that the person approved in an answer. */
  readonly calls: SmallMap<string, EarlierCall>;
  /** Digests of the names of all tools that a client declared. */
  readonly tools: ReadonlySet<string>;
};

/** A thread of which nothing is known. */
export const NO_EARLIER_THREAD: EarlierThread = {
  messages: new SmallMap(),
  words: new Set(),
  calls: new SmallMap(),
  tools: new Set(),
};

/** The activities of earlier runs that the client may hold, by id and type. */
export function* earlierActivities({
  messages,
}: EarlierThread): Iterable<[id: string, type: string | undefined]> {
  for (const [id, { role, activityType }] of messages) {
    if (role === "activity") yield [id, activityType];
  }
}

/** What is known of a thread when a run begins; a copy, since the run goes on writing to the thread's state. */
export function earlierThread(
  state: ThreadState,
  sent: readonly Message[],
  isHistoryChecked: boolean,
): EarlierThread {
  const messages = new SmallMap<string, MessageRecord>();
  const isSent = new Set(sent.map(({ id }) => id));
  const isPlaced = new Set(state.order);
  for (const [id, record] of state.shown) if (!isSent.has(id)) messages.set(id, record);
  const words = new Set<string>();
  for (const place of heldPlaces(state, sent, isHistoryChecked)) {
    if (place.record === undefined) continue;
    messages.set(place.id, place.record);
    if (place.record.role === "user") words.add(place.id);
  }
  // What has no place was delivered or accepted by a run that was never put away.
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
  // Some frameworks do not stream the call that they ask about: its result belongs to what the person approved.
  for (const { toolCallId, toolName, isGranted } of state.interrupts.values()) {
    if (toolCallId === undefined || toolName === undefined || isGranted !== true) continue;
    if (calls.has(toolCallId)) continue;
    const isClients = state.tools.has(digestOf(toolName));
    calls.set(toolCallId, { name: toolName, isClients, isHeld: false, isUnseen: true });
  }
  return { messages, words, calls, tools: new Set(state.tools) };
}

/** The earlier messages that a message list must repeat to change nothing: what a broken-off run left may be missing. */
export function unsentMessages(state: ThreadState, { messages }: EarlierThread): UnsentMessage[] {
  const { calls } = state;
  return [...messages]
    .filter(([id, { role, run }]) => {
      if (role === "activity" || role === "reasoning") return false;
      // Of the person's words only those that a list or a rollback left out before stand there; of results those as
      // well, without the run that wrote them, and those of streams that were opened without an input.
      return !state.shown.has(id) || role === "assistant" || (role === "tool" && run !== undefined);
    })
    .map(([id, record]) => ({
      id,
      isOptional: state.loose.has(id),
      role: record.role,
      isSaidBy: (message) => asRecorded(message, record) !== undefined,
      calls: (record.calls ?? []).map((before) => ({
        id: before.id,
        isSaidBy: ({ function: now }) =>
          now.name === before.name &&
          (before.arguments.includes(digestOf(now.arguments)) ||
            calls.get(before.id)?.arguments === meaningOf(now.arguments)),
      })),
    }));
}
