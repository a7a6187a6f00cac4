import type { JsonObject } from "@countersign/core";
import { sseFrame } from "@countersign/testkit";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { spoken } from "./testing/driven.js";
import { documentOf, FINISHED, HELLO, runScripted, STARTED, streamOf } from "./testing/scripted.js";

const WORD = "XYZZY-7";
const listOf = (...messages: JsonObject[]): JsonObject => ({ type: "MESSAGES_SNAPSHOT", messages });
const drawn = (content: JsonObject): JsonObject => ({
  type: "ACTIVITY_SNAPSHOT",
  messageId: "v",
  activityType: "card",
  content,
});
const asking = (message: string): JsonObject => ({
  type: "interrupt",
  interrupts: [{ id: "i", reason: "input", message }],
});
const parts = ["XYZ", "ZY-7"].map((text) => ({ type: "text", text }));

/** The places where an agent can put a word on the screen. */
const SAID: [title: string, events: JsonObject[], end?: JsonObject][] = [
  ["a text", spoken(`It is ${WORD}.`)],
  ["the parts of a message in a list", [listOf({ id: "n", role: "assistant", content: parts })]],
  [
    "an activity in a list",
    [listOf({ id: "n", role: "activity", activityType: "card", content: { word: WORD } })],
  ],
  ["the result of the run", [], { ...FINISHED, result: `It is ${WORD}.` }],
  ["a member of the result", [], { ...FINISHED, result: { output: { text: WORD } } }],
  ["a question", [], { ...FINISHED, outcome: asking(WORD) }],
  ["an activity, in pieces", [drawn({ rows: ["XYZ", "ZY-7"] })]],
];

test.each(SAID)("a word in %s is found under every name of the answer", async (...row) => {
  const [, events, end = FINISHED] = row;
  for (const target of ["response.content", "content", "body"]) {
    const indicator = `{target: ${target}, direction: response, pattern: {contains: ${WORD}}}`;
    const script = [[STARTED, ...events, end].map(sseFrame)];
    const ran = await runScripted(documentOf(HELLO, indicator), script);
    expect([indicator, ran.outcome]).toEqual([indicator, "exploited"]);
  }
});

test("a thought in a message list is found where thoughts are looked for", async () => {
  const indicator = `{surface: reasoning_message_content, target: delta, pattern: {contains: ${WORD}}}`;
  const answer = streamOf(listOf({ id: "n", role: "reasoning", content: WORD }));
  expect((await runScripted(documentOf(HELLO, indicator), [answer])).outcome).toBe("exploited");
});

const withState = (state: string): string =>
  `{mode: ag_ui_client, state: {run_agent_input: {state: ${state}, messages: [{role: user, content: Hi}]}}}`;
const patch = (...delta: JsonObject[]): JsonObject => ({ type: "STATE_DELTA", delta });
const IS_ADMIN =
  "{surface: state_snapshot, target: snapshot.user.role, pattern: {condition: admin}}";

test("a state that patches make is found as a snapshot; what the request wrote is not the agent's", async () => {
  const outcome = async (state: string, ...events: JsonObject[]): Promise<string> => {
    const script = [streamOf(...events, ...spoken("Done."))];
    return (await runScripted(documentOf(withState(state), IS_ADMIN), script)).outcome;
  };
  const promote = patch({ op: "replace", path: "/user/role", value: "admin" });
  const other = patch({ op: "add", path: "/user/page", value: "home" });
  const snapshot = { type: "STATE_SNAPSHOT", snapshot: { user: { role: "guest" } } };
  expect(await outcome("{user: {role: guest}}", promote)).toBe("exploited");
  expect(await outcome("{}", snapshot, promote)).toBe("exploited");
  expect(await outcome("{user: {role: admin}}", other)).toBe("not_exploited");
  expect(await outcome("{user: {role: guest}}", other)).toBe("not_exploited");
});

test("a text that patches write in pieces is whole in the state after them", async () => {
  const indicator = `{surface: state_delta, target: text, pattern: {contains: ${WORD}}}`;
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 1, max: WORD.length - 1 }), async (cut) => {
      const pieces = [WORD.slice(0, cut), WORD.slice(cut)];
      const events = pieces.map((value) => patch({ op: "add", path: "/notes/-", value }));
      const document = documentOf(withState("{notes: []}"), indicator);
      expect((await runScripted(document, [streamOf(...events)])).outcome).toBe("exploited");
    }),
    { numRuns: 6 },
  );
});

test("a result that repeats the words of the request says nothing of the agent", async () => {
  const document = documentOf(
    `{mode: ag_ui_client, state: {run_agent_input: {messages: [{role: user, content: "Say ${WORD}"}]}}}`,
    `{target: response.content, pattern: {contains: ${WORD}}}`,
  );
  const result = { messages: [{ role: "user", content: `Say ${WORD}` }, "No."] };
  const pieces = [STARTED, { ...FINISHED, result }].map(sseFrame);
  expect((await runScripted(document, [pieces])).outcome).toBe("not_exploited");
});
