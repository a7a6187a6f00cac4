import { assertPositiveInteger, DEFAULT_LIMITS } from "@countersign/core";
import type { AgUiEvent } from "../model/event.js";
import type { RunAgentInput } from "../model/input.js";
import { EVENT_RULES } from "./event-rules.js";
import type { RuleContext } from "./rule-context.js";
import { brokenNullRule } from "./null-fields.js";
import { RecentNames } from "./recent-names.js";
import { ORDER_RULES } from "./rules.js";
import type { OrderRuleId } from "./rules.js";
import { RunState } from "./run-state.js";
import type { OpenUnit, OrderLimits, Violation } from "./run-state.js";
import type { ErrorCode } from "@countersign/core";

declare module "@countersign/core" {
  interface ErrorFacts {
    /** More units (messages, calls, steps, subagents) are open at once than allowed. */
    ERR_ORDER_TOO_MANY_OPEN: { limit: number; eventNumber: number };
    /** The ids of one run take more memory than allowed. */
    ERR_ORDER_STATE_TOO_LARGE: { limit: number; eventNumber: number };
  }
}

/** The codes that the run automaton throws. */
export type OrderErrorCode = Extract<ErrorCode, `ERR_ORDER_${string}`>;

/** The phase of the current run of a stream. */
export type RunPhase = "idle" | "active" | "finished" | "errored";

/** Options of `createRunAutomaton`. */
export type RunAutomatonOptions = {
  /** The request. Rule E2 needs it, and the tool calls of its history become known. */
  input?: RunAgentInput;
  /** Ids and names of calls of the thread that the input does not repeat. */
  earlierCalls?: Iterable<readonly [id: string, name: string]>;
  /** Findings count as errors too, except what must be served (a newer protocol version). */
  strict?: boolean;
  limits?: Partial<OrderLimits>;
};

/** Judges the order of one stream's events, after chunk expansion. */
export type RunAutomaton = {
  /**
   * The rules this event breaks; usually none, as one shared empty array. Checking continues after
   * an error, so that an observer sees every violation; a caller that enforces stops at the first
   * error. Throws `ERR_ORDER_*` when a limit is exceeded and cannot be used afterwards.
   *
   * `eventNumber` is the event's number on the wire: chunk expansion makes several events of one.
   */
  push(event: AgUiEvent, eventNumber?: number): readonly Violation[];
  /** The end of the stream: a run without a terminal event is truncated. */
  end(): readonly Violation[];
  /** The open units. RUN_ERROR and a new run close them. */
  openUnits(): OpenUnit[];
  runState(): RunPhase;
};

const NONE: readonly Violation[] = Object.freeze([]);
const DEFAULTS: OrderLimits = {
  maxOpenUnits: DEFAULT_LIMITS.maxOpenUnits,
  maxStateSize: 16 * 1024 * 1024,
};
const REMEMBERED_CHARACTERS = 1024 * 1024;
const MAX_SUBJECT = 200;

/** Creates the automaton for one stream. */
export function createRunAutomaton(options: RunAutomatonOptions = {}): RunAutomaton {
  const limits: OrderLimits = { ...DEFAULTS, ...options.limits };
  assertPositiveInteger("maxOpenUnits", limits.maxOpenUnits);
  assertPositiveInteger("maxStateSize", limits.maxStateSize);
  const automaton = new Automaton(options.input, options.strict === true, limits);
  for (const [id, name] of options.earlierCalls ?? []) automaton.earlierCalls.set(id, name);
  return automaton;
}

class Automaton implements RunAutomaton, RuleContext {
  run: RunState;
  eventNumber = 0;
  firstThreadId: string | undefined;
  requestedRunSeen = false;
  readonly input: RunAgentInput | undefined;
  readonly runIds = new RecentNames<true>(REMEMBERED_CHARACTERS);
  readonly earlierCalls = new RecentNames<string | undefined>(REMEMBERED_CHARACTERS);
  readonly #strict: boolean;
  readonly #limits: OrderLimits;
  #phase: RunPhase = "idle";
  #first = true;
  #violations: Violation[] | undefined;
  #type = "";
  #failure: unknown;

  constructor(input: RunAgentInput | undefined, strict: boolean, limits: OrderLimits) {
    this.input = input;
    this.#strict = strict;
    this.#limits = limits;
    this.run = new RunState(limits);
    for (const message of input?.messages ?? []) {
      if (message.role !== "assistant") continue;
      for (const call of message.toolCalls ?? [])
        this.earlierCalls.set(call.id, call.function.name);
    }
  }

  push(event: AgUiEvent, eventNumber: number = this.eventNumber + 1): readonly Violation[] {
    if (this.#failure !== undefined) throw this.#failure;
    this.eventNumber = eventNumber;
    this.#type = event.type;
    this.#violations = undefined;
    try {
      if (this.#enter(event)) this.#check(event);
    } catch (error) {
      this.#failure = error;
      throw error;
    }
    return this.#violations ?? NONE;
  }

  end(): readonly Violation[] {
    if (this.#failure !== undefined) throw this.#failure;
    this.#violations = undefined;
    this.#type = "";
    if (this.#phase === "idle" || this.#phase === "active") this.report("run/truncated");
    if (this.input !== undefined && this.firstThreadId !== undefined && !this.requestedRunSeen) {
      this.report("run/requested-run");
    }
    return this.#violations ?? NONE;
  }

  openUnits(): OpenUnit[] {
    return this.run.openUnits();
  }

  runState(): RunPhase {
    return this.#phase;
  }

  report(rule: OrderRuleId, subject?: string, detail?: string): void {
    const { severity, strict, title } = ORDER_RULES[rule];
    const violation: Violation = {
      rule,
      severity: this.#strict ? strict : severity,
      message: detail ?? (this.#type === "" ? title : `${this.#type}: ${title}`),
      eventNumber: this.eventNumber,
    };
    if (subject !== undefined) violation.subject = subject.slice(0, MAX_SUBJECT);
    (this.#violations ??= []).push(violation);
  }

  /** V1 to V4: whether the event falls into a run at all. */
  #enter(event: AgUiEvent): boolean {
    const isStart = event.type === "RUN_STARTED";
    if (this.#phase === "errored" && !isStart) {
      this.report("run/after-error");
      return false;
    }
    if (this.#phase === "finished" && !isStart && event.type !== "RUN_ERROR") {
      this.report("run/after-finish");
      return false;
    }
    if (this.#first) {
      this.#first = false;
      if (!isStart && event.type !== "RUN_ERROR") this.report("run/first-event");
    } else if (isStart) {
      if (this.#phase === "active") this.report("run/nested-start");
      this.#startOver();
    }
    return true;
  }

  #check(event: AgUiEvent): void {
    const broken = brokenNullRule(event);
    if (broken !== undefined) {
      this.report(broken);
      return;
    }
    if ("subagentRunId" in event) this.#noteTag(event);
    // The table is typed per event type; TypeScript cannot follow the union through the index.
    const rules = EVENT_RULES[event.type] as
      | ((context: RuleContext, event: AgUiEvent) => void)
      | undefined;
    rules?.(this, event);
    if (event.type === "RUN_STARTED") this.#phase = "active";
    else if (event.type === "RUN_FINISHED") this.#phase = "finished";
    else if (event.type === "RUN_ERROR") {
      this.#phase = "errored";
      this.#startOver();
    }
  }

  /** E10 needs to know which tags were used before they were announced. */
  #noteTag(event: { type: string; subagentRunId?: string }): void {
    const tag = event.subagentRunId;
    if (tag === undefined || event.type.startsWith("SUBAGENT_") || this.run.subagents.has(tag))
      return;
    this.run.remember(tag, this.eventNumber);
    this.run.subagents.set(tag, "tagged");
  }

  #startOver(): void {
    for (const [id, call] of this.run.knownCalls()) this.earlierCalls.set(id, call.name);
    this.run = new RunState(this.#limits);
  }
}
