import type { AgUiEvent } from "@countersign/wire";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import type { EventContext } from "../../event/event-context.js";
import { chunk, createInProcess, frames } from "../../testing/in-process.js";
import type { InProcess } from "../../testing/in-process.js";

const IDS = { threadId: "t", runId: "r" };

/** Blocks every event with the word `bad`. */
const POLICY = (onBlock: string, mode: string): string => `hushspec: "0.1.0"
on_block: ${onBlock}
mode: ${mode}
rules:
  ag_ui: { allow_display_without_capability: true, restricted_classifications: [], max_events_per_second: 1000000 }
  ag_ui_order: { on_error: allow, on_warning: allow }
  ag_ui_conditions:
    rules:
${["message", "result", "delta", "name", "stepName", "threadId"]
  .map(
    (key) =>
      `      - { id: c_${key}, effect: block, when: 'has(event.${key}) && event.${key} == "bad"' }`,
  )
  .join("\n")}
`;

const WORD = fc.constantFrom("bad", "good", "good");
const LISTED = fc.constantFrom("bad", "good");
const EVENT: fc.Arbitrary<object> = fc.oneof(
  fc.constantFrom("t", "bad").map((threadId) => ({ type: "RUN_STARTED", ...IDS, threadId })),
  WORD.map((result) => ({ type: "RUN_FINISHED", ...IDS, result })),
  WORD.map((message) => ({ type: "RUN_ERROR", message })),
  WORD.map((name) => ({ type: "CUSTOM", name, value: 1 })),
  WORD.map((stepName) => ({ type: "STEP_STARTED", stepName })),
  WORD.map((stepName) => ({ type: "STEP_FINISHED", stepName })),
  fc.constantFrom("a", "b").map((messageId) => ({ type: "TEXT_MESSAGE_START", messageId })),
  WORD.map((delta) => ({ type: "TEXT_MESSAGE_CONTENT", messageId: "a", delta })),
  fc.constantFrom("a", "b").map((messageId) => ({ type: "TEXT_MESSAGE_END", messageId })),
  LISTED.map((content) => ({
    type: "MESSAGES_SNAPSHOT",
    messages: [
      { id: "l1", role: "assistant", content },
      { id: "l2", role: "assistant", content: "good" },
    ],
  })),
  fc.constant({ type: "NOT_AN_EVENT" }),
  fc.constant({ type: "TEXT_MESSAGE_START" }),
);
/** Most streams have a run that begins and may end. */
const STREAM = fc
  .tuple(fc.boolean(), fc.array(EVENT, { maxLength: 10 }))
  .map(([isRun, events]) => (isRun ? [{ type: "RUN_STARTED", ...IDS }, ...events] : events));

test("an event with an allowed receipt is delivered, whatever is blocked before it and however the run ends", async () => {
  const gateways = new Map<string, InProcess>();
  let threads = 0;
  await fc
    .assert(
      fc.asyncProperty(
        STREAM,
        fc.constantFrom("drop", "notice", "end"),
        fc.constantFrom("enforce", "observe"),
        fc.boolean(),
        async (events, onBlock, mode, isOneRead) => {
          const policy = POLICY(onBlock, mode);
          const gateway = gateways.get(policy) ?? createInProcess(policy);
          gateways.set(policy, gateway);
          threads += 1;
          const shown = new Set<EventContext>();
          const { contexts } = await gateway.run(
            { ...IDS, threadId: `t${threads}`, messages: [] },
            isOneRead ? [chunk(events as AgUiEvent[])] : frames(events),
            { delivered: (_event, context) => void shown.add(context) },
          );
          const undelivered = contexts.filter(
            (context) =>
              context.decision?.allow === true && !context.isListedPart && !shown.has(context),
          );
          expect(undelivered.map(({ event }) => event)).toEqual([]);
        },
      ),
      {
        numRuns: 400,
        // A blocked error ends the run, also for what the agent sends in the same read.
        examples: [
          [
            [
              { type: "RUN_ERROR", message: "bad" },
              { type: "RUN_STARTED", ...IDS },
            ],
            "drop",
            "enforce",
            true,
          ],
        ],
      },
    )
    .finally(() => Promise.all([...gateways.values()].map((gateway) => gateway.close())));
});
