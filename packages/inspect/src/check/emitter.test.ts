import { createFindings } from "./findings.js";
import { DEVIATIONS, PROFILES } from "@countersign/wire/dialects";
import type { DeviationId, EmitterProfile, ProfileRow } from "@countersign/wire/dialects";
import { expect, test } from "vitest";
import { DEVIANT, INPUT as DEVIANT_INPUT } from "../../../wire/src/testing/deviant-streams.js";
import { RULES } from "../rules/table.js";
import type { RuleId } from "../rules/table.js";
import { checkEvents, faults } from "../testing/run-check.js";
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

const REPAIRED = (Object.keys(DEVIATIONS) as DeviationId[]).filter(
  (id) => "note" in DEVIATIONS[id],
);

test.each(REPAIRED)("%s is a note that names the profiles, under each that repairs it", (id) => {
  const own = Object.entries(PROFILES as Readonly<Record<string, readonly ProfileRow[]>>)
    .filter(([, rows]) => rows.some(({ deviation }) => deviation === id))
    .map(([name]) => name as EmitterProfile);
  for (const profile of ["auto", ...own] as const) {
    const found = checkEvents(DEVIANT[id].stream, DEVIANT_INPUT, { profile });
    expect(faults(found), profile).toEqual([]);
    const repaired = found.find(({ rule }) => rule === "gateway/repaired");
    for (const name of own) expect(repaired?.places[0]?.detail).toContain(name);
  }
  const strict = checkEvents(DEVIANT[id].stream, DEVIANT_INPUT);
  expect(strict.map(({ rule }) => rule)).not.toContain("gateway/repaired");
});

test("a deviation that the profile does not repair keeps its weight", () => {
  const { stream } = DEVIANT["finish-run-id"];
  for (const profile of ["strict", "mastra"] as const) {
    expect(faults(checkEvents(stream, DEVIANT_INPUT, { profile }))).toEqual(["run/finish-ids"]);
  }
});

test.each<RuleId>([
  "event/null-field",
  "event/timestamp",
  "dialect/snake-case",
  "dialect/thinking",
  "dialect/binary-part",
  "dialect/tool-content",
  "dialect/superseded",
])("%s is a note where a gateway translates the stream", (rule) => {
  const { example } = RULES[rule];
  const events = "events" in example ? example.events : [];
  expect(faults(checkEvents(events))).toEqual([rule]);
  const found = checkEvents(events, undefined, { dialect: "auto" });
  expect(faults(found)).toEqual([]);
  expect(found.map((finding) => finding.rule)).toContain("gateway/repaired");
});
