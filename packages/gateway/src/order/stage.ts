import { createChunkExpander } from "@countersign/wire/chunks";
import { createRunAutomaton } from "@countersign/wire/order";
import { assertInput } from "../inbound/request.js";
import type { Stage } from "../pipeline/stage.js";

/** The person is told this code when the agent stops without saying how it ended. */
export const TRUNCATED = "AGENT_STREAM_TRUNCATED";

/** Chunks become whole units, and the run automaton says which rule an event breaks. */
export const order: Stage = {
  name: "order",
  open: (run, next) => {
    const expander = createChunkExpander({ maxLanes: run.limits.maxLanes });
    const automaton = createRunAutomaton(run.agentReadsInput ? { input: run.input } : {});
    return {
      push: (passage) => {
        if (passage.event === undefined) return;
        for (const event of expander.push(passage.event)) {
          const violations = automaton.push(event);
          const violation =
            violations.find(({ severity }) => severity === "error") ?? violations[0];
          next.push({
            ...passage,
            event,
            ...(violation === undefined ? {} : { violation }),
          });
        }
      },
      end: (end) => {
        if (end.failure !== undefined) return next.end(end);
        expander.end();
        const cut = automaton.end().some(({ severity }) => severity === "error");
        return next.end(
          cut
            ? {
                failure: {
                  code: TRUNCATED,
                  message: "the agent's stream ended before its run did",
                },
              }
            : end,
        );
      },
    };
  },
  admit: (request) => request.assertNewRun(assertInput(request)),
};
