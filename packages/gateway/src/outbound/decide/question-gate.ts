import type { JsonValue } from "@countersign/core";
import { classifyEvent } from "@countersign/policy";
import type { AgUiEvent, RunFinishedEvent } from "@countersign/wire";
import { measureJson } from "@countersign/wire/reduce";
import { PassingStep } from "../../event/stage.js";
import type { EventContext } from "../../event/event-context.js";
import type { Step, StreamEnd } from "../../event/stage.js";
import type { DecisionRequest } from "../../event/judge.js";
import type { CallApprovals } from "../../event/run.js";
import { namedTools } from "../../thread/thread-state.js";
import { callStart } from "./listed.js";
import { CHANGES_CLIENT, evaluateRules, subjectOf } from "./rule.js";
import type { RuleState } from "./rule.js";
import { RULES } from "./rules.js";

/**
 * The limits of events that wait: they are decided in one turn of the event loop. An event that is compared with everything the client has
 * counts as a hundred.
 */
const MAX_WAITING = 10_000;
const MAX_WAITING_BYTES = 1024 * 1024;
const COST_OF_CHANGE = 100;

/**
 * Keeps a call that the person's answers do not cover, and the events after it, until the run shows whether the call is a question. It is
 * one if the run ends by asking the person about it. It is not one if the agent sends its result. The decision itself never waits.
 *
 * A call of the agent's own tool that its run asks about is not an act yet. A client may make a call of its own tool as soon as it is
 * complete, so such a call does not wait and stays blocked. Beyond a limit no call waits, and each one is decided as if nothing asked
 * about it.
 */
export class QuestionGate extends PassingStep {
  readonly #state: RuleState;
  readonly #approvals: CallApprovals;
  /** The waiting events. The first one has a call that may be a question. */
  #waiting: EventContext[] = [];
  #first = 0;
  #size = 0;
  #cost = 0;
  /** Calls of the first waiting event that may be questions, with their tools. */
  #open: ReadonlyMap<string, string> = NONE;
  /** Calls that the agent carried out, so that they are not questions. */
  readonly #made = new Set<string>();
  #isOff = false;

  constructor(next: Step, state: RuleState, approvals: CallApprovals) {
    super(next);
    this.#state = state;
    this.#approvals = approvals;
  }

  push(context: EventContext): void {
    const { event } = context;
    if (event !== undefined) for (const id of madeBy(event)) this.#made.add(id);
    if (this.#made.size > MAX_WAITING) this.#isOff = true;
    if (this.#waiting.length === 0 && !this.#mustWait(context)) return this.next.push(context);
    this.#keep(context);
    if (event?.type === "RUN_FINISHED") this.#ask(context, event);
    if (event !== undefined && ENDS.has(event.type)) return this.#release(true);
    return this.#release(this.#isOff);
  }

  /** The stream ended, and nothing asked about the calls. */
  override end(end: StreamEnd): void {
    this.#release(true);
    this.next.end(end);
  }

  #keep(context: EventContext): void {
    this.#waiting.push(context);
    const { event } = context;
    const { maxDepth, maxHeldBytes } = this.#state.run.limits;
    const mostBytes = Math.min(maxHeldBytes, MAX_WAITING_BYTES);
    const size = measureJson((event ?? null) as JsonValue, maxDepth);
    this.#size += typeof size === "number" ? size : mostBytes;
    this.#cost += event !== undefined && CHANGES_CLIENT.has(event.type) ? COST_OF_CHANGE : 1;
    if (this.#cost > MAX_WAITING || this.#size > mostBytes) this.#isOff = true;
  }

  /** Forwards the waiting events up to the next call that may be a question, or all of them. */
  #release(isAll: boolean): void {
    while (this.#first < this.#waiting.length) {
      if (!isAll && this.#isOpen()) return;
      const context = this.#waiting[this.#first] as EventContext;
      this.#first += 1;
      this.next.push(context);
      const following = this.#waiting[this.#first];
      this.#open = following === undefined ? NONE : this.#questionsIn(following);
    }
    this.#waiting = [];
    this.#first = 0;
    this.#size = 0;
    this.#cost = 0;
  }

  #mustWait(context: EventContext): boolean {
    this.#open = this.#questionsIn(context);
    return !this.#isOff && this.#isOpen();
  }

  #isOpen(): boolean {
    for (const id of this.#open.keys()) if (!this.#made.has(id)) return true;
    return false;
  }

  /** The run ends by asking about these calls: they are questions, unless the agent made them. */
  #ask(context: EventContext, { outcome }: RunFinishedEvent): void {
    if (outcome?.type !== "interrupt") return;
    // The client does not receive an end that violates the order, nor its questions.
    if (evaluateRules(RULES.order, subjectOf(this.#state, context)) !== undefined) return;
    const calls = new Map(
      this.#waiting.slice(this.#first).flatMap((one) => [...this.#questionsIn(one)]),
    );
    for (const { toolCallId, metadata } of outcome.interrupts) {
      const tools = toolCallId === undefined ? new Set(namedTools(metadata)) : undefined;
      for (const [id, tool] of calls) {
        if (this.#made.has(id) || this.#isOff) continue;
        if (id === toolCallId || tools?.has(tool) === true) this.#approvals.asks(id);
      }
    }
  }

  /** The calls of an event that the answers do not cover and that may be questions. */
  #questionsIn({ event, facts }: EventContext): ReadonlyMap<string, string> {
    if (event?.type === "TOOL_CALL_START" || event?.type === "TOOL_CALL_END") {
      const name = facts?.toolCalls?.[0]?.name;
      if (facts === undefined || name === undefined) return NONE;
      return this.#mayAsk(name, { facts, event: event as never })
        ? new Map([[event.toolCallId, name]])
        : NONE;
    }
    if (event?.type !== "MESSAGES_SNAPSHOT") return NONE;
    const found = new Map<string, string>();
    const { clientTools, run } = this.#state;
    for (const message of event.messages) {
      for (const call of message.role === "assistant" ? (message.toolCalls ?? []) : []) {
        const { id, function: called } = call;
        if (!this.#approvals.isAbout(called.name, id)) continue;
        const start = callStart(call);
        const classified = classifyEvent(start, {
          refinements: run.policy.refinements,
          clientTools,
          toolNames: new Map([[id, called.name]]),
          toolArguments: new Map([[id, called.arguments]]),
        });
        const request = {
          facts: classified,
          event: start as never,
          listedArguments: called.arguments,
        };
        if (this.#mayAsk(called.name, request)) found.set(id, called.name);
      }
    }
    return found;
  }

  #mayAsk(toolName: string, request: DecisionRequest): boolean {
    if (this.#state.clientTools.has(toolName)) return false;
    return this.#approvals.mayAsk(request);
  }
}

const NONE: ReadonlyMap<string, string> = new Map();

/** After these events no question follows about a call before them. */
const ENDS: ReadonlySet<AgUiEvent["type"]> = new Set(["RUN_STARTED", "RUN_FINISHED", "RUN_ERROR"]);

/** The calls that an event shows as carried out. */
function madeBy(event: AgUiEvent): readonly string[] {
  switch (event.type) {
    case "TOOL_CALL_RESULT":
      return [event.toolCallId];
    case "SUBAGENT_STARTED":
      return event.parentToolCallId === undefined ? [] : [event.parentToolCallId];
    case "MESSAGES_SNAPSHOT":
      return event.messages.flatMap((one) => (one.role === "tool" ? [one.toolCallId] : []));
    default:
      return [];
  }
}
