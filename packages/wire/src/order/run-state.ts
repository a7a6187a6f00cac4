import { CountersignError, SmallMap } from "@countersign/core";
import type { Message } from "../model/message.js";
import { charge } from "./recent-names.js";
import type { OrderRuleId, Severity } from "./rules.js";

/** One broken rule, at one event. */
export type Violation = {
  rule: OrderRuleId;
  severity: Severity;
  /** The violation in words, without any text of the agent's. */
  message: string;
  /** Counted from 1; at the end of the stream, the number of the last event. */
  eventNumber: number;
  /** The id or name it is about, cut to 200 characters: the agent's text, not for logs. */
  subject?: string;
};

/** Something that was opened and not closed. */
export type OpenUnit = {
  kind: "step" | "text" | "reasoning-message" | "reasoning-span" | "tool-call" | "subagent";
  /** The id, or the name of a step. */
  id: string;
  /** Its owner; absent is the parent agent. */
  subagentRunId?: string;
};

/** The producer of a unit: a subagent, or `undefined` for the parent agent. */
export type Owner = string | undefined;

/** The record of a text message. It outlives the end, because a later START must agree with it. */
export type MessageRecord = { owner: Owner; open: boolean; role: string; name?: string };
/** The record of a tool call. */
export type CallRecord = {
  owner: Owner;
  open: boolean;
  started: boolean;
  name?: string;
  parent?: string;
};
/** The record of a reasoning id: span and message share it and its owner. */
export type ReasoningRecord = { owner: Owner; span: boolean; message: boolean };
/** `tagged`: events carried the tag, no SUBAGENT_STARTED announced it. */
export type SubagentState = "tagged" | "active" | "closed";

/** Bounds of the automaton. */
export type OrderLimits = {
  /** Units open at once. Default 1,024. */
  maxOpenUnits: number;
  /** Characters of ids remembered in one run, 64 more for each id. Default 16 Mi. */
  maxStateSize: number;
};

/** Everything tracked for one run; a new run gets a new one. */
export class RunState {
  readonly messages = new SmallMap<string, MessageRecord>();
  // Made when first asked for: most runs have text only, and an empty table takes 200 bytes.
  #calls: Map<string, CallRecord> | undefined;
  #activities: Map<string, Owner> | undefined;
  #reasoning: Map<string, ReasoningRecord> | undefined;
  #subagents: Map<string, SubagentState> | undefined;
  #steps: Map<Owner, Set<string>> | undefined;
  #startedCalls: string[] | undefined;
  #answeredCalls: Set<string> | undefined;
  threadId: string | undefined;
  runId: string | undefined;
  readonly #limits: OrderLimits;
  #size = 0;
  #open = 0;

  constructor(limits: OrderLimits) {
    this.#limits = limits;
  }

  get calls(): Map<string, CallRecord> {
    return (this.#calls ??= new Map());
  }

  get activities(): Map<string, Owner> {
    return (this.#activities ??= new Map());
  }

  get reasoning(): Map<string, ReasoningRecord> {
    return (this.#reasoning ??= new Map());
  }

  get subagents(): Map<string, SubagentState> {
    return (this.#subagents ??= new Map());
  }

  get steps(): Map<Owner, Set<string>> {
    return (this.#steps ??= new Map());
  }

  get startedCalls(): string[] {
    return (this.#startedCalls ??= []);
  }

  get answeredCalls(): Set<string> {
    return (this.#answeredCalls ??= new Set());
  }

  /** The calls of the run, without making room for some where there are none. */
  knownCalls(): Iterable<[string, CallRecord]> {
    return this.#calls ?? [];
  }

  /** Units open now. */
  get openCount(): number {
    return this.#open;
  }

  /** Accounts for an id that will be remembered until the run ends. */
  remember(name: string, eventNumber: number): void {
    this.#size += charge(name);
    if (this.#size > this.#limits.maxStateSize) {
      throw new CountersignError(
        "ERR_ORDER_STATE_TOO_LARGE",
        `the ids of one run exceed ${this.#limits.maxStateSize} characters`,
        { limit: this.#limits.maxStateSize, eventNumber },
      );
    }
  }

  /** Gives back what `remember` took. */
  forget(name: string): void {
    this.#size -= charge(name);
  }

  /** Accounts for one more open unit. */
  opened(eventNumber: number): void {
    this.#open++;
    if (this.#open > this.#limits.maxOpenUnits) {
      throw new CountersignError(
        "ERR_ORDER_TOO_MANY_OPEN",
        `more than ${this.#limits.maxOpenUnits} units are open at once`,
        { limit: this.#limits.maxOpenUnits, eventNumber },
      );
    }
  }

  /** Accounts for one open unit less. */
  closed(): void {
    this.#open--;
  }

  /** The open units, in the order in which RUN_FINISHED checks them. */
  openUnits(): OpenUnit[] {
    const units: OpenUnit[] = [];
    if (this.#open === 0) return units;
    const add = (kind: OpenUnit["kind"], id: string, owner: Owner): void => {
      const unit: OpenUnit = { kind, id };
      if (owner !== undefined) unit.subagentRunId = owner;
      units.push(unit);
    };
    for (const [owner, names] of this.steps) for (const name of names) add("step", name, owner);
    for (const [id, record] of this.messages) if (record.open) add("text", id, record.owner);
    for (const [id, record] of this.reasoning) {
      if (record.message) add("reasoning-message", id, record.owner);
    }
    for (const [id, record] of this.reasoning) {
      if (record.span) add("reasoning-span", id, record.owner);
    }
    for (const [id, record] of this.calls) if (record.open) add("tool-call", id, record.owner);
    for (const [id, state] of this.subagents)
      if (state === "active") add("subagent", id, undefined);
    return units;
  }

  /**
   * Records the owners of replayed messages, each in the bucket of its role.
   *
   * A snapshot is authoritative (clients replace the messages); the input echo only fills gaps.
   */
  seed(message: Message, authoritative: boolean, eventNumber: number): void {
    const { id, subagentRunId: owner } = message;
    if (message.role === "reasoning") {
      const record = this.reasoning.get(id);
      if (record === undefined) {
        this.remember(id, eventNumber);
        this.reasoning.set(id, { owner, span: false, message: false });
      } else if (authoritative) record.owner = owner;
    } else if (message.role === "activity") {
      if (!this.activities.has(id)) this.remember(id, eventNumber);
      else if (!authoritative) return;
      this.activities.set(id, owner);
    } else {
      this.#seedText(message, authoritative, eventNumber);
    }
  }

  #seedText(message: Message, authoritative: boolean, eventNumber: number): void {
    const { id, subagentRunId: owner, role } = message;
    const known = this.messages.get(id);
    if (known === undefined || authoritative) {
      if (known === undefined) this.remember(id, eventNumber);
      const record: MessageRecord = { owner, open: known?.open ?? false, role };
      if ("name" in message && message.name !== undefined) record.name = message.name;
      this.messages.set(id, record);
    }
    if (message.role !== "assistant" || message.toolCalls === undefined) return;
    for (const call of message.toolCalls) {
      const record = this.calls.get(call.id);
      if (record === undefined) this.remember(call.id, eventNumber);
      else if (!authoritative) continue;
      this.calls.set(call.id, {
        owner,
        open: record?.open ?? false,
        started: record?.started ?? false,
        name: call.function.name,
        parent: id,
      });
    }
  }
}
