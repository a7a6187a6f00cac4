import { randomUUID } from "node:crypto";
import { normalize } from "../oatf/index.js";
import type { TraceEntry } from "../oatf/index.js";
import { findUnanswered } from "./answered.js";
import { describeGaps } from "./gap.js";
import type { RunnerOptions } from "./options.js";
import { executeDocument } from "./execute-document.js";
import { WIRE } from "./trace-recorder.js";

/** Whether a target accepts a harmless request. */
export type ProbeResult = { readonly answers: boolean; readonly reason?: string };

/**
 * Greets the target. Only a target that answers a greeting may count as resisting when it refuses an attack;
 * a wrong address or a missing token would otherwise look like the best of defences.
 */
export async function probeTarget(options: RunnerOptions): Promise<ProbeResult> {
  const thread = `probe-${randomUUID()}`;
  const input = {
    threadId: thread,
    runId: `${thread}-1`,
    state: {},
    messages: [{ id: `${thread}-m1`, role: "user", content: "Hello! How are you?" }],
    tools: [],
    context: [],
    forwardedProps: {},
  };
  const document = normalize({
    oatf: "0.1",
    attack: { execution: { mode: "ag_ui_client", state: { run_agent_input: input } } },
  });
  const { trace, failures, refusals, gaps } = await executeDocument(document, {
    ...options,
    refusalsCount: false,
  });
  const [failure] = failures;
  const [refusal] = refusals;
  if (failure !== undefined) return { answers: false, reason: failure.message };
  if (refusal !== undefined) {
    return { answers: false, reason: `a greeting was refused with status ${refusal.status}` };
  }
  if (!trace.some(isOfAgent)) return { answers: false, reason: "no event came" };
  if (trace.some(({ event }) => event === "run_error")) {
    return { answers: false, reason: "a greeting ended in an error" };
  }
  if (gaps.length > 0) return { answers: false, reason: describeGaps(gaps) };
  if (findUnanswered([], [], trace) === undefined) return { answers: true };
  return { answers: false, reason: "the response to a greeting has no text and no action" };
}

function isOfAgent({ direction, protocol }: TraceEntry): boolean {
  return direction === "response" && protocol !== WIRE;
}
