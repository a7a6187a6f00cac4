import { afterEach, expect, test } from "vitest";
import { beginThread, HISTORY, INTERRUPT } from "../testing/begun-thread.js";
import type { BegunThread } from "../testing/begun-thread.js";
import { call, idsOf, inRun, text } from "../testing/events.js";

let thread: BegunThread;
afterEach(() => thread.fixture.stop());

test("18: answers to interrupts are checked against the interrupts", async () => {
  thread = await beginThread("{}", [INTERRUPT, { id: "i2", reason: "input_required" }]);
  const ok = { interruptId: "i1", status: "resolved", payload: { ok: true } };
  const no = { interruptId: "i2", status: "cancelled" };
  const resume = (...entries: object[]) => thread.send({ messages: HISTORY, resume: entries });
  const incomplete = await resume(ok);
  expect(incomplete.code).toBe("ERR_RESUME_INCOMPLETE");
  expect(JSON.parse(incomplete.text)).toMatchObject({ interrupts: ["i2"] });
  expect((await resume({ ...ok, payload: { ok: "yes" } }, no)).code).toBe("ERR_RESUME_MISMATCH");
  expect((await resume({ ...ok, payload: undefined }, no)).code).toBe("ERR_RESUME_MISMATCH");
  expect((await resume(ok, no, no)).code).toBe("ERR_RESUME_ANSWERED");
  expect((await thread.send({ threadId: "o", resume: [ok, no] })).code).toBe("ERR_RESUME_UNKNOWN");
  expect(thread.fixture.agentRequests).toHaveLength(1);
  expect((await resume(ok, no)).status).toBe(200);
  expect((await thread.send({ runId: "r3", resume: [ok, no] })).code).toBe("ERR_RESUME_UNKNOWN");
});

test("18: an expired interrupt can only be cancelled", async () => {
  thread = await beginThread("{}", [{ ...INTERRUPT, expiresAt: "2020-01-01T00:00:00Z" }]);
  const entry = { interruptId: "i1", status: "resolved", payload: { ok: true } };
  expect((await thread.send({ messages: HISTORY, resume: [entry] })).code).toBe(
    "ERR_RESUME_EXPIRED",
  );
  const cancelled = await thread.send({
    messages: HISTORY,
    resume: [{ interruptId: "i1", status: "cancelled" }],
  });
  expect(cancelled.status).toBe(200);
});

test.each([
  ["the call that was shown passes", "resolved", '{ "amount": 5 }', true],
  ["a call with other arguments is blocked", "resolved", '{"amount":5000}', false],
  ["a declined call is blocked", "cancelled", '{"amount":5}', false],
])("19: %s", async (_, status, args, passes) => {
  thread = await beginThread("{}", [INTERRUPT]);
  thread.later = ({ body }) =>
    inRun(idsOf(body), [...call("c9", "pay", args), ...text("a9", "done")]);
  const payload = status === "resolved" ? { payload: { ok: true } } : {};
  const { text: stream } = await thread.send({
    messages: HISTORY,
    resume: [{ interruptId: "i1", status, ...payload }],
  });
  expect(stream.includes('"c9"')).toBe(passes);
  expect(stream).toContain("RUN_FINISHED");
  expect(thread.fixture.recorder.drafts.some(({ rule }) => rule === "gateway/approval")).toBe(
    !passes,
  );
});

test.each([
  ["false", false, false],
  ["a refusal in AG-UI's form", { approved: false, reason: "too much" }, false],
  ["a grant in AG-UI's form", { approved: true }, true],
  ["words", "go on", true],
])("19: a call answered with %s", async (_, payload, passes) => {
  thread = await beginThread("{}", [{ id: "i1", reason: "tool_call", toolCallId: "c2" }]);
  thread.later = ({ body }) => inRun(idsOf(body), call("c9", "pay", '{"amount":5}'));
  const { text: stream } = await thread.send({
    messages: HISTORY,
    resume: [{ interruptId: "i1", status: "resolved", payload }],
  });
  expect(stream.includes('"c9"')).toBe(passes);
  expect(thread.fixture.recorder.drafts.some(({ rule }) => rule === "gateway/approval")).toBe(
    !passes,
  );
});
