import { SmallMap } from "@countersign/core";
import type { JsonValue } from "@countersign/core";
import type { Message, Metadata } from "../model/message.js";
import type { Interrupt, TokenUsage } from "../model/run.js";
import { measureJson, TOO_DEEP } from "./json-structure.js";
import { requireWithin } from "./limits.js";
import type { ReduceLimits } from "./limits.js";
import { MessageStore } from "./message-store.js";
import type { RunStatus, RunView, StepView, SubagentView } from "./view.js";

/** The initial state of a reducer. */
export type ReducerInitial = {
  messages?: readonly Message[];
  /** Absent means `{}`. */
  state?: JsonValue;
  pendingInterrupts?: readonly Interrupt[];
};

/** The empty list, always the same one. */
export const NOTHING: readonly never[] = Object.freeze([]);

/** The mutable side of a reducer; only `view()` leaves it. */
export class RunModel {
  readonly limits: ReduceLimits;
  readonly store: MessageStore;
  threadId: string | undefined;
  runId: string | undefined;
  status: RunStatus = "idle";
  error: RunView["error"];
  result: JsonValue | undefined;
  state: JsonValue;
  /** The logical size of the state, once a patch has measured it. */
  stateSize: number | undefined;
  pendingInterrupts: readonly Interrupt[];
  pendingToolCallIds: readonly string[] = NOTHING;
  usage: readonly TokenUsage[] = NOTHING;
  /** Calls of the run in the order they started, and those with a result. */
  readonly startedCalls = new SmallMap<string, true>();
  readonly answeredCalls = new SmallMap<string, true>();
  /** Replaced, never altered, when something changes. */
  steps: readonly StepView[] = NOTHING;
  subagents: readonly SubagentView[] = NOTHING;
  #characters = 0;
  #runCharacters = 0;
  #view: RunView | undefined;

  constructor(initial: ReducerInitial, limits: ReduceLimits) {
    this.limits = limits;
    this.store = new MessageStore(initial.messages ?? [], limits);
    this.state = initial.state ?? {};
    this.pendingInterrupts = initial.pendingInterrupts ?? NOTHING;
    this.recount();
  }

  /** Says that the next view differs. */
  changed(): void {
    this.#view = undefined;
  }

  /** Says that a message was altered. */
  messagesChanged(): void {
    this.store.changed();
    this.#view = undefined;
  }

  /** Accounts for characters held from now on (or given back, if negative). */
  hold(characters: number): void {
    this.#characters += characters;
    requireWithin("maxCharacters", this.#characters, this.limits);
  }

  /** Accounts for characters held until the next run starts. */
  holdForRun(characters: number): void {
    this.#runCharacters += characters;
    this.hold(characters);
  }

  /** Gives back what the run before held for itself. */
  releaseRun(): void {
    this.#characters -= this.#runCharacters;
    this.#runCharacters = 0;
  }

  /** Counts anew what the conversation holds, after it was replaced. */
  recount(): void {
    this.#characters = this.#runCharacters;
    for (const message of this.store.current())
      this.hold(this.measure(message as unknown as JsonValue));
  }

  /** The logical size of a value. */
  measure(value: JsonValue): number {
    const size = measureJson(value, this.limits.maxDepth + 8);
    // Deeper than any document that passed the decoder: counted as if it filled the bound.
    return size === TOO_DEEP ? this.limits.maxCharacters + 1 : size;
  }

  /** Merges metadata key by key, the last write winning; never into the parts of a value. */
  mergeMetadata(target: { metadata?: Metadata }, incoming: Metadata | undefined): boolean {
    if (incoming === undefined) return false;
    const known = target.metadata;
    for (const [key, value] of Object.entries(incoming)) {
      const previous = known !== undefined && Object.hasOwn(known, key) ? known[key] : undefined;
      this.hold(this.measure(value) - (previous === undefined ? 0 : this.measure(previous)));
    }
    target.metadata = { ...known, ...incoming };
    requireWithin("maxMetadataKeys", Object.keys(target.metadata).length, this.limits);
    return true;
  }

  /** The view: the same object until something changes. */
  view(): RunView {
    if (this.#view !== undefined) return this.#view;
    // Plain assignments: conditional spreads here cost 20 times the rest of a text delta.
    const view: { -readonly [Key in keyof RunView]: RunView[Key] } = {
      status: this.status,
      messages: this.store.view(),
      state: this.state,
      steps: this.steps,
      subagents: this.subagents,
      pendingInterrupts: this.pendingInterrupts,
      pendingToolCallIds: this.pendingToolCallIds,
      usage: this.usage,
    };
    if (this.threadId !== undefined) view.threadId = this.threadId;
    if (this.runId !== undefined) view.runId = this.runId;
    if (this.error !== undefined) view.error = this.error;
    if (this.result !== undefined) view.result = this.result;
    this.#view = view;
    return view;
  }
}
