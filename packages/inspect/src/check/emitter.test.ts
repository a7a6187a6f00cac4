import { createFindings } from "./findings.js";
import { expect, test } from "vitest";
import { createStreamCheck } from "./stream-check.js";
import type { EmitterFacts } from "./emitter.js";

const RUN = { threadId: "t", runId: "r" };
const INPUT = { ...RUN, messages: [], tools: [], context: [], state: {}, forwardedProps: {} };

function emitterOf(events: readonly object[], isAsked = true): EmitterFacts {
  const findings = createFindings();
  const check = createStreamCheck({ findings, ...(isAsked ? { input: INPUT } : {}) });
  for (const event of events) check.text(JSON.stringify(event));
  check.end();
  return check.summary().emitter;
}

const start = { type: "RUN_STARTED", ...RUN };
const finish = (runId = "r"): object => ({ type: "RUN_FINISHED", threadId: "t", runId });

test.each([
  ["a plain stream", [start, finish()], [], {}],
  [
    "LangGraph's own run id",
    [start, finish("own")],
    ["langgraph"],
    { "finish-run-id-replaced": 1 },
  ],
  [
    "a finish after an error",
    [start, { type: "RUN_ERROR", message: "no" }, finish()],
    ["voltagent", "adk", "agentscope"],
    { "finish-after-error-dropped": 1 },
  ],
  [
    "a question of Mastra",
    [
      start,
      {
        ...finish(),
        outcome: { type: "interrupt", interrupts: [{ id: "i", reason: "mastra:tool_suspend" }] },
      },
    ],
    ["mastra"],
    {},
  ],
])(
  "%s shows its emitter profile, with and without the request",
  (_what, events, profiles, repairs) => {
    expect(emitterOf(events)).toEqual({ profiles, repairs });
    expect(emitterOf(events, false)).toEqual({ profiles, repairs });
  },
);
