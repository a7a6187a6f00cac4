import { expect, test } from "vitest";
import { ClientState } from "../classify/client-state.js";
import { classifyEvent } from "../classify/event.js";
import { classifyInput } from "../classify/input.js";
import { eventOf, factsOf, policyOf, token, verdict } from "../testing/judge.js";
import { ALLOW } from "./decision.js";

const OPEN = "ag_ui:\n  allow_display_without_capability: true\n";
const TEXT = "text_stream display chat-window:main";

test.each([
  ["a document without blocks", 'hushspec: "0.1.0"\n'],
  ["empty rules", 'hushspec: "0.1.0"\nrules: {}\n'],
  ["a disabled ag_ui block", "ag_ui: { enabled: false, allow_display_without_capability: true }\n"],
  ["blocks of other guards only", "egress: { allow: ['*'] }\n"],
  ["the built-in panic", 'hushspec: "0.1.0"\nextends: panic\n'],
])("%s denies everything", (_, text) => {
  const policy = policyOf(text);
  expect(verdict(policy, TEXT, { capability: token("*") })).toBe(
    "the policy has no enabled ag_ui block",
  );
});

test("alert is restricted by default", () => {
  expect(verdict(policyOf(OPEN), "notification alert toast")).toBe(
    "capability required for Alert events",
  );
});

test("every allow is the same object", () => {
  const policy = policyOf(OPEN);
  expect(policy.evaluate(factsOf(TEXT))).toBe(ALLOW);
  const block = factsOf("navigation navigate");
  expect(policy.evaluate(block)).toBe(policy.evaluate(block));
});

test("a weaker claim is blocked, a stricter one does not leave a restricted class", () => {
  const policy = policyOf(
    "ag_ui: { allow_display_without_capability: true, restricted_classifications: [mutate] }\n",
  );
  expect(verdict(policy, "state_update display")).toBe(
    "event classification mismatch: supplied Display, derived Mutate",
  );
  expect(verdict(policy, "state_update submit")).toBe("capability required for Submit events");
  expect(verdict(policy, "form_action submit")).toBe("allow");
});

test("all things an event does must be allowed", () => {
  const policy = policyOf(
    `${OPEN}ag_ui_classify:\n  state:\n    - { match: /theme, classification: display }\n    - { match: /url, classification: navigate }\n`,
  );
  const delta = (...paths: string[]) =>
    classifyEvent(
      { type: "STATE_DELTA", delta: paths.map((path) => ({ op: "add", path, value: 1 })) },
      { refinements: policy.refinements, client: new ClientState({}) },
    );
  expect(verdict(policy, delta("/theme"))).toBe("allow");
  expect(verdict(policy, delta("/theme", "/url"))).toBe("capability required for Navigate events");
  const capability = token("ui:navigate:*");
  expect(verdict(policy, delta("/theme", "/url"), { capability })).toBe("allow");
  expect(verdict(policy, delta("/theme", "/url", "/other"), { capability })).toBe(
    "capability scope does not authorize this AG-UI event",
  );
});

test("order: errors block, warnings pass, one rule can be set apart", () => {
  const plain = policyOf(OPEN);
  const error = { violations: [{ rule: "run/finish-ids", severity: "error" as const }] };
  const warning = { violations: [{ rule: "tool-call/renamed", severity: "warning" as const }] };
  expect(verdict(plain, TEXT, error)).toBe("event breaks the protocol's order: run/finish-ids");
  expect(verdict(plain, TEXT, warning)).toBe("allow");
  const set = policyOf(
    `${OPEN}ag_ui_order: { on_warning: block, rules: { run/finish-ids: allow } }\n`,
  );
  expect(verdict(set, TEXT, error)).toBe("allow");
  expect(verdict(set, TEXT, warning)).toBe("event breaks the protocol's order: tool-call/renamed");
});

test("components: globs, block lists and default allow", () => {
  const capability = token("*");
  const policy = policyOf(
    `${OPEN}ag_ui_components:\n  allow_components: [card-*, modal]\n  allow_ids: ["card-a:*", "modal:ok-*"]\n  block_ids: ["modal:ok-not"]\n`,
  );
  const ask = (target: string) => verdict(policy, `lifecycle create ${target}`, { capability });
  expect(ask("card-a")).toBe("allow");
  expect(ask("card-a:9")).toBe("allow");
  expect(ask("card-b:9")).toBe("unknown component id");
  expect(ask("modal:ok-1")).toBe("allow");
  expect(ask("modal:ok-not")).toBe("component is blocked");
  expect(ask("card:1")).toBe("unknown component type");
  const open = policyOf(
    `${OPEN}ag_ui_components: { default: allow, block_components: [login*] }\n`,
  );
  expect(verdict(open, "lifecycle create anything", { capability })).toBe("allow");
  expect(verdict(open, "lifecycle create login-form", { capability })).toBe("component is blocked");
});

const TOOLS = `${OPEN}ag_ui_tools:
  call: { allow: [show_*, refund], block: [show_all] }
  declare: { allow: [refund] }
  arguments:
    refund: { type: object, properties: { amount: { type: number, maximum: 50 } }, required: [amount] }
`;

test.each([
  ["show_one", undefined, "allow"],
  ["show_all", undefined, "tool may not be called"],
  ["rm", undefined, "tool may not be called"],
  ["refund", '{"amount":42.5}', "allow"],
  ["refund", '{"amount":425}', "tool arguments do not fit their schema"],
  ["refund", '{"amount":', "tool arguments are not valid JSON"],
  ["refund", undefined, "tool arguments are not complete"],
])("a call of %s with %s: %s", (name, text, expected) => {
  const policy = policyOf(TOOLS);
  const facts = classifyEvent(
    { type: "TOOL_CALL_START", toolCallId: "c", toolCallName: name },
    { clientTools: new Set(), toolArguments: new Map(text === undefined ? [] : [["c", text]]) },
  );
  expect(verdict(policy, facts)).toBe(expected);
  expect(policy.needsArguments(name)).toBe(name === "refund");
});

test("only declared tools that are listed are accepted", () => {
  const policy = policyOf(TOOLS);
  const request = (...names: string[]) =>
    classifyInput({
      threadId: "t",
      runId: "r",
      messages: [],
      tools: names.map((name) => ({ name, description: "" })),
    });
  expect(verdict(policy, request("refund"))).toBe("allow");
  expect(verdict(policy, request("refund", "exfiltrate"))).toBe(
    "tool may not be declared by this client",
  );
});

test("the agent cannot answer a tool of the client", () => {
  const policy = policyOf(`${OPEN}ag_ui_tools: {}\n`);
  const facts = classifyEvent(
    { type: "TOOL_CALL_RESULT", messageId: "m", toolCallId: "c", content: "yes" },
    { clientTools: new Set(["ask"]), toolNames: new Map([["c", "ask"]]) },
  );
  expect(verdict(policy, facts, { capability: token("*") })).toBe(
    "only the client can answer this tool",
  );
});

const CONDITIONS = `${OPEN}ag_ui_conditions:
  rules:
    - id: no-links
      match: { event_type: text_stream }
      when: has(event.delta) && event.delta.matches("https?://")
      reason: links are not shown
    - id: business-hours
      match: { event_type: notification }
      when: session.hour >= 8 && session.hour < 18
      effect: allow
      reason: no notifications at night
`;

test("conditions block when true, or allow only when true, and block when they fail", () => {
  const policy = policyOf(CONDITIONS);
  const say = (delta: string) => verdict(policy, TEXT, { variables: { event: { delta } } });
  expect(say("hello")).toBe("allow");
  expect(say("see http://x")).toBe("links are not shown");
  const capability = token("*");
  const notify = (session: object) =>
    verdict(policy, "notification alert toast", {
      capability,
      variables: { session: session as never },
    });
  expect(notify({ hour: 9 })).toBe("allow");
  expect(notify({ hour: 20 })).toBe("no notifications at night");
  expect(notify({})).toBe("condition business-hours could not be evaluated");
});

test("what we derived lies over what the event says of itself", () => {
  const policy = policyOf(
    `${OPEN}ag_ui_conditions: { rules: [{ id: a, when: 'event.classification == "display"' }] }\n`,
  );
  const variables = { event: { classification: "submit" } };
  expect(verdict(policy, TEXT, { variables })).toBe("blocked by condition a");
});

test("a block in observe mode remembers, an enforced one after it still blocks", () => {
  const policy = policyOf(
    `${OPEN}ag_ui_components: { allow_components: [toast], mode: observe }\nag_ui_conditions: { rules: [{ id: a, when: 'event.direction == "inbound"', on_block: end }] }\n`,
  );
  expect(verdict(policy, TEXT)).toBe("observed: unknown component type");
  expect(policy.evaluate(factsOf(eventOf(TEXT, "inbound")))).toMatchObject({
    allow: false,
    rule: "ag_ui_conditions.a",
    onBlock: "end",
  });
  expect(verdict(policy, eventOf(TEXT, "inbound"), { mode: "observe" })).toContain("observed:");
});

test("a constraint of the token that fails, or throws, denies", () => {
  const policy = policyOf(OPEN);
  const event = "form_action submit modal:x";
  const refusing = { ...token("*"), authorize: () => "capability scope constraint failed: size" };
  expect(verdict(policy, event, { capability: refusing })).toBe(
    "capability scope constraint failed: size",
  );
  const broken = {
    ...token("*"),
    authorize: (): string => {
      throw new Error("bug");
    },
  };
  expect(verdict(policy, event, { capability: broken })).toBe("the policy could not be evaluated");
});

test("explain names every rule with what it saw, also behind the one that blocked", () => {
  const policy = policyOf(TOOLS);
  const { decision, steps } = policy.explain(factsOf("form_action submit modal:x"));
  expect(decision).toMatchObject({ allow: false, rule: "ag_ui.capability" });
  expect(steps.map((step) => step.rule)).toEqual(policy.rules);
  expect(steps.find((step) => step.rule === "ag_ui.capability")).toMatchObject({
    outcome: "blocked",
    reason: "capability required for Submit events",
    saw: { classification: "submit", target: "modal:x", capability: "<none>" },
  });
});

test("Chio's velocity is a token bucket per scope", () => {
  const policy = policyOf(
    `${OPEN}velocity: { max_requests_per_session: 10, max_requests_per_agent: 100, window_secs: 10, burst_factor: 2 }\n`,
  );
  expect(policy.limits.velocity).toMatchObject([
    { id: "rule-1-agent", scope: "agent", kind: "bucket", capacity: 200 },
    { id: "rule-1-session", scope: "session", kind: "bucket", max: 10, capacity: 20 },
  ]);
});

test.each(["drop", "notice", "end"])(
  "on_block %s: a rate or a cap that text exceeds ends the run; other events keep their on_block",
  (onBlock) => {
    const policy = policyOf(
      `hushspec: "0.1.0"\non_block: ${onBlock}\nrules:\n  ag_ui: { allow_display_without_capability: true, restricted_classifications: [], max_events_per_second: 5 }\n  velocity: { max_invocations: 5, window_seconds: 60 }\n`,
    );
    const onBlockOf = (event: string, eventsInSecond: number, used: number): unknown => {
      const counters = { eventsInSecond, velocity: [used] };
      return policy.evaluate({ ...factsOf(event), counters });
    };
    for (const event of [TEXT, "notification alert toast"]) {
      expect(onBlockOf(event, 6, 1)).toMatchObject({ allow: false, onBlock: "end" });
    }
    for (const used of [6, Number.POSITIVE_INFINITY]) {
      expect(onBlockOf(TEXT, 1, used)).toMatchObject({ allow: false, onBlock: "end" });
      expect(onBlockOf("notification alert toast", 1, used)).toMatchObject({ onBlock });
    }
  },
);

test("events of a call without a known start do not pass a list of tools", () => {
  const policy = policyOf(`${OPEN}ag_ui_tools: { call: { allow: [show] } }\n`);
  const facts = classifyEvent({ type: "TOOL_CALL_ARGS", toolCallId: "c", delta: "{}" });
  expect(verdict(policy, facts, { capability: token("*") })).toBe("tool may not be called");
});

test("a condition that reads arguments makes calls wait for them", () => {
  const policy = policyOf(
    `${OPEN}ag_ui_conditions: { rules: [{ id: a, when: 'event.tools.exists(t, t.arguments.force == true)' }] }\n`,
  );
  expect(policy.needsArguments("anything")).toBe(true);
});

test.each(["t.arguments.force == true", "has(t.arguments.force)", "t.arguments != null"])(
  "a condition that reads unreadable arguments blocks the call: %s",
  (asked) => {
    const policy = policyOf(
      `${OPEN}ag_ui_conditions: { rules: [{ id: a, when: 'event.tools.exists(t, t.name == "pay" && ${asked})' }] }\n`,
    );
    const facts = (name: string) =>
      classifyEvent(
        { type: "TOOL_CALL_END", toolCallId: "c" },
        {
          toolNames: new Map([["c", name]]),
          toolArguments: new Map([["c", '{"force":true,"force":false}']]),
        },
      );
    const capability = token("*");
    expect(verdict(policy, facts("pay"), { capability })).toBe(
      "condition a could not be evaluated",
    );
    expect(verdict(policy, facts("look"), { capability })).toBe("allow");
  },
);

const SCOPED = `ag_ui:
  allow_display_without_capability: true
  capability_scopes:
    - { scope_id: "ui:submit:*", allow_event_types: [form_action] }
    - { scope_id: "ui:submit:modal", allow_targets: [{ component_type: modal }] }
    - { scope_id: "ui:*:modal:pay", allow_targets: [{ component_type: modal, component_id: pay }] }
    - { scope_id: "ui:mutate:*", allow_event_types: ["custom:wipe"] }
`;

test.each([
  ["form_action submit form:a", ["ui:submit:form"], "capability with scope ui:submit:* required"],
  ["form_action submit form:a", ["ui:submit:*"], "allow"],
  ["form_action submit modal:a", ["ui:submit:*"], "capability with scope ui:submit:modal required"],
  ["form_action submit modal:a", ["ui:submit:*", "ui:submit:modal"], "allow"],
  [
    "form_action submit modal:pay",
    ["ui:submit:*", "ui:submit:modal"],
    "capability with scope ui:*:modal:pay required",
  ],
  ["form_action submit modal:pay", ["ui:submit:*", "ui:submit:modal", "ui:*:modal:pay"], "allow"],
  ["custom:wipe mutate", ["*"], "capability with scope ui:mutate:* required"],
  ["custom:other mutate", ["*"], "allow"],
])("every entry that covers %s must be met by %j: %s", (event, scopes, expected) => {
  expect(verdict(policyOf(SCOPED), event, { capability: token(...scopes) })).toBe(expected);
});

test("an exact scope is asked for even where the class is open", () => {
  const policy = policyOf(
    `${OPEN}  capability_scopes: [{ scope_id: "ui:display:sidebar", allow_targets: [{ component_type: sidebar }] }]\n`,
  );
  expect(verdict(policy, TEXT)).toBe("allow");
  expect(verdict(policy, "text_stream display sidebar")).toBe(
    "capability with scope ui:display:sidebar required",
  );
});

test("a block of components without lists lets no target through", () => {
  const policy = policyOf(`${OPEN}ag_ui_components: {}\n`);
  expect(verdict(policy, TEXT)).toBe("unknown component type");
  expect(verdict(policy, "lifecycle display")).toBe("allow");
});

test("inbound with default allow leaves unlisted classes to ag_ui", () => {
  const policy = policyOf(
    `${OPEN}ag_ui_inbound: { default: allow, allow_classifications: [mutate] }\n`,
  );
  const ask = (event: string) => verdict(policy, eventOf(event, "inbound"));
  expect(ask("state_update mutate")).toBe("allow");
  expect(ask(TEXT)).toBe("allow");
  expect(ask("form_action submit modal")).toBe("capability required for Submit events");
  const closed = policyOf("ag_ui_inbound: { default: allow }\n");
  expect(verdict(closed, eventOf(TEXT, "inbound"))).toBe("no capability token provided");
});

test("without an inbound block ag_ui holds for what the browser sends", () => {
  const policy = policyOf(OPEN);
  expect(verdict(policy, eventOf(TEXT, "inbound"))).toBe("allow");
  expect(verdict(policy, eventOf("form_action submit modal", "inbound"))).toBe(
    "capability required for Submit events",
  );
});

test("inbound with default block refuses even classes that are open outwards", () => {
  const policy = policyOf(`${OPEN}ag_ui_inbound: { default: block, allow_classifications: [] }\n`);
  expect(verdict(policy, TEXT)).toBe("allow");
  expect(verdict(policy, eventOf(TEXT, "inbound"))).toBe("capability required for Display events");
});

test.each(["telepathy", "toString", "", undefined])(
  "a class called %j is denied, whatever is open",
  (name) => {
    const policy = policyOf(
      "ag_ui: { allow_display_without_capability: true, restricted_classifications: [] }\n",
    );
    const event = { ...eventOf(TEXT), classification: name } as never;
    expect(verdict(policy, event)).toBe("the policy could not be evaluated");
    expect(verdict(policy, event, { capability: token("*") })).toBe(
      "the policy could not be evaluated",
    );
  },
);

test("what a holder took away of an exact scope is gone, also where the class is open", () => {
  const policy = policyOf(
    `${OPEN}  capability_scopes: [{ scope_id: "ui:display:sidebar", allow_targets: [{ component_type: sidebar }] }]\n`,
  );
  const capability = {
    ...token("ui:display:sidebar"),
    authorize: (_event: unknown, aspect: { target?: { component_id?: string } }) =>
      aspect.target?.component_id === "a" ? undefined : "not this one",
  };
  expect(verdict(policy, "text_stream display sidebar:a", { capability })).toBe("allow");
  expect(verdict(policy, "text_stream display sidebar:b", { capability })).toBe("not this one");
  expect(verdict(policy, TEXT, { capability })).toBe("allow");
});

test("a rule that throws leaves no enforced rule behind it unasked", () => {
  const broken = {
    ...token("*"),
    authorize: (): string => {
      throw new Error("bug");
    },
  };
  const rules =
    "ag_ui_conditions: { mode: enforce, rules: [{ id: never, when: 'true', reason: no }] }\n";
  const observed = policyOf(`mode: observe\n${OPEN}${rules}`);
  const event = "form_action submit modal:x";
  expect(verdict(observed, event, { capability: token("*") })).toBe("no");
  expect(verdict(observed, event, { capability: broken })).toBe("no");
  const enforced = policyOf(
    "mode: observe\nag_ui: { mode: enforce, allow_display_without_capability: true }\n",
  );
  expect(verdict(enforced, event, { capability: broken })).toBe(
    "the policy could not be evaluated",
  );
});

test("a raised claim needs the scope of what the event really does as well", () => {
  const policy = policyOf(OPEN);
  const event = "navigation submit modal:x";
  const refused = "capability scope does not authorize this AG-UI event";
  const ask = (...scopes: string[]) => verdict(policy, event, { capability: token(...scopes) });
  expect(ask("ui:submit:modal")).toBe(refused);
  expect(ask("ui:navigate:modal")).toBe(refused);
  expect(ask("ui:submit:modal", "ui:navigate:modal")).toBe("allow");
});

test("a raised claim does not slip past the rules for the class it really has", () => {
  const policy = policyOf(
    "ag_ui: { allow_display_without_capability: true, restricted_classifications: [submit] }\nag_ui_conditions: { rules: [{ id: a, match: { classification: alert }, when: 'true', reason: quiet }] }\n",
  );
  expect(verdict(policy, "notification alert toast")).toBe("quiet");
  expect(verdict(policy, "notification mutate toast")).toBe("quiet");
  expect(verdict(policy, "state_update mutate")).toBe("allow");
});

test("observing names every rule that would have blocked, each once, the first apart", () => {
  const policy = policyOf(`hushspec: "0.1.0"
mode: observe
rules:
  ag_ui: { transport: websocket }
  ag_ui_components: { allow_components: [chat-window] }
  ag_ui_conditions: { rules: [{ id: never, when: "true" }] }
`);
  const decision = policy.evaluate(factsOf("form_action submit modal:x"));
  expect(decision).toMatchObject({
    allow: true,
    observed: { rule: "ag_ui.transport" },
    further: ["ag_ui_components", "ag_ui.capability", "ag_ui_conditions.never"],
  });
  const one = policyOf('hushspec: "0.1.0"\nmode: observe\nrules:\n  ag_ui: {}\n');
  expect(one.evaluate(factsOf("form_action submit modal:x"))).not.toHaveProperty("further");
});
