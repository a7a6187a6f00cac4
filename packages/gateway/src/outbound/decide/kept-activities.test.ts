import type { JsonValue } from "@countersign/core";
import type { RunAgentInput } from "@countersign/wire";
import { reduceEvents } from "@countersign/wire/reduce";
import { sseFrame } from "@countersign/testkit";
import * as fc from "fast-check";
import { afterEach, expect, test } from "vitest";
import { runClient } from "../../testing/client.js";
import { idsOf, inRun } from "../../testing/events.js";
import { startFixture } from "../../testing/fixture.js";
import type { Fixture } from "../../testing/fixture.js";
import { createInProcess, frames } from "../../testing/in-process.js";

/** Cards may be shown and changed, nothing may be destroyed; lists pass. */
const CARDS = `hushspec: "0.1.0"
rules:
  ag_ui:
    allow_display_without_capability: true
    max_events_per_second: 1000000
    restricted_classifications: [destroy]
  ag_ui_inbound: { default: allow }
  ag_ui_content: { links: block, read: [text, activities] }
  ag_ui_classify:
    activities:
      - { match: card-ok, classification: display }
`;

const activity = (id: string, activityType: string, content: JsonValue = {}) => ({
  type: "ACTIVITY_SNAPSHOT",
  messageId: id,
  activityType,
  content,
});
const ids = fc.constantFrom("a1", "a2", "m1");
const proto = JSON.parse('{"__proto__":{"x":1}}') as JsonValue;
const listed = fc.oneof(
  fc.record({
    id: ids,
    role: fc.constantFrom("assistant", "user", "system", "reasoning"),
    content: fc.constantFrom("hi", "[x](javascript:alert(1))"),
    subagentRunId: fc.constantFrom(undefined, "nobody"),
  }),
  fc.record({ id: ids, role: fc.constant("tool"), toolCallId: ids, content: fc.constant("x") }),
  fc.record({
    id: ids,
    role: fc.constant("activity"),
    activityType: fc.constantFrom("card-warning", "card-ok", "other"),
    content: fc.constantFrom<JsonValue>({}, { text: "[x](javascript:alert(1))" }, proto),
    subagentRunId: fc.constantFrom(undefined, "nobody"),
  }),
);
const declared = fc.constantFrom<JsonValue | undefined>(
  undefined,
  null,
  [],
  ["card-warning"],
  ["card-ok"],
);
const lists = fc.record({ messages: fc.array(listed, { maxLength: 4 }), declared });
const streamed = fc.constantFrom(
  activity("a1", "card-warning", { text: "[x](javascript:alert(1))" }),
  activity("a1", "card-ok"),
  activity("a1", "other"),
  { type: "ACTIVITY_DELTA", messageId: "a1", activityType: "card-ok", patch: [] },
);

const listOf = ({ messages, declared: types }: { messages: object[]; declared?: unknown }) => ({
  type: "MESSAGES_SNAPSHOT",
  messages: messages.map((message) =>
    Object.fromEntries(Object.entries(message).filter(([, value]) => value !== undefined)),
  ),
  ...(types === undefined
    ? {}
    : { metadata: { "@ag-ui/client": { authoritativeActivityTypes: types } } }),
});

test("a list removes no activity that may not be destroyed, in any form of the list", async () => {
  const gateway = createInProcess(CARDS);
  let delivered = 0;
  let runs = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(streamed, { maxLength: 1 }), lists, async (before, list) => {
      const shown = [activity("a1", "card-warning"), activity("a2", "card-ok")];
      // A withheld unit stays withheld on its thread.
      const own = { threadId: `t${(runs += 1)}`, runId: "r" };
      const input = { ...own, messages: [], state: {}, tools: [], context: [] };
      const events = inRun(own, [...shown, ...before, listOf(list)]);
      const seen = await gateway.run(input as unknown as RunAgentInput, frames(events));
      const { messages } = reduceEvents(seen.delivered);
      const kept = messages.find(({ id }) => id === "a1");
      expect(kept).toMatchObject({ role: "activity", activityType: "card-warning" });
      if (seen.delivered.some(({ type }) => type === "MESSAGES_SNAPSHOT")) delivered++;
    }),
    { numRuns: 300 },
  );
  await gateway.close();
  expect(delivered).toBeGreaterThan(20);
}, 60_000);

let fixture: Fixture | undefined;
afterEach(async () => fixture?.stop());

test.each([
  ["a list", listOf({ messages: [], declared: null })],
  ["another activity", activity("a1", "card-ok")],
  ["a patch", { type: "ACTIVITY_DELTA", messageId: "a1", activityType: "card-ok", patch: [] }],
])("%s does not take away an activity of an earlier run", async (_form, event) => {
  let script: object[] = [activity("a1", "card-warning")];
  fixture = await startFixture(
    (request) => ({ pieces: inRun(idsOf(request.body), script).map(sseFrame) }),
    { policy: CARDS },
  );
  const url = `${fixture.url}/agents/support`;
  await runClient(url);
  script = [activity("a1", "card-warning", { again: 1 })];
  expect((await runClient(url)).types).toContain("ACTIVITY_SNAPSHOT");
  script = [event];
  expect((await runClient(url)).types).not.toContain((event as { type: string }).type);
});
