import { createJsonSequence, isCountersignError } from "@countersign/core";
import type { JsonObject } from "@countersign/core";
import { createChunkExpander } from "../chunks/index.js";
import { createUpgrader } from "../dialects/index.js";
import { enforceEvent } from "../enforce/index.js";
import type { AgUiEvent } from "../model/event.js";
import type { RunAgentInput } from "../model/input.js";
import { createRunAutomaton, ORDER_RULES } from "../order/index.js";
import type { Violation } from "../order/index.js";
import { createReducer } from "../reduce/index.js";
import type { RunView } from "../reduce/index.js";
import { createSseDecoder } from "../sse/index.js";
import type { SseMessage } from "../sse/index.js";

/** The result of our whole pipeline for the bytes of an SSE response. */
export type PipelineVerdict = {
  passed: AgUiEvent[];
  /** The index of the SSE message that was refused, if any, and the code or rule that says why. */
  failedAt: number | undefined;
  reason: string | undefined;
  view: RunView;
};

/** Only what the client refuses too stops the pipeline here; the E rules are written differences. */
function refusedByClient(violation: Violation): boolean {
  return ORDER_RULES[violation.rule].reference.startsWith("V");
}

/** Stops the pipeline with the rule that an event broke. */
class OrderRefusal extends Error {}

/** Bytes to view: decode, parse, translate what 1.0 still translates, enforce, expand, order, reduce. */
export function ourPipeline(input: RunAgentInput, pieces: readonly Uint8Array[]): PipelineVerdict {
  const decoder = createSseDecoder();
  const texts = createJsonSequence();
  let minted = 0;
  const upgrader = createUpgrader({
    dialect: "1.0",
    mintId: () => `00000000-0000-4000-8000-${String(minted++).padStart(12, "0")}`,
  });
  const expander = createChunkExpander();
  const automaton = createRunAutomaton();
  const reducer = createReducer({
    messages: input.messages,
    ...(input.state !== undefined && { state: input.state }),
  });
  const passed: AgUiEvent[] = [];
  let index = 0;

  const take = ({ data }: SseMessage): void => {
    for (const value of upgrader.push(texts.parse(data) as JsonObject).events) {
      const { event } = enforceEvent(value);
      if (event === undefined) continue;
      for (const expanded of expander.push(event)) {
        const refusal = automaton.push(expanded, index + 1).find(refusedByClient);
        if (refusal !== undefined) throw new OrderRefusal(refusal.rule);
        passed.push(expanded);
        reducer.push(expanded);
      }
    }
    index++;
  };
  const verdict = (reason: string | undefined): PipelineVerdict => ({
    passed,
    failedAt: reason === undefined ? undefined : index,
    reason,
    view: reducer.snapshot(),
  });

  try {
    for (const piece of pieces) for (const message of decoder.push(piece)) take(message);
    for (const message of decoder.end()) take(message);
    return verdict(undefined);
  } catch (error) {
    if (error instanceof OrderRefusal) return verdict(error.message);
    if (isCountersignError(error)) return verdict(error.code);
    throw error;
  }
}
