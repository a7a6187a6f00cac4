import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import type { AgUiEvent, EventType } from "@countersign/wire";
import { EVENT_TABLE } from "@countersign/wire";
import { compilePolicy } from "../compile/compile.js";
import { loadPolicy } from "../document/load.js";
import type { EventFacts } from "./facts.js";
import { ClientState } from "./client-state.js";
import { classifyEvent } from "./event.js";
import { compileRefinements } from "./refinement.js";
import type { ClassificationRow } from "./table.js";
import { CLASSIFICATION_TABLE, INPUT_TABLE } from "./table.js";

const refinements = (yaml: string) => compilePolicy(loadPolicy(yaml)).refinements;

const brief = ({ eventType, classification, target, customName }: EventFacts): string =>
  [
    eventType + (customName === undefined ? "" : `(${customName})`),
    classification,
    ...(target === undefined ? [] : [Object.values(target).join(":")]),
  ].join(" ");

test.each<[AgUiEvent, string]>([
  [
    { type: "TEXT_MESSAGE_CONTENT", messageId: "m", delta: "hi" },
    "text_stream display chat-window:main",
  ],
  [{ type: "TEXT_MESSAGE_START", messageId: "m" }, "text_stream display chat-window:main"],
  [
    { type: "TEXT_MESSAGE_START", messageId: "m", role: "system" },
    "text_stream mutate chat-window:main",
  ],
  [
    { type: "TEXT_MESSAGE_CHUNK", messageId: "m", role: "user" },
    "text_stream mutate chat-window:main",
  ],
  [{ type: "RUN_STARTED", threadId: "t", runId: "r" }, "lifecycle display"],
  [{ type: "RUN_FINISHED", threadId: "t", runId: "r" }, "lifecycle display"],
  [
    {
      type: "RUN_FINISHED",
      threadId: "t",
      runId: "r",
      outcome: { type: "interrupt", interrupts: [{ id: "i", reason: "confirmation" }] },
    },
    "form_action submit interrupt:confirmation",
  ],
  [{ type: "RUN_ERROR", message: "x" }, "error display"],
  [{ type: "STATE_SNAPSHOT", snapshot: {} }, "state_update mutate"],
  [{ type: "STATE_DELTA", delta: [{ op: "remove", path: "/a" }] }, "state_update mutate"],
  [{ type: "MESSAGES_SNAPSHOT", messages: [] }, "state_update mutate chat-window:main"],
  [
    { type: "ACTIVITY_SNAPSHOT", messageId: "m", activityType: "chart", content: {} },
    "lifecycle create chart",
  ],
  [
    { type: "ACTIVITY_DELTA", messageId: "m", activityType: "chart", patch: [] },
    "state_update mutate chart",
  ],
  [{ type: "CUSTOM", name: "acme.x", value: null }, "custom(acme.x) mutate"],
  [{ type: "RAW", event: {} }, "custom(raw) mutate"],
  [
    { type: "CUSTOM", name: "countersign.ui_render_hint", value: { component: "form" } },
    "lifecycle create form",
  ],
  [
    {
      type: "CUSTOM",
      name: "countersign.envelope",
      value: { event_type: "navigation", classification: "navigate", payload: {} },
    },
    "navigation navigate",
  ],
  [
    { type: "CUSTOM", name: "countersign.envelope", value: { event_type: 7 } },
    "custom(countersign.envelope) mutate",
  ],
])("%j does what the table says", (event, expected) => {
  expect(brief(classifyEvent(event))).toBe(expected);
});

const start: AgUiEvent = { type: "TOOL_CALL_START", toolCallId: "c", toolCallName: "open_page" };
const args: AgUiEvent = { type: "TOOL_CALL_ARGS", toolCallId: "c", delta: "{}" };

test("a call of the client's tool changes things, of the agent's own is shown, of an unknown one counts as the client's", () => {
  expect(brief(classifyEvent(start, { clientTools: new Set(["open_page"]) }))).toBe(
    "custom(open_page) mutate",
  );
  expect(brief(classifyEvent(start, { clientTools: new Set() }))).toBe(
    "lifecycle display chat-window:main",
  );
  expect(brief(classifyEvent(start))).toBe("custom(open_page) mutate");
  expect(brief(classifyEvent(args))).toBe("custom(unknown tool call) mutate");
});

test("every event of a call is classified as its start", () => {
  const context = {
    clientTools: new Set(["open_page"]),
    toolNames: new Map([["c", "open_page"]]),
    refinements: refinements(
      "ag_ui_classify:\n  tools:\n    - { match: open_*, event_type: navigation, classification: navigate }\n",
    ),
  };
  expect(brief(classifyEvent(start, context))).toBe("navigation navigate");
  expect(brief(classifyEvent(args, context))).toBe("navigation navigate");
});

test("arguments are parsed only when they are whole", () => {
  const context = (text?: string) => ({
    toolArguments: new Map(text === undefined ? [] : [["c", text]]),
  });
  expect(classifyEvent(start, context()).toolCalls).toMatchObject([{ state: "partial" }]);
  expect(classifyEvent(start, context('{"a":1}')).toolCalls).toMatchObject([
    { state: "whole", arguments: { a: 1 } },
  ]);
  expect(classifyEvent(start, context('{"a":1,"a":2}')).toolCalls).toMatchObject([
    { state: "unparsable" },
  ]);
});

test("tool calls inside a snapshot of messages are seen", () => {
  const facts = classifyEvent({
    type: "MESSAGES_SNAPSHOT",
    messages: [
      {
        id: "a",
        role: "assistant",
        toolCalls: [{ id: "c", type: "function", function: { name: "wipe", arguments: "{}" } }],
      },
    ],
  });
  expect(facts.toolCalls).toMatchObject([{ name: "wipe", state: "whole" }]);
});

test("a claim may raise the class, never lower it", () => {
  const event: AgUiEvent = { type: "STATE_DELTA", delta: [{ op: "remove", path: "/a" }] };
  const raised = classifyEvent(event, { claim: { classification: "submit" } });
  expect(raised).toMatchObject({ classification: "submit", derived: "mutate", claimed: "submit" });
  const lowered = classifyEvent(event, { claim: { classification: "display" } });
  expect(lowered.mismatch).toBe("event classification mismatch: supplied Display, derived Mutate");
  const moved = classifyEvent(
    { type: "TEXT_MESSAGE_END", messageId: "m" },
    { claim: { target: { component_type: "modal" } } },
  );
  expect(moved.mismatch).toContain("event target mismatch");
});

const STATE = `ag_ui_classify:
  state:
    - { match: "/ui/theme/**", classification: display }
    - { match: "/nav/**", event_type: navigation, classification: navigate }
    - { match: "/cart/*/price", classification: submit, target: { component_type: cart } }
`;

test.each<[AgUiEvent, string[]]>([
  [
    { type: "STATE_DELTA", delta: [{ op: "replace", path: "/ui/theme", value: "dark" }] },
    ["state_update display"],
  ],
  [
    {
      type: "STATE_DELTA",
      delta: [
        { op: "replace", path: "/ui/theme", value: "dark" },
        { op: "add", path: "/other", value: 1 },
      ],
    },
    ["state_update mutate", "state_update display"],
  ],
  [
    { type: "STATE_DELTA", delta: [{ op: "replace", path: "/nav", value: {} }] },
    ["navigation navigate"],
  ],
  [
    { type: "STATE_DELTA", delta: [{ op: "copy", from: "/cart/1/price", path: "/ui/theme" }] },
    ["state_update submit cart", "state_update display"],
  ],
  [
    { type: "STATE_DELTA", delta: [{ op: "replace", path: "", value: {} }] },
    [
      "state_update submit cart",
      "state_update mutate",
      "state_update display",
      "navigation navigate",
    ],
  ],
  [{ type: "STATE_SNAPSHOT", snapshot: { ui: { theme: "x" } } }, ["state_update display"]],
  [
    { type: "STATE_SNAPSHOT", snapshot: { ui: { theme: "x" }, cart: [{ price: 1 }] } },
    ["state_update submit cart", "state_update display"],
  ],
])("state is judged by every path it touches: %j", (event, expected) => {
  const client = new ClientState({});
  const facts = classifyEvent(event, { refinements: refinements(STATE), client });
  const aspects = [facts, ...(facts.also ?? [])].map((aspect) => brief(aspect as EventFacts));
  expect(aspects[0]).toBe(expected[0]);
  expect(aspects.toSorted()).toEqual(expected.toSorted());
});

test("text of one policy shares one facts object", () => {
  const event: AgUiEvent = { type: "TEXT_MESSAGE_CONTENT", messageId: "m", delta: "a" };
  expect(classifyEvent(event)).toBe(classifyEvent({ ...event, delta: "b" }));
});

const tableText = (rows: Readonly<Record<string, ClassificationRow>>): string =>
  Object.entries(rows)
    .map(
      ([name, row]) =>
        `| \`${name}\` | ${row.eventType} | ${row.classification} | ${row.target} | ${row.refinedBy} | ${row.reason} |`,
    )
    .join("\n");

test("docs/classification.md prints exactly this table", () => {
  const file = new URL("../../../../docs/classification.md", import.meta.url);
  const text = readFileSync(file, "utf8").replaceAll(/ +\| /g, " | ").replaceAll(/ +\|$/gm, " |");
  for (const rows of [CLASSIFICATION_TABLE, INPUT_TABLE]) {
    for (const line of tableText(rows).split("\n")) expect(text).toContain(line);
  }
});

test("the table has every event type of the wire, and no other", () => {
  const types = Object.keys(EVENT_TABLE) as EventType[];
  expect(Object.keys(CLASSIFICATION_TABLE).toSorted()).toEqual(types.toSorted());
});

test.each([
  ["/links/-", "add", "navigate"],
  ["/links/0", "add", "navigate"],
  ["/links/1", "add", "navigate"],
  ["/links/0", "remove", "navigate"],
  ["/links/1", "replace", "mutate"],
  ["/links/1/label", "replace", "mutate"],
  ["/other/-", "add", "mutate"],
  ["/links/00/url", "replace", "navigate"],
  ["/links/4294967296/url", "replace", "navigate"],
  ["/links/01/url", "replace", "mutate"],
])(
  "a rule for a place in a list holds for what moves into it: %s %s is %s",
  (path, op, expected) => {
    const refinements = compileRefinements({
      state: [{ match: "/links/0/url", classification: "navigate" }],
    });
    const operation = op === "remove" ? { op, path } : { op, path, value: { url: "x" } };
    const facts = classifyEvent({ type: "STATE_DELTA", delta: [operation] } as AgUiEvent, {
      refinements,
    });
    expect(facts.classification).toBe(expected);
  },
);
