/**
 * Decisions per second: the SSE sample policy on a text stream and on blocked events, the same with a
 * thousand component and scope rules (the cost must not grow with them), and with CEL conditions.
 */
import { readFileSync } from "node:fs";
import type { AgUiEvent } from "@countersign/wire";
import type { CompiledPolicy, DecisionFacts, EventFacts } from "@countersign/policy";
import {
  classifyEvent,
  compilePolicy,
  createCounterBook,
  loadPolicy,
  NO_COUNTERS,
} from "@countersign/policy";
import { compare, report } from "./harness.js";
import type { Case } from "./harness.js";

const ROUND = 200_000;

const sample = (name: string): string =>
  readFileSync(new URL(`../../packages/policy/policies/${name}`, import.meta.url), "utf8");

const compile = (text: string): CompiledPolicy => compilePolicy(loadPolicy(text));

const names = Array.from({ length: 1000 }, (_, index) => `component-${index}`);
const manyRules = (count: number): string => `hushspec: "0.1.0"
rules:
  ag_ui:
    allow_display_without_capability: true
    capability_scopes:
${names
  .slice(0, count)
  .map(
    (name) =>
      `      - { scope_id: "ui:submit:${name}:x", allow_event_types: [form_action], allow_targets: [{ component_type: ${name}, component_id: x }] }`,
  )
  .join("\n")}
  ag_ui_components:
    allow_components: [chat-window, ${names.slice(0, count).join(", ")}]
`;

const conditions = (count: number): string => `ag_ui:
  allow_display_without_capability: true
ag_ui_conditions:
  rules:
${Array.from(
  { length: count },
  (_, index) =>
    `    - { id: c${index}, when: 'event.type == "CUSTOM" && event.name == "acme.${index}" && session.tier != "gold"' }`,
).join("\n")}
`;

const delta: AgUiEvent = { type: "TEXT_MESSAGE_CONTENT", messageId: "m", delta: " word" };
const text: EventFacts = classifyEvent(delta);
const state: EventFacts = classifyEvent({ type: "STATE_SNAPSHOT", snapshot: { a: 1 } });
const form: EventFacts = {
  source: "ENVELOPE",
  direction: "outbound",
  eventType: "form_action",
  classification: "submit",
  derived: "submit",
  target: { component_type: "component-0", component_id: "x" },
};
const capability = {
  id: "cap",
  status: "valid" as const,
  scopes: ["ui:submit:component-0:x", "ui:display:*"],
};

const facts = (event: EventFacts, rest: Partial<DecisionFacts> = {}): DecisionFacts => ({
  event,
  transport: "sse",
  counters: NO_COUNTERS,
  ...rest,
});

function decisions(
  name: string,
  policy: CompiledPolicy,
  input: DecisionFacts,
  allow: boolean,
  round = ROUND,
): Case {
  if (policy.evaluate(input).allow !== allow) throw new Error(`${name}: unexpected decision`);
  return {
    name,
    run: () => {
      let allowed = 0;
      for (let index = 0; index < round; index += 1) {
        if (policy.evaluate(input).allow) allowed += 1;
      }
      if (allowed !== (allow ? round : 0)) throw new Error(`${name}: unexpected decision`);
      return round;
    },
  };
}

const sse = compile(sample("ag-ui-sse-policy.yaml"));
const thousand = compile(manyRules(1000));
const one = compile(manyRules(1));
const book = createCounterBook(sse.limits);
const keys = { connection: "c", session: "s", agent: "a" };

let clock = 0;

const withClassification: Case = {
  name: "classify, count and decide (text)",
  run: () => {
    let allowed = 0;
    for (let index = 0; index < ROUND; index += 1) {
      clock += 10;
      const event = classifyEvent(delta, sse);
      const counters = book.peek(event, keys, clock);
      if (sse.evaluate({ event, transport: "sse", counters }).allow) allowed += 1;
      book.commit(event, keys, clock);
    }
    if (allowed !== ROUND) throw new Error("unexpected decision");
    return ROUND;
  },
};

const variables = {
  event: { type: "CUSTOM", name: "acme.x", value: {} },
  session: { tier: "gold" },
};

report("policy", "Policy decisions", {
  "The SSE sample": compare([
    decisions("text, allowed", sse, facts(text), true),
    decisions("state without a token, blocked", sse, facts(state), false),
    withClassification,
  ]),
  "Number of rules": compare([
    decisions("1 component and 1 scope rule", one, facts(form, { capability }), true),
    decisions("1,000 component and 1,000 scope rules", thousand, facts(form, { capability }), true),
  ]),
  "CEL conditions": compare(
    [1, 10].map((count) =>
      decisions(
        `${count} condition${count === 1 ? "" : "s"}`,
        compile(conditions(count)),
        facts(text, { variables }),
        true,
        2000,
      ),
    ),
  ),
});
