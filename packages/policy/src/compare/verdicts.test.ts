import type { JsonObject } from "@countersign/core";
import type { AgUiEvent, RunAgentInput } from "@countersign/wire";
import { expect, test } from "vitest";
import { classifyEnvelope } from "../classify/envelope.js";
import { classifyEvent } from "../classify/event.js";
import type { Claim } from "../classify/context.js";
import { classifyInput } from "../classify/input.js";
import { compilePolicy } from "../compile/compile.js";
import type { CompiledPolicy } from "../compile/compile.js";
import type { DecisionFacts } from "../compile/facts.js";
import { createCounterBook } from "../counters/book.js";
import type { PolicyDocument, PolicyRules } from "../document/model.js";
import { comparePolicies } from "./compare-policies.js";

const OPEN = { allow_display_without_capability: true };
const LISTED = { forwarded_props: { allow: ["theme"] } };
const policy = (rules: PolicyRules): PolicyDocument => ({ hushspec: "0.1.0", rules });

type Facts = (policy: CompiledPolicy) => DecisionFacts;

const around = {
  transport: "sse",
  counters: { eventsInSecond: 1, velocity: [] },
  capability: { id: "token", status: "valid", scopes: ["ui:*:*"] },
  variables: { event: {}, session: {} },
} as const;

/** A request with its own property, from a browser without a token. */
const request: Facts = ({ refinements }) => {
  const input: RunAgentInput = {
    threadId: "t",
    runId: "r",
    messages: [],
    tools: [],
    context: [],
    state: {},
    forwardedProps: { theme: "dark" },
  };
  return { ...around, capability: undefined, event: classifyInput(input, { refinements }) };
};

/** An envelope that claims a class. */
const envelope =
  (classification: string): Facts =>
  ({ refinements }) => {
    const said: JsonObject = { event_type: { custom: "foo" }, classification };
    return { ...around, event: classifyEnvelope(said, "outbound", refinements) };
  };

const native =
  (event: AgUiEvent, claim: Claim = {}): Facts =>
  ({ refinements }) => ({ ...around, event: classifyEvent(event, { refinements, claim }) });

/** The eleventh event of a session. */
const eleventh: Facts = ({ refinements, limits }) => {
  const event = classifyEvent({ type: "RUN_STARTED", threadId: "t", runId: "r" }, { refinements });
  const book = createCounterBook(limits);
  for (let count = 0; count < 10; count += 1) book.commit(event, { session: "s" }, 1000);
  return { ...around, event, counters: book.peek(event, { session: "s" }, 1000) };
};

const called = (classification: "alert" | "create" | "destroy"): PolicyRules => ({
  ag_ui_classify: { custom: [{ match: "foo", classification }] },
});
const READS_ALL = { rules: [{ id: "c", when: '(event)["classi" + "fication"] == "alert"' }] };
const READS_COUNTERS = { rules: [{ id: "c", when: "counters.velocity[0] > 5" }] };
const CAP = { id: "cap", max_invocations: 100 };
const OTHER_CAP = { id: "other", max_invocations: 1, match: { tool: "none" } };

test.each<[string, before: PolicyRules, after: PolicyRules, Facts]>([
  [
    "a list of properties is switched on",
    { ag_ui: OPEN, ag_ui_request: { ...LISTED, enabled: false } },
    { ag_ui: OPEN, ag_ui_request: LISTED },
    request,
  ],
  [
    "listed properties lose the class that they were given",
    {
      ag_ui: { restricted_classifications: [] },
      ag_ui_inbound: { default: "allow", allow_classifications: ["display"] },
      ag_ui_request: LISTED,
      ag_ui_classify: { input: { forwarded_props: { classification: "mutate" } } },
    },
    {
      ag_ui: { restricted_classifications: [] },
      ag_ui_inbound: { default: "allow", allow_classifications: ["display"] },
      ag_ui_request: LISTED,
    },
    request,
  ],
  [
    "a lower class that needs as much takes claims that were too low",
    { ag_ui: { restricted_classifications: ["submit"] }, ...called("destroy") },
    { ag_ui: { restricted_classifications: ["submit"] }, ...called("alert") },
    envelope("mutate"),
  ],
  [
    "a lower class that needs more takes claims that were too low",
    { ag_ui: { restricted_classifications: ["alert"] }, ...called("destroy") },
    { ag_ui: { restricted_classifications: ["alert"] }, ...called("alert") },
    envelope("mutate"),
  ],
  [
    "a wider target takes claims of other targets",
    {
      ag_ui: {},
      ag_ui_classify: {
        custom: [{ match: "foo", target: { component_type: "modal", component_id: "x" } }],
      },
    },
    {
      ag_ui: {},
      ag_ui_classify: { custom: [{ match: "foo", target: { component_type: "modal" } }] },
    },
    native(
      { type: "CUSTOM", name: "foo", value: 1 },
      { target: { component_type: "modal", component_id: "y" } },
    ),
  ],
  [
    "a condition reads the class by a name it puts together",
    {
      ag_ui: { ...OPEN, restricted_classifications: ["create"] },
      ag_ui_conditions: READS_ALL,
      ...called("alert"),
    },
    {
      ag_ui: { ...OPEN, restricted_classifications: ["create"] },
      ag_ui_conditions: READS_ALL,
      ...called("create"),
    },
    native({ type: "CUSTOM", name: "foo", value: 1 }),
  ],
  [
    "a condition reads the count of a cap that has another place now",
    { ag_ui: OPEN, velocity: [CAP, OTHER_CAP], ag_ui_conditions: READS_COUNTERS },
    { ag_ui: OPEN, velocity: [OTHER_CAP, CAP], ag_ui_conditions: READS_COUNTERS },
    eleventh,
  ],
  [
    "a condition reads the count of a cap before which there is another now",
    { ag_ui: OPEN, velocity: [CAP], ag_ui_conditions: READS_COUNTERS },
    { ag_ui: OPEN, velocity: [OTHER_CAP, CAP], ag_ui_conditions: READS_COUNTERS },
    eleventh,
  ],
])("what lets something new pass is neither stricter nor the same: %s", (_, old, now, facts) => {
  const [before, after] = [policy(old), policy(now)];
  const passes = [before, after].map((document) => {
    const compiled = compilePolicy(document);
    return compiled.evaluate(facts(compiled)).allow;
  });
  expect(passes).toEqual([false, true]);
  expect(["looser", "both"]).toContain(comparePolicies(before, after).verdict);
});

test("tools may be called what every object has", () => {
  const [before, after] = [
    policy({ ag_ui: OPEN, ag_ui_tools: {} }),
    policy({ ag_ui: OPEN, ag_ui_tools: { arguments: { constructor: { type: "object" } } } }),
  ];
  expect(comparePolicies(before, after).verdict).toBe("stricter");
  expect(comparePolicies(after, before).verdict).toBe("looser");
});
