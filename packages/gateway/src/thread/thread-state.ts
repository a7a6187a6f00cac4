import { isJsonObject, SmallMap } from "@countersign/core";
import type { JsonObject } from "@countersign/core";
import type { Interrupt, RunAgentInput } from "@countersign/wire";
import { digestOf } from "./digest.js";
import type { LedgerRow } from "./ledger.js";
import { decodeRecord } from "./message-record.js";
import type { MessageRecord } from "./message-record.js";
import { NO_SHARED_STATE } from "./shared-state.js";
import type { SharedState } from "./shared-state.js";

/** A tool call that was delivered on a thread. */
export type CallState = {
  name: string;
  /** Digest of what its arguments mean; of a call whose end was not delivered, nothing is known. */
  arguments?: string;
  /** Digest of what a client reads in arguments that the gateway refuses to read, such as a duplicate key. */
  lenient?: string;
  /** Whether the client declared the tool in the run that called it. */
  isClients: boolean;
  /** Whether an answer was accepted from the client or delivered from the agent. */
  isAnswered?: true;
  /** Whether the agent answered it itself: then the tool is the agent's own. */
  isAgents?: true;
};

/** An interrupt a person was shown and has not finished with. */
export type InterruptState = {
  runId: string;
  toolCallId?: string;
  /** The tool that the question names for the call, where the call itself was not delivered. */
  toolName?: string;
  /** The call that the person saw, at the time they saw it. */
  call?: { name: string; arguments: string; lenient?: string };
  responseSchema?: JsonObject;
  expiresAt?: string;
  /** Digest of the answer that a run was started with; the same may be said again if that run broke off. */
  answer?: string;
  /** Whether that answer approves what was asked. */
  isGranted?: true;
};

/** An interrupt as the person is shown it, with the call it is about as they saw that. */
export function interruptShown(
  { toolCallId, responseSchema, expiresAt, metadata }: Interrupt,
  runId: string,
  calls: ThreadState["calls"],
): InterruptState {
  const call = toolCallId === undefined ? undefined : calls.get(toolCallId);
  const toolName = toolCallId === undefined || call !== undefined ? undefined : namedTool(metadata);
  return {
    runId,
    ...(toolCallId === undefined ? {} : { toolCallId }),
    ...(toolName === undefined ? {} : { toolName }),
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

/** Longer names are no tool's: see `ERR_TOOLS_NAME`. */
const MAX_TOOL_NAME = 128;

/** The tool that the metadata of a question names: `toolName`, at the top or under the framework's own key (Mastra). */
function namedTool(metadata: Interrupt["metadata"]): string | undefined {
  const own = Object.values(metadata ?? {}).filter((value) => isJsonObject(value));
  for (const place of [metadata ?? {}, ...own]) {
    const name = isJsonObject(place) && Object.hasOwn(place, "toolName") ? place["toolName"] : "";
    if (typeof name === "string" && name !== "" && name.length <= MAX_TOOL_NAME) return name;
  }
  return undefined;
}

/** A call that a person was asked about: what they saw of it, or, where they saw nothing yet, its id. */
export type AskedCall =
  | { readonly name: string; readonly arguments: string; readonly lenient?: string }
  | { readonly id: string };

/** What the ledger knows about a thread, ready to be asked. */
export type ThreadState = {
  /** Ids of the messages a client has, in their order. */
  order: readonly string[];
  /** Those of them that may be missing: what a broken-off run delivered, and the thoughts of older clients. */
  loose: ReadonlySet<string>;
  /** Where the messages of the latest run begin in `order`. */
  latest: number;
  readonly messages: SmallMap<string, MessageRecord>;
  /**
   * What a person has or had that no request repeats: activities, the messages of streams that were opened without an
   * input, and what they said before a list or a rollback left it out. No history is compared with it; an agent does
   * not write into it.
   */
  readonly shown: SmallMap<string, MessageRecord>;
  readonly calls: SmallMap<string, CallState>;
  /** Digests of the names of all tools that a client declared: a name once declared stays the client's. */
  readonly tools: Set<string>;
  readonly interrupts: SmallMap<string, InterruptState>;
  /** The calls that the person declined last and has not approved since. */
  declined: readonly AskedCall[];
  /** The shared state that a client may hold. */
  shared: SharedState;
};

const NONE: ReadonlySet<string> = new Set();

/** The thread as a client sees it that opens a stream without an input: it sent nothing, and is shown what is shown. */
export function shownThread({ shown }: ThreadState): ThreadState {
  return { ...stateOf([]), messages: shown, shown, order: [...shown.keys()] };
}

/** Reads a thread's rows. */
export function stateOf(rows: readonly LedgerRow[]): ThreadState {
  const state: ThreadState = {
    order: [],
    loose: NONE,
    latest: 0,
    messages: new SmallMap(),
    shown: new SmallMap(),
    calls: new SmallMap(),
    tools: new Set(),
    interrupts: new SmallMap(),
    declined: [],
    shared: NO_SHARED_STATE,
  };
  let order: OrderValue | undefined;
  for (const { kind, id, value } of rows) {
    if (kind === "message") state.messages.set(id, decodeRecord(value));
    else if (kind === "shown") state.shown.set(id, decodeRecord(value));
    else if (kind === "call") state.calls.set(id, value as unknown as CallState);
    else if (kind === "tool") state.tools.add(id);
    else if (kind === "interrupt") state.interrupts.set(id, value as unknown as InterruptState);
    else if (kind === "declined") state.declined = (value as unknown as DeclinedValue).calls;
    else if (kind === "state") state.shared = value as unknown as SharedState;
    else if (kind === "order") order = value as unknown as OrderValue;
  }
  if (order === undefined) return state;
  const { ids, latest, loose, run } = order;
  const opened = run === undefined ? [] : openedLater(state.messages, ids, run);
  state.order = opened.length === 0 ? ids : placed(state.messages, ids, opened);
  state.loose = new Set([...(loose ?? []), ...opened]);
  state.latest = latest;
  return state;
}

type OrderValue = { ids: string[]; latest: number; loose?: string[]; run?: string };

/**
 * The row that names the messages a client has, and which of them it may leave out. With `run`, that run
 * goes on: what it opens from now on comes behind, although nobody writes this row for each of them.
 */
export function orderRow(
  ids: readonly string[],
  latest: number,
  isLoose: (id: string) => boolean,
  run?: string,
): LedgerRow {
  const loose = ids.filter(isLoose);
  const value: OrderValue = {
    ids: [...ids],
    latest,
    ...(loose.length === 0 ? {} : { loose }),
    ...(run === undefined ? {} : { run }),
  };
  return { kind: "order", id: "", value };
}

type Records = ThreadState["messages"];

/** What a run opened after the order was written, as it was delivered. */
function openedLater(messages: Records, ids: readonly string[], run: string): string[] {
  const known = new Set(ids);
  return [...messages]
    .filter(([id, record]) => record.run === run && (record.from ?? 0) > 0 && !known.has(id))
    .toSorted(([, one], [, other]) => (one.from ?? 0) - (other.from ?? 0))
    .map(([id]) => id);
}

/** Puts messages where a client does: answers behind the message of their call, everything else last. */
function placed(messages: Records, ids: readonly string[], opened: readonly string[]): string[] {
  const order = [...ids];
  let carriers: Map<string, string> | undefined;
  for (const id of opened) {
    const record = messages.get(id);
    const answered = record?.role === "tool" ? record.fields?.["toolCallId"] : undefined;
    if (answered !== undefined) carriers ??= carriersOf(messages);
    const carrier = answered === undefined ? undefined : carriers?.get(answered);
    let index = carrier === undefined ? -1 : order.indexOf(carrier);
    if (index === -1) order.push(id);
    else {
      do index += 1;
      while (messages.get(order[index] ?? "")?.role === "tool");
      order.splice(index, 0, id);
    }
  }
  return order;
}

/** The message of each call, by the digest under which an answer names it. */
function carriersOf(messages: Records): Map<string, string> {
  const carriers = new Map<string, string>();
  for (const [id, { calls }] of messages) {
    for (const call of calls ?? []) carriers.set(digestOf(call.id), id);
  }
  return carriers;
}

/** Declared names kept of one thread; beyond it every tool counts as the client's. */
export const MAX_DECLARED_TOOLS = 1000;

/** Rows for the tools that a request declares and the thread does not know yet. */
export function declaredRows({ tools = [] }: RunAgentInput, known: ThreadState): LedgerRow[] {
  const fresh = new Set(
    tools.map(({ name }) => digestOf(name)).filter((id) => !known.tools.has(id)),
  );
  const room = Math.max(0, MAX_DECLARED_TOOLS - known.tools.size);
  return [...fresh].slice(0, room).map((id) => ({ kind: "tool", id, value: {} }));
}

type DeclinedValue = { calls: readonly AskedCall[] };

/** The row that names the shared state. */
export function sharedRow(shared: SharedState): LedgerRow {
  return { kind: "state", id: "", value: shared as unknown as JsonObject };
}

/** The row that names the declined calls. */
export function declinedRow(calls: readonly AskedCall[]): LedgerRow {
  return { kind: "declined", id: "", value: { calls } as unknown as JsonObject };
}

/** A fact as a row; the ledger's own words, read by nobody else. */
export function rowOf(
  kind: "message" | "shown" | "call" | "interrupt",
  id: string,
  value: MessageRecord | CallState | InterruptState,
): LedgerRow {
  return { kind, id, value: value as unknown as JsonObject };
}
