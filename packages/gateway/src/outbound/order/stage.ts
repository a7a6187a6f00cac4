import { createChunkExpander } from "@countersign/wire/chunks";
import type { ChunkExpander } from "@countersign/wire/chunks";
import { createRunAutomaton } from "@countersign/wire/order";
import type { RunAutomaton } from "@countersign/wire/order";
import type { AgUiEvent } from "@countersign/wire";
import type { Failure } from "../deliver/run-error.js";
import { createEventContext } from "../../event/event-context.js";
import { PassingStep } from "../../event/stage.js";
import type { EventContext } from "../../event/event-context.js";
import type { Stage, Step, StreamEnd } from "../../event/stage.js";
import type { Run } from "../../event/run.js";
import { Subagents } from "./subagents.js";

/** The client receives this if the agent's stream ends without the end of the run. */
export const TRUNCATED: Failure = {
  code: "AGENT_STREAM_TRUNCATED",
  message: "the agent's stream ended before its run",
};

/** The client receives this if the agent's dialect has no end of a run and the client's dialect needs one. */
export const ENDLESS: Failure = {
  code: "AGENT_STREAM_WITHOUT_END",
  message: "the agent's stream ended; its dialect does not show whether the run succeeded",
};

/** Expands chunks into units, and finds the order rules that an event violates. */
export const order: Stage = {
  name: "order",
  open: (run, next) => new Orderer(run, next),
};

class Orderer extends PassingStep {
  readonly #run: Run;
  readonly #expander: ChunkExpander;
  readonly #automaton: RunAutomaton;
  readonly #subagents: Subagents;
  readonly #isEnveloped: boolean;
  /** The run that the stream is in. */
  #current: string | undefined;

  constructor(run: Run, next: Step) {
    super(next);
    this.#run = run;
    const { maxLanes, maxOpenUnits } = run.limits;
    this.#expander = createChunkExpander({ maxLanes });
    this.#automaton = createRunAutomaton({
      ...(run.agentReadsInput ? { input: run.input } : {}),
      earlierCalls: Array.from(run.earlier.calls, ([id, { name }]) => [id, name] as const),
      limits: { maxOpenUnits },
    });
    this.#subagents = new Subagents(run.agentReadsInput ? run.isSubagentOfThread : undefined);
    this.#isEnveloped = run.agentDialect === "chio";
  }

  push(context: EventContext): void {
    if (context.event === undefined) return this.next.push(context);
    if (!context.isSynthetic) this.#run.progress.events += 1;
    if (context.isContinued) return this.next.push(context);
    const events = this.#expander.push(context.event);
    for (let index = 0; index < events.length; index += 1) {
      const event = events[index] as AgUiEvent;
      const violations = this.#automaton.push(event);
      const step = index === events.length - 1 ? context : siblingContext(context);
      step.event = event;
      const attributed = this.#subagents.check(event);
      if (violations.length + attributed.length > 0)
        step.violations = [...violations, ...attributed];
      this.next.push(step);
      this.#follow(event);
    }
  }

  override end(end: StreamEnd): void {
    if (end.failure !== undefined) return this.next.end(end);
    // A thread without earlier runs has nothing to repeat.
    if (this.#run.isReplay === true && this.#run.progress.events === 0) return this.next.end(end);
    this.#expander.end();
    const violations = this.#automaton.end();
    if (!violations.some(({ severity }) => severity === "error")) return this.next.end(end);
    // Envelopes have no runs: the stream just ends, and only a native client needs an end of the run.
    if (!this.#isEnveloped) return this.next.end({ failure: TRUNCATED });
    return this.next.end(readsEnvelopes(this.#run) ? {} : { failure: ENDLESS });
  }

  /** Tracks the end of each run on the stream, and of the requested one. */
  #follow(event: AgUiEvent): void {
    const { progress, runId } = this.#run;
    if (event.type === "RUN_STARTED") {
      this.#current = event.runId;
      progress.isOver = false;
    } else if (event.type === "RUN_FINISHED" || event.type === "RUN_ERROR") {
      progress.isOver = true;
      if (this.#current === undefined || this.#current === runId) progress.isComplete = true;
    }
  }
}

/** Creates the context of an event that a chunk, or the end of its unit, implies. */
function siblingContext({ receivedAt, claim, isSynthetic }: EventContext): EventContext {
  const context = createEventContext(receivedAt);
  context.claim = claim;
  context.isSynthetic = isSynthetic;
  return context;
}

/** Whether the client receives an agent's envelopes as envelopes. */
export function readsEnvelopes({ clientDialect }: Run): boolean {
  return clientDialect === "envelope" || clientDialect === "as-sent";
}
