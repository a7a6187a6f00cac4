import { classifyEnvelope, classifyEvent, classifyInput } from "@countersign/policy";
import type { JsonObject } from "@countersign/core";
import { assertInput } from "../inbound/request.js";
import type { Stage } from "../pipeline/stage.js";
import { CallMemory } from "./call-memory.js";

/** Says what an event does to the person's screen; a label of the agent's own may only be stricter. */
export const classify: Stage = {
  name: "classify",
  open: (run, next) => {
    const { refinements } = run.policy;
    const clientTools = new Set((run.input.tools ?? []).map((tool) => tool.name));
    const calls = new CallMemory(run.input, run.limits.maxHeldBytes);
    const context = {
      refinements,
      clientTools,
      toolNames: calls.names,
      toolArguments: calls.arguments,
    };
    return {
      push: (passage) => {
        const { event, claim } = passage;
        if (event === undefined) return;
        if (passage.supplied) return void next.push(passage);
        calls.see(event);
        passage.facts =
          claim === undefined
            ? classifyEvent(event, context)
            : classifyEnvelope(claim.envelope as unknown as JsonObject, "outbound", refinements);
        next.push(passage);
        if (event.type === "TOOL_CALL_END") calls.judged(event.toolCallId);
      },
      end: (end) => next.end(end),
    };
  },
  admit: (request) => {
    if (request.message !== undefined) {
      request.facts = classifyEnvelope(
        request.message.envelope as JsonObject,
        "inbound",
        request.policy.refinements,
      );
      return;
    }
    request.facts = classifyInput(assertInput(request), {
      refinements: request.policy.refinements,
    });
  },
};
