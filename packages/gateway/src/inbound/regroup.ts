import { createHash } from "node:crypto";
import type { Message, ToolCall } from "@countersign/wire";
import { digestOf } from "../thread/digest.js";
import {
  compareCall,
  compareMessage,
  errorIn,
  hasFields,
  hasFieldsOf,
  isFailure,
  isJoinable,
} from "../thread/message-record.js";
import type { MessageRecord } from "../thread/message-record.js";
import type { ThreadState } from "../thread/thread-state.js";

/** A request whose turns are divided into messages as in the ledger. */
export type Regrouped = {
  /** The known messages as the ledger divides them, and the new ones. */
  readonly messages: readonly Message[];
  /** The client's messages in turns that it divides differently, each with its run in the ledger. */
  readonly replaced: ReadonlyMap<Message, string | undefined>;
  /** Ids of the client's own results that a later result of the same call replaces. */
  readonly superseded: ReadonlySet<string>;
};

/**
 * Divides the turns of a request into messages as in the ledger. Returns `undefined` if two messages have the same id.
 *
 * A turn is the agent's text, calls and their results between two messages of other roles. Some clients join the messages of a turn, or
 * give them ids of their own. Turns are equal if the client only moved the boundaries between messages: see
 * docs/decisions/2026-11-18-a-turn-may-be-divided-differently.md. Any other turn stays as the client sent it, and the comparison by message
 * refuses it.
 */
export function regroupTurns(
  messages: readonly Message[],
  state: ThreadState,
): Regrouped | undefined {
  if (new Set(messages.map(({ id }) => id)).size < messages.length) return undefined;
  const recorded = recordedTurns(state);
  const replaced = new Map<Message, string | undefined>();
  const superseded = new Set<string>();
  /** The messages of the ledger by id. */
  const known = new Map<string, Message>();
  const turns = turnsOf(messages).map(({ opener, turn }) => {
    const { places = [], ids = [] } = recorded.get(opener?.id) ?? {};
    const regrouped = regroupTurn(turn, ids, state);
    if (regrouped === undefined) return () => [opener ?? [], turn].flat();
    for (const message of regrouped.messages) known.set(message.id, message);
    for (const id of regrouped.superseded) superseded.add(id);
    for (const [message, run] of regrouped.runs) replaced.set(message, run);
    return () =>
      [opener ?? [], places.flatMap((id) => known.get(id) ?? []), regrouped.fresh].flat();
  });
  return { messages: turns.flatMap((turn) => turn()), replaced, superseded };
}

type Turn = { readonly opener: Message | undefined; readonly turn: Message[] };

/** The messages of the agent between two messages of the person or the application, and the message before them. */
function turnsOf(messages: readonly Message[]): Turn[] {
  const turns: Turn[] = [{ opener: undefined, turn: [] }];
  for (const message of messages) {
    if (isOfTurn(message.role)) turns.at(-1)?.turn.push(message);
    else turns.push({ opener: message, turn: [] });
  }
  return turns;
}

/** A turn in the ledger: the ids in its place in the order, and the ids that belong to it. */
type RecordedTurn = { readonly places: string[]; readonly ids: string[] };

/**
 * The turns in the ledger, by the id of the message before each. A result belongs to the turn of its call, wherever it
 * stands: the official clients append a result that a message list adds.
 */
function recordedTurns({ order, messages }: ThreadState): Map<string | undefined, RecordedTurn> {
  let turn: RecordedTurn = { places: [], ids: [] };
  const turns = new Map<string | undefined, RecordedTurn>([[undefined, turn]]);
  const calling = new Map<string, RecordedTurn>();
  for (const id of order) {
    const record = messages.get(id);
    if (record !== undefined && !isOfTurn(record.role)) {
      turns.set(id, (turn = { places: [], ids: [] }));
      continue;
    }
    for (const call of record?.calls ?? []) calling.set(digestOf(call.id), turn);
    turn.places.push(id);
    const owner = calling.get(record?.fields?.["toolCallId"] ?? "") ?? turn;
    owner.ids.push(id);
  }
  return turns;
}

function isOfTurn(role: Message["role"]): boolean {
  return isJoinable(role) || role === "tool";
}

/** Whether a client may give these ids to messages of a turn: an id stays with its turn and its role. */
function isNameable(turn: readonly Message[], ids: readonly string[], state: ThreadState): boolean {
  const own = new Set(ids);
  return turn.every(({ id, role }) => {
    const known = state.messages.get(id);
    if (known !== undefined) return own.has(id) && known.role === role;
    return (state.shown.get(id)?.role ?? role) === role;
  });
}

type RegroupedTurn = {
  /** The turn as the ledger divides it. */
  readonly messages: readonly Message[];
  /** Results that are not in the ledger. */
  readonly fresh: readonly Message[];
  /** The messages that differ from the ledger, each with its run. */
  readonly runs: ReadonlyMap<Message, string | undefined>;
  readonly superseded: readonly string[];
};

/** Divides the content of one turn into messages as in the ledger; `undefined` if the content differs. */
function regroupTurn(
  turn: readonly Message[],
  ids: readonly string[],
  state: ThreadState,
): RegroupedTurn | undefined {
  if (!isNameable(turn, ids, state)) return undefined;
  const content = contentOfTurn(turn);
  if (content === undefined) return undefined;
  const reader = new TurnReader(content);
  for (const id of ids) {
    const record = state.messages.get(id);
    if (record === undefined || !reader.take(id, record, state.loose.has(id))) return undefined;
  }
  return reader.finish(turn, state);
}

/** Whether the ledger has this message unchanged. */
function isRecorded(message: Message, { messages }: ThreadState): boolean {
  const record = messages.get(message.id);
  if (record === undefined || record.cut === true) return false;
  return compareMessage(message, record) === "same";
}

/** A position in a turn: bytes of text, bytes of reasoning, and calls. */
type Position = { readonly assistant: number; readonly reasoning: number; readonly calls: number };
/** A message with fields, and its start and end in the turn. */
type Span = { readonly message: Message; readonly from: Position; readonly to: Position };

/** The content of a client's turn, without the boundaries between messages. */
type TurnContent = {
  readonly text: Readonly<Record<"assistant" | "reasoning", Buffer>>;
  readonly calls: readonly ToolCall[];
  /** Results directly after the message of their call. */
  readonly results: readonly ToolMessage[];
  /** The end of each message of the agent. */
  readonly ends: readonly Position[];
  readonly spans: readonly Span[];
};

type ToolMessage = Extract<Message, { role: "tool" }>;

function contentOfTurn(turn: readonly Message[]): TurnContent | undefined {
  const text = { assistant: [] as Buffer[], reasoning: [] as Buffer[] };
  const calls: ToolCall[] = [];
  const results: ToolMessage[] = [];
  const ends: Position[] = [];
  const spans: Span[] = [];
  let at: Position = { assistant: 0, reasoning: 0, calls: 0 };
  let open: ReadonlySet<string> = new Set();
  for (const message of turn) {
    if (message.role === "tool") {
      if (open.has(message.toolCallId)) results.push(message);
      continue;
    }
    if (message.role !== "assistant" && message.role !== "reasoning") return undefined;
    const content: unknown = message.content ?? "";
    if (typeof content !== "string") return undefined;
    const bytes = Buffer.from(content);
    const own = message.role === "assistant" ? (message.toolCalls ?? []) : [];
    const to = { ...at, calls: at.calls + own.length };
    to[message.role] += bytes.length;
    text[message.role].push(bytes);
    calls.push(...own);
    if (hasFields(message)) spans.push({ message, from: at, to });
    if (message.role === "assistant") ends.push(to);
    open = new Set(own.map(({ id }) => id));
    at = to;
  }
  const { assistant, reasoning } = text;
  return {
    text: { assistant: Buffer.concat(assistant), reasoning: Buffer.concat(reasoning) },
    calls,
    results,
    ends,
    spans,
  };
}

/** Reads the client's turn, one record of the ledger at a time. */
class TurnReader {
  readonly #turn: TurnContent;
  readonly #messages: Message[] = [];
  readonly #superseded: string[] = [];
  /** The client's results that no record has matched yet, with their positions, by call, content and error. */
  readonly #unread = new Map<string, { readonly message: ToolMessage; readonly at: number }[]>();
  /** The errors that the client reads in failed results, by the key of the result without an error. */
  readonly #errors = new Map<string, string>();
  /** The client's results that a record matched, each with that record. */
  readonly #results = new Map<ToolMessage, MessageRecord>();
  readonly #read = new Map<string, ToolMessage>();
  readonly #pending: { readonly id: string; readonly record: MessageRecord }[] = [];
  /** The texts, reasoning and calls in the order of the ledger. */
  readonly #steps: { readonly from: Position; readonly to: Position }[] = [];
  /** The records of each text, by its position. */
  readonly #records = new Map<string, MessageRecord[]>();
  #lastRun: string | undefined;
  #at: Position = { assistant: 0, reasoning: 0, calls: 0 };
  #nextResult = 0;
  /** Whether the client was disconnected from here on: see docs/requests/history.md, "After a broken run". */
  #isBroken = false;

  constructor(content: TurnContent) {
    this.#turn = content;
    for (const [at, message] of content.results.entries()) {
      const { toolCallId, content, error } = message;
      const [call, said] = [digestOf(toolCallId), digestOf(content)];
      const key = resultKey(call, said, error && digestOf(error));
      if (error !== undefined && error === errorIn(content))
        this.#errors.set(resultKey(call, said, undefined), digestOf(error));
      const others = this.#unread.get(key);
      if (others === undefined) this.#unread.set(key, [{ message, at }]);
      else others.push({ message, at });
    }
  }

  /** Matches one record with the rest of the turn; `false` if it does not match. */
  take(id: string, record: MessageRecord, isLoose: boolean): boolean {
    if (record.open === true) return false;
    if (record.role === "tool") return this.#takeResult(id, record, isLoose);
    if (record.role !== "assistant" && record.role !== "reasoning") return false;
    const from = this.#at;
    const size = longestIn(this.#turn.text[record.role], from[record.role], record);
    if (size === undefined) return false;
    const calls = this.#takeCalls(record);
    if (calls === undefined) return false;
    const isWhole = size === record.sizes?.at(-1) && calls.length === (record.calls ?? []).length;
    if (isLoose && size === 0 && calls.length === 0 && (this.#isBroken || !isWhole)) {
      this.#isBroken = true;
      return true;
    }
    this.#isBroken ||= !isWhole;
    const end = from[record.role] + size;
    const content = this.#turn.text[record.role].subarray(from[record.role], end).toString();
    const afterText = { ...from, [record.role]: end };
    const to = { ...afterText, calls: from.calls + calls.length };
    this.#steps.push({ from, to: afterText }, { from: afterText, to });
    const place = placeOf(record.role, from, afterText);
    const others = this.#records.get(place);
    if (others === undefined) this.#records.set(place, [record]);
    else others.push(record);
    this.#lastRun = record.run;
    this.#at = to;
    this.#messages.push({
      id,
      role: record.role,
      content,
      ...(calls.length === 0 ? {} : { toolCalls: calls }),
    } as Message);
    return true;
  }

  /** Returns the turn as the ledger divides it, if no content of the client is left. */
  finish(turn: readonly Message[], state: ThreadState): RegroupedTurn | undefined {
    const { text, calls, ends, spans } = this.#turn;
    const { assistant, reasoning, calls: taken } = this.#at;
    if (assistant < text.assistant.length || reasoning < text.reasoning.length) return undefined;
    if (taken < calls.length || !this.#areEnds(ends) || !this.#areFieldsKnown(spans))
      return undefined;
    const answered = new Set(
      [...this.#results.values()].map(({ run, fields }) => run && fields?.["toolCallId"]),
    );
    for (const { id, record } of this.#pending) {
      // The client answered the call, and then the agent did: some clients keep only the later result.
      if (record.run !== undefined || !answered.has(record.fields?.["toolCallId"]))
        return undefined;
      this.#superseded.push(id);
    }
    const runs = new Map<Message, string | undefined>();
    const fresh: Message[] = [];
    for (const message of turn) {
      const record = message.role === "tool" ? this.#results.get(message) : undefined;
      if (message.role === "tool" && record === undefined) {
        // A known result that is not directly after its call.
        if (state.messages.has(message.id)) return undefined;
        fresh.push(message);
      } else if (!isRecorded(message, state))
        runs.set(message, record === undefined ? this.#lastRun : record.run);
    }
    return { messages: this.#messages, fresh, runs, superseded: this.#superseded };
  }

  /** The calls of a record that come next in the turn; `undefined` if a required call is missing. */
  #takeCalls({ calls = [], cut }: MessageRecord): ToolCall[] | undefined {
    const taken: ToolCall[] = [];
    for (const [index, before] of calls.entries()) {
      const call = this.#turn.calls[this.#at.calls + index];
      if (call === undefined || compareCall(call, before) !== "same") break;
      taken.push(call);
    }
    return taken.length === calls.length || cut === true ? taken : undefined;
  }

  #takeResult(id: string, record: MessageRecord, isLoose: boolean): boolean {
    const { toolCallId = "", error } = record.fields ?? {};
    for (const content of record.content) {
      const delivered = resultKey(toolCallId, content, error);
      const read = isFailure(record.fields) ? this.#errors.get(delivered) : undefined;
      const key = read === undefined ? delivered : resultKey(toolCallId, content, read);
      const unread = this.#unread.get(key) ?? [];
      while ((unread[0]?.at ?? this.#nextResult) < this.#nextResult) unread.shift();
      const [next] = unread;
      const message = next?.message ?? this.#read.get(key);
      if (message === undefined || !hasFieldsOf(record, message)) continue;
      if (next !== undefined) {
        unread.shift();
        this.#nextResult = next.at + 1;
        this.#results.set(message, record);
        this.#read.set(key, message);
      }
      this.#messages.push({ ...message, id });
      return true;
    }
    if (isLoose) this.#isBroken = true;
    else this.#pending.push({ id, record });
    return true;
  }

  /** Whether each message ends at a message end of the ledger, within one text, or between two calls. */
  #areEnds(ends: readonly Position[]): boolean {
    const start: Position = { assistant: 0, reasoning: 0, calls: 0 };
    const steps = [{ from: start, to: start }, ...this.#steps];
    let step = 0;
    return ends.every((end) => {
      while (step < steps.length && !isWithin(end, steps[step] as Span)) step += 1;
      return step < steps.length;
    });
  }

  /** Whether each message with fields has the text of the record with the same fields. */
  #areFieldsKnown(spans: readonly Span[]): boolean {
    return spans.every(({ message, from, to }) => {
      const records = this.#records.get(placeOf(message.role, from, to)) ?? [];
      for (let record = records.shift(); record !== undefined; record = records.shift()) {
        if (hasFieldsOf(record, message)) return true;
      }
      return false;
    });
  }
}

/** The key of a text's position in the turn. */
function placeOf(role: Message["role"], from: Position, to: Position): string {
  const name = role === "reasoning" ? role : "assistant";
  return `${name} ${from[name]} ${to[name]}`;
}

/** The key of a result: digests of its call, content and error. */
function resultKey(toolCallId: string, content: string, error: string | undefined): string {
  return `${toolCallId} ${content} ${error ?? ""}`;
}

function isWithin(end: Position, { from, to }: { from: Position; to: Position }): boolean {
  return (["assistant", "reasoning", "calls"] as const).every(
    (name) => from[name] <= end[name] && end[name] <= to[name],
  );
}

/** The length of the longest content of the record that the text continues with. */
function longestIn(
  text: Buffer,
  start: number,
  { content, sizes }: MessageRecord,
): number | undefined {
  if (sizes === undefined || sizes.length !== content.length) return undefined;
  const hash = createHash("sha256");
  let hashed = start;
  let longest: number | undefined;
  const versions = sizes.map((size, index) => ({ size, digest: content[index] }));
  for (const { size, digest } of versions.toSorted((one, other) => one.size - other.size)) {
    const end = start + size;
    if (end > text.length) break;
    hash.update(text.subarray(hashed, end));
    hashed = end;
    if (hash.copy().digest("hex") === digest) longest = size;
  }
  return longest;
}
