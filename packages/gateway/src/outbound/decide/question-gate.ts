import type { JsonValue } from "@countersign/core";
import { classifyEvent } from "@countersign/policy";
import type { AgUiEvent, RunFinishedEvent } from "@countersign/wire";
import { measureJson } from "@countersign/wire/reduce";
import { PassingStep } from "../../event/stage.js";
import type { Pause } from "../../event/waits.js";
import type { EventContext } from "../../event/event-context.js";
import type { Step, StreamEnd } from "../../event/stage.js";
import type { DecisionRequest } from "../../event/judge.js";
import type { CallApprovals } from "../../event/run.js";
import { namedTools } from "../../thread/thread-state.js";
import { callStart } from "./listed.js";
import { CHANGES_CLIENT, evaluateRules, subjectOf } from "./rule.js";
import type { RuleState } from "./rule.js";
import { RULES } from "./rules.js";

/** The limits of events that wait. An event that is compared with everything the client has counts as a hundred. */
const MAX_WAITING = 10_000;
const MAX_WAITING_BYTES = 1024 * 1024;
const COST_OF_CHANGE = 100;
/** The events that the gate forwards in one turn of the event loop: 20 lists of 3,000 calls took half a second in one. */
const MAX_RELEASED = 100;

/** An event that waits, with those of its calls that may be questions, and their tools. */
type Waiting = {
  readonly context: EventContext;
  readonly questions: ReadonlyMap<string, string>;
  readonly cost: number;
};

/**
 * Keeps a call that the person's answers do not cover, and the events after it, until the run shows whether the call is a question. It is
 * one if the run ends by asking the person about it. It is not one if the agent sends its result. The decision itself never waits.
 *
 * A call of the agent's own tool that its run asks about is not an act yet. A client may make a call of its own tool as soon as it is
 * complete, so such a call does not wait and stays blocked. Beyond a limit no call waits, and each one is decided as if nothing asked
 * about it.
 *
 * Many events can wait, so the gate forwards them in several turns of the event loop, and pauses the run meanwhile.
 */
export class QuestionGate extends PassingStep {
  readonly #state: RuleState;
  readonly #approvals: CallApprovals;
  readonly #pause: Pause | undefined;
  #waiting: Waiting[] = [];
  #first = 0;
  /** The events before this one do not wait for the end of the run. */
  #released = 0;
  #size = 0;
  #cost = 0;
  /** Calls that the agent carried out, so that they are not questions. */
  readonly #made = new Set<string>();
  #isOff = false;
  #end: StreamEnd | undefined;

  constructor(next: Step, state: RuleState, approvals: CallApprovals) {
    super(next);
    this.#state = state;
    this.#approvals = approvals;
    this.#pause = state.run.pause;
  }

  push(context: EventContext): void {
    const { event } = context;
    for (const id of event === undefined ? [] : madeBy(event)) {
      this.#made.add(id);
      this.#approvals.arrives(id);
    }
    if (this.#made.size > MAX_WAITING) this.#isOff = true;
    const cost = event !== undefined && CHANGES_CLIENT.has(event.type) ? COST_OF_CHANGE : 1;
    const waiting = { context, questions: this.#questionsIn(context), cost };
    if (this.#waiting.length === 0 && !this.#mustWait(waiting)) return this.next.push(context);
    this.#keep(waiting);
    if (event?.type === "RUN_FINISHED") this.#ask(context, event);
    if (event !== undefined && ENDS.has(event.type)) this.#released = this.#waiting.length;
    return this.#release();
  }

  override proceed(): void {
    this.next.proceed();
    this.#release();
  }

  /** The stream ended, and nothing asked about the calls. */
  override end(end: StreamEnd): void {
    if (this.#waiting.length === 0) return this.next.end(end);
    this.#end = end;
    this.#released = this.#waiting.length;
    return this.#release();
  }

  override fail(failure: NonNullable<StreamEnd["failure"]>): void {
    this.#waiting = [];
    this.next.fail(failure);
  }

  #keep(waiting: Waiting): void {
    this.#waiting.push(waiting);
    const { maxDepth, maxHeldBytes } = this.#state.run.limits;
    const mostBytes = Math.min(maxHeldBytes, MAX_WAITING_BYTES);
    const size = measureJson((waiting.context.event ?? null) as JsonValue, maxDepth);
    this.#size += typeof size === "number" ? size : mostBytes;
    this.#cost += waiting.cost;
    if (this.#cost > MAX_WAITING || this.#size > mostBytes) this.#isOff = true;
  }

  /** Forwards the waiting events up to the next call that may be a question. The rest of many follows in the next turn. */
  #release(): void {
    let cost = 0;
    while (this.#first < this.#waiting.length) {
      const waiting = this.#waiting[this.#first] as Waiting;
      if (this.#first >= this.#released && this.#mustWait(waiting)) return;
      if (cost >= MAX_RELEASED) this.#pause?.set(Promise.resolve());
      // The next stage may have paused the run too.
      if (this.#pause?.until !== undefined) return;
      cost += waiting.cost;
      this.#first += 1;
      this.next.push(waiting.context);
    }
    this.#waiting = [];
    this.#first = 0;
    this.#released = 0;
    this.#size = 0;
    this.#cost = 0;
    const end = this.#end;
    this.#end = undefined;
    if (end !== undefined) this.next.end(end);
  }

  #mustWait({ questions }: Waiting): boolean {
    if (this.#isOff) return false;
    for (const id of questions.keys()) if (!this.#made.has(id)) return true;
    return false;
  }

  /** The run ends by asking about these calls: they are questions, unless the agent made them. */
  #ask(context: EventContext, { outcome }: RunFinishedEvent): void {
    if (outcome?.type !== "interrupt") return;
    // The client does not receive an end that violates the order, nor its questions.
    if (evaluateRules(RULES.order, subjectOf(this.#state, context)) !== undefined) return;
    const calls = new Map(
      this.#waiting.slice(this.#first).flatMap(({ questions }) => [...questions]),
    );
    const ask = (id: string): void => {
      if (calls.has(id) && !this.#made.has(id) && !this.#isOff) this.#approvals.asks(id);
    };
    const tools = new Set<string>();
    for (const { toolCallId, metadata } of outcome.interrupts) {
      if (toolCallId !== undefined) ask(toolCallId);
      else for (const name of namedTools(metadata)) tools.add(name);
    }
    for (const [id, tool] of calls) if (tools.has(tool)) ask(id);
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
