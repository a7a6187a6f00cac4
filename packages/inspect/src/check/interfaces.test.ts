import type { JsonObject, JsonValue } from "@countersign/core";
import { expect, test } from "vitest";
import { FINISH, RUN } from "../rules/examples.js";
import { createFindings, createStreamCheck } from "./index.js";

const CREATE = {
  version: "v0.9",
  createSurface: {
    surfaceId: "s1",
    catalogId: "https://a2ui.org/specification/v0_9/basic_catalog.json",
  },
};
const update = (...components: JsonObject[]): JsonObject => ({
  version: "v0.9",
  updateComponents: { surfaceId: "s1", components },
});
const COLUMN = { id: "root", component: "Column", children: ["t"] };
const TEXT = { id: "t", component: "Text", text: "Hi" };
const activity = (operations: JsonValue[], messageId = "a1"): JsonObject => ({
  type: "ACTIVITY_SNAPSHOT",
  messageId,
  activityType: "a2ui-surface",
  content: { a2ui_operations: operations },
});

function check(...events: JsonObject[]) {
  const findings = createFindings();
  const stream = createStreamCheck({ findings });
  for (const event of [RUN, ...events, FINISH]) stream.text(JSON.stringify(event));
  stream.end();
  const found = findings.list().map(({ rule, count }) => [rule, count] as const);
  return { found, features: stream.summary().features };
}

test("the report names each convention of an interface", () => {
  expect(check(activity([CREATE, update(COLUMN, TEXT)])).features).toContain("A2UI 0.9");
  const app = {
    type: "ACTIVITY_SNAPSHOT",
    messageId: "m",
    activityType: "mcp-apps",
    content: { result: { content: [] }, resourceUri: "ui://shop/view", serverId: "shop" },
  };
  expect(check(app).features).toContain("MCP Apps");
  const call = { toolCallId: "c1" };
  const html = check(
    { type: "TOOL_CALL_START", ...call, toolCallName: "generateSandboxedUi" },
    { type: "TOOL_CALL_ARGS", ...call, delta: '{"html":"<p>Hi</p>"}' },
    { type: "TOOL_CALL_END", ...call },
  );
  expect(html.features).toContain("HTML in a sandbox");
  expect(check().features.some((feature) => feature.startsWith("A2UI"))).toBe(false);
});

test.each([
  [
    "a message list",
    "A2UI 0.9",
    [
      {
        type: "MESSAGES_SNAPSHOT",
        messages: [
          {
            id: "a1",
            role: "activity",
            activityType: "a2ui-surface",
            content: { a2ui_operations: [CREATE, update(COLUMN)] },
          },
        ],
      },
    ],
  ],
  [
    "a tool result in a message list",
    "A2UI 0.9",
    [
      {
        type: "MESSAGES_SNAPSHOT",
        messages: [
          {
            id: "m1",
            role: "tool",
            toolCallId: "c1",
            content: JSON.stringify({ a2ui_operations: [CREATE, update(COLUMN)] }),
          },
        ],
      },
    ],
  ],
  [
    "a call in a message list",
    "A2UI 0.9",
    [
      {
        type: "MESSAGES_SNAPSHOT",
        messages: [
          {
            id: "m1",
            role: "assistant",
            toolCalls: [
              {
                id: "c1",
                type: "function",
                function: {
                  name: "render_a2ui",
                  arguments: JSON.stringify({ surfaceId: "s1", components: [COLUMN] }),
                },
              },
            ],
          },
        ],
      },
    ],
  ],
] satisfies [string, string, JsonObject[]][])(
  "an interface in %s is named and judged",
  (_, convention, events) => {
    const { found, features } = check(...events);
    expect(features).toContain(convention);
    expect(found).toContainEqual(["ui/incomplete", 1]);
  },
);

test("a surface without a root is named: no client draws it", () => {
  const lost = { id: "x", component: "Text", text: "Hi" };
  const findings = createFindings();
  const stream = createStreamCheck({ findings });
  for (const event of [RUN, activity([CREATE, update(lost)]), FINISH])
    stream.text(JSON.stringify(event));
  stream.end();
  expect(findings.list()).toMatchObject([
    {
      rule: "ui/incomplete",
      places: [{ detail: "s1: Nothing is drawn: no component is the root." }],
    },
  ]);
  const removed = { version: "v0.9", deleteSurface: { surfaceId: "s1" } };
  expect(check(activity([CREATE, update(lost), removed])).found).toEqual([]);
});

test("the page of an MCP App in the result of a run is named", () => {
  const findings = createFindings();
  const stream = createStreamCheck({ findings });
  const result = {
    contents: [{ uri: "ui://shop/view", mimeType: "text/html", text: "<p>Hi</p>" }],
  };
  const finish = { type: "RUN_FINISHED", threadId: "t", runId: "r", result };
  for (const event of [RUN, finish]) stream.text(JSON.stringify(event));
  stream.end();
  expect(stream.summary().features).toContain("MCP Apps");
});

test("an interface that grows in snapshots is judged when the run is over", () => {
  const growing = [
    activity([CREATE]),
    activity([CREATE, update(COLUMN)]),
    activity([CREATE, update(COLUMN), update(TEXT)]),
  ];
  expect(check(...growing).found).toEqual([]);
  expect(check(...growing.slice(0, 2)).found).toEqual([["ui/incomplete", 1]]);
});

test("each interface of a run is reported once for each rule", () => {
  const broken = [CREATE, { version: "v0.9", paint: {} }, { version: "v0.9", draw: {} }];
  const { found } = check(activity(broken), activity(broken, "a2"));
  expect(found).toContainEqual(["ui/unreadable", 2]);
});
