import { SmallMap } from "@countersign/core";
import type { JsonObject } from "@countersign/core";
import type { Interrupt, RunAgentInput } from "@countersign/wire";
import { digestOf } from "./digest.js";
import type { RowName, StoredRow } from "../store/keyed-store.js";
import { decodeRecord } from "./message-record.js";
import type { CallRecord, MessageRecord } from "./message-record.js";
import { NO_SHARED_STATE } from "./shared-state.js";
import type { SharedState } from "./shared-state.js";
import type { SurfaceState } from "./shown-surfaces.js";

/** A tool call that was delivered on a thread. */
export type CallState = {
  name: string;
  /** Digest of its parsed arguments; absent when the call's end was not delivered. */
  arguments?: string;
  /** Digest of what a client reads in arguments that the gateway rejects, for example with a duplicate key. */
  lenient?: string;
  /** True when the client declared the tool in the run that called it. */
  isClients: boolean;
  /** True when a result was accepted from the client or delivered from the agent. */
  isAnswered?: true;
  /** True when the agent sent the result: then the tool is the agent's own. */
  isAgents?: true;
};

/** An interrupt that was delivered and is not resolved. */
export type InterruptState = {
  runId: string;
  /** Digest of what the interrupt says and of the tools that it names; absent in older rows. */
  question?: string;
  toolCallId?: string;
  /** The one tool that the interrupt names for its call, when the call itself was not delivered. */
  toolName?: string;
  /** The tools that the interrupt is about in addition to `call`, unless `toolName` is the only one. */
  toolNames?: readonly string[];
  /** The call as it was delivered before the interrupt. */
  call?: { name: string; arguments: string; lenient?: string };
  responseSchema?: JsonObject;
  expiresAt?: string;
  /** Digest of the response that a run was started with; the client may repeat it if that run broke off. */
  answer?: string;
  /** True when that response approves the call. */
  isGranted?: true;
  /** The delivered call that used the approval. */
  usedBy?: string;
  /** True when that response takes an approval back. */
  isWithdrawn?: true;
};

/** An interrupt as it is delivered, with its call as the client has it then. */
export function interruptShown(
  interrupt: Interrupt,
  runId: string,
  calls: ThreadState["calls"],
): InterruptState {
  const { toolCallId, responseSchema, expiresAt, metadata } = interrupt;
  const call = toolCallId === undefined ? undefined : calls.get(toolCallId);
  const names = new Set(namedTools(metadata));
  if (call !== undefined) names.delete(call.name);
  const [toolName] = names;
  const isOne = names.size === 1 && toolCallId !== undefined && call === undefined;
  return {
    runId,
    question: questionOf(interrupt),
    ...(toolCallId === undefined ? {} : { toolCallId }),
    ...(toolName === undefined ? {} : isOne ? { toolName } : { toolNames: [...names] }),
    ...(call?.arguments === undefined
      ? {}
      : {
          call: {
            name: call.name,
            arguments: call.arguments,
            ...(call.lenient === undefined ? {} : { lenient: call.lenient }),
          },
        }),
    ...(responseSchema === undefined ? {} : { responseSchema: responseSchema as JsonObject }),
    ...(expiresAt === undefined ? {} : { expiresAt }),
  };
}

/**
 * Whether an interrupt with the id of an open one asks the same question: about the same call, or if that was not delivered, in the same
 * words. Otherwise the answer to the first would answer the second.
 */
export function asksTheSame(
  open: InterruptState,
  interrupt: Interrupt,
  calls: { get(id: string): Pick<CallState, "name" | "arguments"> | undefined },
): boolean {
  const { toolCallId } = interrupt;
  if (open.call === undefined) {
    if (toolCallId !== open.toolCallId) return false;
    return (open.question ?? questionOf(interrupt)) === questionOf(interrupt);
  }
  if (toolCallId === undefined || toolCallId === open.toolCallId) return toolCallId !== undefined;
  const call = calls.get(toolCallId);
  return call?.name === open.call.name && call.arguments === open.call.arguments;
}

function questionOf({ reason, message, metadata }: Interrupt): string {
  return digestOf([reason, message ?? null, namedTools(metadata)]);
}

/** Longer names are invalid for a tool: see `ERR_TOOLS_NAME`. */
const MAX_TOOL_NAME = 128;

/** Maximum number of tools that an interrupt names. One that names more is about every tool. */
export const MAX_NAMED_TOOLS = 64;

/**
 * The tools that an interrupt's metadata names, at any depth: frameworks use keys of their own, clients differ in the
 * name that they show.
 */
export function namedTools(metadata: Interrupt["metadata"]): string[] {
  const names: string[] = [];
  const open: { readonly value: unknown; readonly isName: boolean }[] = [
    { value: metadata, isName: false },
  ];
  for (let place = open.pop(); place !== undefined; place = open.pop()) {
    const { value, isName } = place;
    if (typeof value === "string") {
      if (isName && value !== "" && value.length <= MAX_TOOL_NAME) names.push(value);
    } else if (typeof value === "object" && value !== null) {
      for (const [key, inner] of Object.entries(value)) {
        const isMember = key === "toolName" || key === "tool_name";
        open.push({ value: inner, isName: isMember || (isName && Array.isArray(value)) });
      }
    }
    if (names.length > MAX_NAMED_TOOLS) break;
  }
  return names;
}

/** A call that an interrupt was about: the call as the person saw it, or its id when they had not seen it. */
export type AskedCall =
  | { readonly name: string; readonly arguments: string; readonly lenient?: string }
  | { readonly id: string };

/** The state of a thread, read from its rows. */
export type ThreadState = {
  /** Ids of the messages a client has, in order. */
  order: readonly string[];
  /** Those of them that may be missing: messages of a cut run, and the reasoning of older clients. */
  loose: ReadonlySet<string>;
  /** The index in `order` of the first message of the latest run. */
  latest: number;
  /**
   * The order of a client that had only part of the messages until a list brought the rest: it keeps its own messages
   * first.
   */
  own?: { readonly order: readonly string[]; readonly latest: number };
  readonly messages: SmallMap<string, MessageRecord>;
  /**
   * Messages that the client has or had and no request repeats: activities, messages of streams without an input, and
   * messages of the person that a list or a rollback removed. An agent may not write into them.
   */
  readonly shown: SmallMap<string, MessageRecord>;
  readonly calls: SmallMap<string, CallState>;
  /** Digests of the names of all tools that a client declared: a declared name stays the client's. */
  readonly tools: Set<string>;
  readonly interrupts: SmallMap<string, InterruptState>;
  /** The calls that the person declined last and has not approved since. */
  declined: readonly AskedCall[];
  /** The shared state that a client may hold. */
  shared: SharedState;
  /** The surfaces that the client was shown and that were not removed, with their actions. */
  readonly surfaces: SmallMap<string, SurfaceState>;
};

/** The empty set, always the same one: one of its own for each run takes 170 bytes. */
export const NO_IDS: ReadonlySet<string> = new Set();

/** The names of the tools that a request declares. */
export function declaredTools({ tools = [] }: Pick<RunAgentInput, "tools">): ReadonlySet<string> {
  return tools.length === 0 ? NO_IDS : new Set(tools.map(({ name }) => name));
}

/** The thread for a client that opens a stream without an input: it sent nothing, and has only the shown messages. */
export function shownThread({ shown }: ThreadState): ThreadState {
  return { ...stateOf([]), messages: shown, shown, order: [...shown.keys()] };
}

/** Reads a thread's rows. */
export function stateOf(rows: readonly StoredRow[]): ThreadState {
  const state: ThreadState = {
    order: [],
    loose: NO_IDS,
    latest: 0,
    messages: new SmallMap(),
    shown: new SmallMap(),
    calls: new SmallMap(),
    tools: new Set(),
    interrupts: new SmallMap(),
    declined: [],
    shared: NO_SHARED_STATE,
    surfaces: new SmallMap(),
  };
  let order: OrderValue | undefined;
  const pages = new Map<string, readonly CallRecord[]>();
  for (const { kind, id, value } of rows) {
    if (kind === "message") state.messages.set(id, decodeRecord(value));
    else if (kind === "shown") state.shown.set(id, decodeRecord(value));
    else if (kind === "calls") pages.set(id, (value as unknown as CallPage).calls);
    else if (kind === "call") state.calls.set(id, value as unknown as CallState);
    else if (kind === "tool") state.tools.add(id);
    else if (kind === "interrupt") state.interrupts.set(id, value as unknown as InterruptState);
    else if (kind === "surface") state.surfaces.set(id, value as unknown as SurfaceState);
    else if (kind === "declined") state.declined = (value as unknown as DeclinedValue).calls;
    else if (kind === "state") state.shared = value as unknown as SharedState;
    else if (kind === "order") order = value as unknown as OrderValue;
  }
  for (const table of [state.messages, state.shown]) {
    for (const [id, record] of table) {
      const { pages: count = 0, ...paged }: PagedRecord = record;
      if (count > 0) table.set(id, joinPages(id, paged, count, pages));
    }
  }
  if (order === undefined) return state;
  const { ids, latest, loose, run, own } = order;
  const opened = run === undefined ? [] : openedLater(state.messages, ids, run);
  const whole = (known: string[]): string[] =>
    opened.length === 0 ? known : placed(state.messages, known, opened);
  state.order = whole(ids);
  if (loose !== undefined || opened.length > 0)
    state.loose = new Set([...(loose ?? []), ...opened]);
  state.latest = latest;
  if (own !== undefined) state.own = { order: whole(own.ids), latest: own.latest };
  return state;
}

/** Ids in order, and the index of the first message of the latest run. */
type OrderedIds = { readonly ids: string[]; readonly latest: number };
type OrderValue = OrderedIds & { loose?: string[]; run?: string; own?: OrderedIds };

/**
 * The row with the order of the client's messages, and those it may lack. With `run`, that run is
 * still open: messages that it opens later come after these, without a new row for each.
 *
 * @param own see {@link ThreadState.own}
 */
export function orderRow(
  { ids, latest }: OrderedIds,
  own: OrderedIds | undefined,
  isLoose: (id: string) => boolean,
  run?: string,
): StoredRow {
  const loose = ids.filter(isLoose);
  const value: OrderValue = {
    ids: [...ids],
    latest,
    ...(loose.length === 0 ? {} : { loose }),
    ...(run === undefined ? {} : { run }),
    ...(own === undefined ? {} : { own }),
  };
  return { kind: "order", id: "", value };
}

type Records = ThreadState["messages"];

/** Messages that a run opened after the order was written, in the order of delivery. */
function openedLater(messages: Records, ids: readonly string[], run: string): string[] {
  const known = new Set(ids);
  return [...messages]
    .filter(([id, record]) => record.run === run && (record.from ?? 0) > 0 && !known.has(id))
    .toSorted(([, one], [, other]) => (one.from ?? 0) - (other.from ?? 0))
    .map(([id]) => id);
}

/** Places messages as a client does: tool results after the message of their call, everything else last. */
function placed(messages: Records, ids: readonly string[], opened: readonly string[]): string[] {
  const order = [...ids];
  let parents: Map<string, string> | undefined;
  for (const id of opened) {
    const record = messages.get(id);
    const answered = record?.role === "tool" ? record.fields?.["toolCallId"] : undefined;
    if (answered !== undefined) parents ??= parentsOf(messages);
    const parent = answered === undefined ? undefined : parents?.get(answered);
    let index = parent === undefined ? -1 : order.indexOf(parent);
    if (index === -1) order.push(id);
    else {
      do index += 1;
      while (messages.get(order[index] ?? "")?.role === "tool");
      order.splice(index, 0, id);
    }
  }
  return order;
}

/** The message of each call, by the digest under which a tool result names it. */
function parentsOf(messages: Records): Map<string, string> {
  const parents = new Map<string, string>();
  for (const [id, { calls }] of messages) {
    for (const call of calls ?? []) parents.set(digestOf(call.id), id);
  }
  return parents;
}

/** Maximum declared names of one thread; beyond it every tool counts as the client's. */
export const MAX_DECLARED_TOOLS = 1000;

/** Rows for the tools that a request declares and the thread does not know yet. */
export function declaredRows({ tools = [] }: RunAgentInput, known: ThreadState): StoredRow[] {
  const fresh = new Set(
    tools.map(({ name }) => digestOf(name)).filter((id) => !known.tools.has(id)),
  );
  const room = Math.max(0, MAX_DECLARED_TOOLS - known.tools.size);
  return [...fresh].slice(0, room).map((id) => ({ kind: "tool", id, value: {} }));
}

/** Calls in one row. A message with more has further rows, so that each new call does not write all of them again. */
const CALLS_PER_ROW = 32;

/** A message row whose further calls are in that many rows of the kind `calls`. */
type PagedRecord = MessageRecord & { readonly pages?: number };
type CallPage = { readonly calls: CallRecord[] };

/**
 * The rows of a message, of which only those that changed are written: the first is always among them.
 *
 * @param before the record whose rows are stored; a call that is the same object in it has not changed
 */
export function messageRows(
  id: string,
  record: MessageRecord,
  before?: MessageRecord,
): [StoredRow, ...StoredRow[]] {
  const { calls = [] } = record;
  const pages = pagesOf(record);
  if (pages === 0) return [rowOf("message", id, record)];
  const paged: PagedRecord = { ...record, calls: calls.slice(0, CALLS_PER_ROW), pages };
  const rows: [StoredRow, ...StoredRow[]] = [rowOf("message", id, paged)];
  for (let page = 1; page <= pages; page++) {
    const from = page * CALLS_PER_ROW;
    const to = Math.min(from + CALLS_PER_ROW, calls.length);
    if (!isChanged(calls, before?.calls ?? [], from, to)) continue;
    const value = { calls: calls.slice(from, to) } as unknown as JsonObject;
    rows.push({ ...pageName(id, page), value });
  }
  return rows;
}

/** The names of all rows of a message, of which some may not exist. */
export function messageRowNames(id: string, record: MessageRecord | undefined): RowName[] {
  const names: RowName[] = [{ kind: "message", id }];
  for (let page = 1; page <= pagesOf(record); page++) names.push(pageName(id, page));
  return names;
}

function pagesOf(record: MessageRecord | undefined): number {
  return Math.max(0, Math.ceil((record?.calls?.length ?? 0) / CALLS_PER_ROW) - 1);
}

function pageName(id: string, page: number): { kind: "calls"; id: string } {
  return { kind: "calls", id: `${id}\n${page}` };
}

function isChanged(
  calls: readonly CallRecord[],
  before: readonly CallRecord[],
  from: number,
  to: number,
): boolean {
  for (let at = from; at < to; at++) if (calls[at] !== before[at]) return true;
  return false;
}

function joinPages(
  id: string,
  record: MessageRecord,
  count: number,
  rows: ReadonlyMap<string, readonly CallRecord[]>,
): MessageRecord {
  const calls = [...(record.calls ?? [])];
  for (let page = 1; page <= count; page++) calls.push(...(rows.get(pageName(id, page).id) ?? []));
  return { ...record, calls };
}

type DeclinedValue = { readonly calls: readonly AskedCall[] };

/** Creates a row. */
export function rowOf(
  kind: "message" | "shown" | "call" | "interrupt" | "state" | "declined",
  id: string,
  value: MessageRecord | CallState | InterruptState | SharedState | DeclinedValue,
): StoredRow {
  return { kind, id, value: value as unknown as JsonObject };
}
