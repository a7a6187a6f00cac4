import { SmallMap } from "@countersign/core";
import type { JsonObject } from "@countersign/core";
import type { LedgerRow } from "./ledger.js";
import { decodeRecord } from "./message-record.js";
import type { MessageRecord } from "./message-record.js";

/** A tool call that was delivered on a thread. */
export type CallState = {
  name: string;
  /** Digest of what its arguments mean; of a call whose end was not delivered, nothing is known. */
  arguments?: string;
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
  /** The call that the person saw, at the time they saw it. */
  call?: { name: string; arguments: string };
  responseSchema?: JsonObject;
  expiresAt?: string;
  /** Digest of the answer that a run was started with; the same may be said again if that run broke off. */
  answer?: string;
};

/** A call that a person was asked about: what they saw of it, or, where they saw nothing yet, its id. */
export type AskedCall =
  | { readonly name: string; readonly arguments: string }
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
  readonly calls: SmallMap<string, CallState>;
  readonly interrupts: SmallMap<string, InterruptState>;
  /** The calls that the person declined last and has not approved since. */
  declined: readonly AskedCall[];
};

const NONE: ReadonlySet<string> = new Set();

/** Reads a thread's rows. */
export function stateOf(rows: readonly LedgerRow[]): ThreadState {
  const state: ThreadState = {
    order: [],
    loose: NONE,
    latest: 0,
    messages: new SmallMap(),
    calls: new SmallMap(),
    interrupts: new SmallMap(),
    declined: [],
  };
  for (const { kind, id, value } of rows) {
    if (kind === "message") state.messages.set(id, decodeRecord(value));
    else if (kind === "call") state.calls.set(id, value as unknown as CallState);
    else if (kind === "interrupt") state.interrupts.set(id, value as unknown as InterruptState);
    else if (kind === "declined") state.declined = (value as unknown as DeclinedValue).calls;
    else if (kind === "order") {
      const { ids, latest, loose } = value as unknown as OrderValue;
      state.order = ids;
      state.loose = new Set(loose);
      state.latest = latest;
    }
  }
  return state;
}

type OrderValue = { ids: string[]; latest: number; loose?: string[] };

/** The row that names the messages a client has, and which of them it may leave out. */
export function orderRow(
  ids: readonly string[],
  latest: number,
  isLoose: (id: string) => boolean,
): LedgerRow {
  const loose = ids.filter(isLoose);
  const value: OrderValue = { ids: [...ids], latest, ...(loose.length === 0 ? {} : { loose }) };
  return { kind: "order", id: "", value };
}

type DeclinedValue = { calls: readonly AskedCall[] };

/** The row that names the declined calls. */
export function declinedRow(calls: readonly AskedCall[]): LedgerRow {
  return { kind: "declined", id: "", value: { calls } as unknown as JsonObject };
}

/** A fact as a row; the ledger's own words, read by nobody else. */
export function rowOf(
  kind: "message" | "call" | "interrupt",
  id: string,
  value: MessageRecord | CallState | InterruptState,
): LedgerRow {
  return { kind, id, value: value as unknown as JsonObject };
}
