import { expect, test } from "vitest";
import { createInProcess, frames } from "../../testing/in-process.js";
import { button, CATALOGUE, clickPolicy, drawing, shows } from "../../testing/surface-thread.js";

const IDS = { threadId: "t", runId: "r" };
const INPUT = { ...IDS, messages: [{ id: "u", role: "user" as const, content: "Hi." }] };

/** The agent itself, and two subagents of it. */
const SENDERS = ["", "one", "two"];
const by = (sender: string, event: object): object =>
  sender === "" ? event : { ...event, subagentRunId: sender };

const CARD = drawing("card", button("go", "continue"));
const MORE = {
  version: "v0.9",
  updateDataModel: { surfaceId: "card", path: "/", value: { a: 1 } },
};
const patch = (value: object, activityType = "a2ui-surface"): object => ({
  type: "ACTIVITY_DELTA",
  messageId: "a1",
  activityType,
  patch: [{ op: "add", path: "/a2ui_operations/-", value }],
});
const result = (operations: readonly object[]): object => ({
  type: "TOOL_CALL_RESULT",
  messageId: "of c1",
  toolCallId: "c1",
  content: JSON.stringify({ a2ui_operations: operations }),
});
const renderCall = (sender: string): object[] =>
  [
    { type: "TOOL_CALL_START", toolCallId: "c1", toolCallName: "render_a2ui" },
    {
      type: "TOOL_CALL_ARGS",
      toolCallId: "c1",
      delta: JSON.stringify({
        surfaceId: "card",
        catalogId: CATALOGUE,
        components: (CARD[1] as { updateComponents: { components: object[] } }).updateComponents
          .components,
      }),
    },
    { type: "TOOL_CALL_END", toolCallId: "c1" },
  ].map((event) => by(sender, event));

const shown = (sender: string): object[] => [by(sender, shows(CARD))];

const END = [
  { type: "SUBAGENT_FINISHED", subagentRunId: "one" },
  { type: "SUBAGENT_FINISHED", subagentRunId: "two" },
  { type: "RUN_FINISHED", ...IDS },
];

/** A drawing, and an event that changes it. */
const WAYS: Record<string, [(sender: string) => object[], object]> = {
  "replaces the activity": [shown, shows([...CARD, MORE])],
  "patches the activity": [shown, patch(MORE)],
  "removes its button": [shown, shows(drawing("card"))],
  "makes it another activity": [
    shown,
    { type: "ACTIVITY_SNAPSHOT", messageId: "a1", activityType: "note", content: {} },
  ],
  "makes it another activity by a patch": [
    shown,
    { ...patch(MORE, "note"), patch: [{ op: "remove", path: "/a2ui_operations" }] },
  ],
  "updates the surface in a message of its own": [shown, shows([MORE], "a2")],
  "updates the surface by a result": [renderCall, result([MORE])],
};

test.each(Object.keys(WAYS))("a subagent that %s is blocked unless it drew it", async (name) => {
  const [draw, change] = WAYS[name] as (typeof WAYS)[string];
  for (const owner of SENDERS) {
    for (const sender of SENDERS) {
      const gateway = createInProcess(clickPolicy());
      const events = [
        { type: "RUN_STARTED", ...IDS },
        ...["one", "two"].map((subagentRunId) => ({
          type: "SUBAGENT_STARTED",
          subagentRunId,
          name: subagentRunId,
        })),
        ...draw(owner),
        by(sender, change),
        ...END,
      ];
      const { contexts, failures, delivered } = await gateway.run(INPUT, frames(events));
      await gateway.close();
      const rules = contexts.flatMap(({ decision }) =>
        decision?.allow === false ? [decision.rule] : [],
      );
      const isForeign = sender !== "" && sender !== owner;
      const isPatch = (change as { type: string }).type === "ACTIVITY_DELTA";
      const { length } = [...draw(owner), change];
      const count = delivered.filter(({ type }) => /^(?:ACTIVITY|TOOL)/u.test(type)).length;
      expect([owner, sender, count]).toEqual([owner, sender, isForeign ? length - 1 : length]);
      // The format ties a patch to the sender of its activity.
      expect(failures).toEqual(isForeign && isPatch ? ["AGENT_PROTOCOL_VIOLATION"] : []);
      const rule = isPatch ? "gateway/order" : "ag_ui_surfaces.undecided";
      expect(rules).toEqual(isForeign ? [rule] : []);
    }
  }
});

test("subagents can use one surface id, each in its own message", async () => {
  const gateway = createInProcess(clickPolicy());
  const events = [
    { type: "RUN_STARTED", ...IDS },
    { type: "SUBAGENT_STARTED", subagentRunId: "one", name: "one" },
    { type: "SUBAGENT_STARTED", subagentRunId: "two", name: "two" },
    by("one", shows(CARD, "a1")),
    by("two", shows(CARD, "a2")),
    by("one", shows([...CARD, MORE], "a1")),
    ...END,
  ];
  const { contexts } = await gateway.run(INPUT, frames(events));
  await gateway.close();
  expect(contexts.filter(({ decision }) => decision?.allow === false)).toEqual([]);
});
