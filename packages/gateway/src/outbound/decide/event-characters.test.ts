import type { AgUiEvent, RunAgentInput } from "@countersign/wire";
import * as fc from "fast-check";
import { afterEach, expect, test } from "vitest";
import { inRun } from "../../testing/events.js";
import { createInProcess, frames } from "../../testing/in-process.js";
import type { InProcess } from "../../testing/in-process.js";

const MOST = 1000;
const RULE = "ag_ui_content.max_event_characters";
const POLICY = `hushspec: "0.1.0"
rules:
  ag_ui: { allow_display_without_capability: true, restricted_classifications: [submit] }
  ag_ui_inbound: { default: allow }
  ag_ui_messages: { lists: open }
  ag_ui_content: { max_event_characters: ${MOST}, read: [text, reasoning, metadata] }
`;
const IDS = { threadId: "t", runId: "r" };

let gateway: InProcess | undefined;
afterEach(async () => {
  await gateway?.close();
  gateway = undefined;
});

type Listed = { id: string; role: string; content: string; [member: string]: unknown };
const answer = (id: string, length: number): Listed => ({
  id,
  role: "assistant",
  content: id.slice(0, 1).repeat(length),
});
const list = (...messages: readonly Listed[]): object => ({ type: "MESSAGES_SNAPSHOT", messages });

async function run(
  events: readonly object[],
  sent: readonly Listed[] = [],
): Promise<{ lists: AgUiEvent[]; rules: (string | undefined)[] }> {
  gateway = createInProcess(POLICY);
  const input = { ...IDS, messages: sent, state: {}, tools: [], context: [] };
  const result = await gateway.run(input as unknown as RunAgentInput, frames(inRun(IDS, events)));
  return {
    lists: result.delivered.filter(({ type }) => type === "MESSAGES_SNAPSHOT"),
    rules: result.contexts.flatMap(({ decision }) =>
      decision?.allow === false ? [decision.rule] : [],
    ),
  };
}

test("a list whose new texts are too long together is blocked as one, under its own rule", async () => {
  const many = Array.from({ length: 40 }, (_, at) => answer(`m${at}`, 30));
  const { lists, rules } = await run([list(...many)]);
  expect(lists).toEqual([]);
  expect(rules).toEqual([RULE]);
});

test("a text that the client sent, or that the previous list had, does not count again", async () => {
  const sent = [answer("a", 900), answer("b", 900)];
  const grown = [...sent, answer("c", 900)];
  const { lists, rules } = await run(
    [list(...sent), list(...grown), list(...grown, answer("d", 900))],
    sent,
  );
  expect(rules).toEqual([]);
  expect(lists).toHaveLength(3);
});

test.each([
  ["another text", { ...answer("a", 900), content: "b".repeat(900) }],
  ["another role", { ...answer("a", 900), role: "reasoning" }],
  ["another id", answer("aa", 900)],
])("%s counts as new", async (_name, changed) => {
  const sent = [answer("a", 900)];
  const { rules } = await run([list(changed, answer("c", 200))], sent);
  expect(rules).toContain(RULE);
});

test("an image is found in a text that only resembles one the client has", async () => {
  const image = "![x](https://evil.example/?d=1)";
  const { rules } = await run([list({ ...answer("a", 5), content: image })], [answer("a", 5)]);
  expect(rules).toContain("ag_ui_content.images");
});

/** The fields of a listed message with text that is read, and those with text that is not. */
const READ: Record<string, (text: string) => Listed[]> = {
  content: (text) => [{ ...answer("m", 0), content: text }],
  reasoning: (text) => [{ id: "m", role: "reasoning", content: text }],
  metadata: (text) => [{ ...answer("m", 1), metadata: { note: text } }],
  "a name of a tool": (text) => [
    {
      ...answer("m", 1),
      toolCalls: [{ id: "c", type: "function", function: { name: text, arguments: "{}" } }],
    },
  ],
};
const UNREAD: Record<string, (text: string) => Listed[]> = {
  arguments: (text) => [
    {
      ...answer("m", 1),
      toolCalls: [
        { id: "c", type: "function", function: { name: "f", arguments: JSON.stringify(text) } },
      ],
    },
  ],
};

test("every text of a listed message that is read counts, and no other", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...Object.keys(READ)),
      fc.constantFrom(...Object.keys(UNREAD)),
      fc.integer({ min: 1, max: 900 }),
      async (read, unread, length) => {
        const texts = READ[read]?.("a".repeat(length)) ?? [];
        const rest = MOST - length;
        for (const [more, isTooLong] of [
          [rest - 10, false],
          [rest + 1, true],
        ] as const) {
          const { rules } = await run([list(...texts, answer("z", more))]);
          expect([read, rules.includes(RULE)]).toEqual([read, isTooLong]);
        }
        const other = UNREAD[unread]?.("a".repeat(2 * MOST)) ?? [];
        expect((await run([list(...other)])).rules).not.toContain(RULE);
      },
    ),
    { numRuns: 20 },
  );
});
