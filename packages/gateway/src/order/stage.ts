import { createChunkExpander } from "@countersign/wire/chunks";
import { createRunAutomaton } from "@countersign/wire/order";
import type { Violation } from "@countersign/wire/order";
import type { AgUiEvent } from "@countersign/wire";
import type { Failure } from "../deliver/run-error.js";
import { assertInput } from "../inbound/request.js";
import { createPassage } from "../pipeline/passage.js";
import type { Passage } from "../pipeline/passage.js";
import type { Run } from "../pipeline/run.js";
import type { Stage } from "../pipeline/stage.js";

/** The person is told this when the agent stops without saying how the run ended. */
export const TRUNCATED: Failure = {
  code: "AGENT_STREAM_TRUNCATED",
  message: "the agent's stream ended before its run did",
};

/** The person is told this when the agent's dialect has no end of a run and the client's needs one. */
export const ENDLESS: Failure = {
  code: "AGENT_STREAM_WITHOUT_END",
  message: "the agent's stream is over; its dialect cannot say whether the run succeeded",
};

/** Chunks become whole units, and the run automaton says which rule an event breaks. */
export const order: Stage = {
  name: "order",
  open: (run, next) => {
    const expander = createChunkExpander({ maxLanes: run.limits.maxLanes });
    const automaton = createRunAutomaton({
      ...(run.agentReadsInput ? { input: run.input } : {}),
      limits: { maxOpenUnits: run.limits.maxOpenUnits },
    });
    const follow = createProgress(run);
    let enveloped = run.agentDialect === "chio";
    return {
      push: (passage) => {
        if (passage.event === undefined) return;
        if (passage.claim !== undefined) enveloped = true;
        const events = expander.push(passage.event);
        for (let index = 0; index < events.length; index += 1) {
          const event = events[index] as AgUiEvent;
          const violations = automaton.push(event);
          const step = index === events.length - 1 ? passage : likeOf(passage);
          step.event = event;
          if (violations.length > 0) step.violation = worstOf(violations);
          next.push(step);
          follow(event);
        }
      },
      end: (end) => {
        if (end.failure !== undefined) return next.end(end);
        expander.end();
        if (!automaton.end().some(({ severity }) => severity === "error")) return next.end(end);
        // Envelopes know no run: their stream ends when it ends, and only a native client needs more.
        if (!enveloped) return next.end({ failure: TRUNCATED });
        return next.end(readsEnvelopes(run) ? {} : { failure: ENDLESS });
      },
    };
  },
  admit: (request) => {
    if (request.kind === "input") request.assertNewRun(assertInput(request));
  },
};

/** Another passage of the same origin, for an event that a chunk or the end of its lane implies. */
function likeOf({ receivedAt, claim, supplied, isHint }: Passage): Passage {
  const passage = createPassage(receivedAt);
  passage.claim = claim;
  passage.supplied = supplied;
  passage.isHint = isHint;
  return passage;
}

function worstOf(violations: readonly Violation[]): Violation | undefined {
  return violations.find(({ severity }) => severity === "error") ?? violations[0];
}

/** Notes when a run on the stream, and when the one that was asked for, has ended. */
function createProgress(run: Run): (event: AgUiEvent) => void {
  let current: string | undefined;
  return (event) => {
    if (event.type === "RUN_STARTED") {
      current = event.runId;
      run.progress.isOver = false;
    } else if (event.type === "RUN_FINISHED" || event.type === "RUN_ERROR") {
      run.progress.isOver = true;
      if (current === undefined || current === run.runId) run.progress.isComplete = true;
    }
  };
}

/** Whether the client gets an agent's envelopes as envelopes. */
export function readsEnvelopes({ clientDialect }: Run): boolean {
  return clientDialect === "envelope" || clientDialect === "as-sent";
}
