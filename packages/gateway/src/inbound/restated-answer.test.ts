import { afterEach, expect, test } from "vitest";
import { beginThread, HISTORY } from "../testing/begun-thread.js";
import type { BegunThread } from "../testing/begun-thread.js";
import { idsOf, inRun, text } from "../testing/events.js";

let thread: BegunThread;
afterEach(() => thread.fixture.stop());

const APPROVED = { approved: true, pendingExecution: true, message: "User approved this action" };
const DENIED = { approved: false, message: "User denied this action" };
const stated = (content: object, toolCallId = "c2"): object => ({
  id: `tool-${toolCallId}`,
  role: "tool",
  toolCallId,
  content: JSON.stringify(content),
});

/** Asks about the call `c2`, and answers in `resume` and in a result, as TanStack AI's client does. */
async function answerTwice(payload: unknown, result: object): Promise<string | undefined> {
  thread = await beginThread("{}", [{ id: "i1", reason: "tool_call", toolCallId: "c2" }]);
  const resume = [{ interruptId: "i1", status: "resolved", payload }];
  return (await thread.send({ messages: [...HISTORY, result], resume })).code;
}

test.each([
  ["an approval", APPROVED],
  ["a refusal", DENIED],
])("%s may be stated once more as the result of its call", async (_, said) => {
  expect(await answerTwice({ approved: said.approved }, stated(said))).toBe(undefined);
});

test.each([
  ["an approval of what was refused", { approved: false }, stated(APPROVED)],
  ["a refusal of what was approved", { approved: true }, stated(DENIED)],
  ["other words", { approved: true }, stated({ ...APPROVED, message: "paid" })],
  ["further words", { approved: true }, stated({ ...APPROVED, amount: 5000 })],
  ["an answer that approves nothing", { ok: true }, stated(APPROVED)],
  ["another call", { approved: true }, stated(APPROVED, "c3")],
  ["an error", { approved: true }, { ...stated(APPROVED), error: "failed" }],
])("nothing else is the result of an agent's call: %s", async (_, payload, result) => {
  expect(await answerTwice(payload, result)).toMatch(/^ERR_TOOL_RESULT_/u);
});

test("the agent's own result replaces the client's in the history, and no result replaces the agent's", async () => {
  thread = await beginThread("{}", [{ id: "i1", reason: "tool_call", toolCallId: "c2" }]);
  const result = { type: "TOOL_CALL_RESULT", messageId: "t2", toolCallId: "c2", content: "paid" };
  thread.later = ({ body }) => inRun(idsOf(body), [result, ...text("a9", "Done.")]);
  const resume = [{ interruptId: "i1", status: "resolved", payload: { approved: true } }];
  const sent = [...HISTORY, stated(APPROVED)];
  expect((await thread.send({ messages: sent, resume })).status).toBe(200);
  const paid = { id: "mine", role: "tool", toolCallId: "c2", content: "paid" };
  const ended = { id: "a9", role: "assistant", content: "Done." };
  const [asked, rest] = [HISTORY.slice(0, 4), HISTORY.slice(4)];
  const next = { id: "u9", role: "user", content: "thanks" };
  const ask = (...results: object[]) =>
    thread.send({ runId: "r9", messages: [...asked, ...results, ...rest, ended, next] });
  expect((await ask({ ...paid, content: "refunded" })).code).toMatch(/^ERR_/u);
  expect((await ask(stated(APPROVED))).code).toMatch(/^ERR_HISTORY_/u);
  expect((await ask()).code).toMatch(/^ERR_HISTORY_/u);
  expect((await ask(paid)).code).toBe(undefined);
});
