import { expect, test } from "vitest";
import { createLedgerProjection } from "../project.js";
import { outline, projectAll } from "../testing/drive.js";
import { brokenRules } from "../testing/official-client.js";
import { callItem, everyKind, row, transcript, usage } from "../testing/sample-ledger.js";

test("the requested run has the client's id, and the ledger's id is in the metadata", () => {
  const { frames } = projectAll(transcript(), {
    threadId: "thread-9",
    parentRunId: "parent",
    runIdFor: ({ ledgerRunId }) => (ledgerRunId === 1 ? "client-run" : undefined),
  });
  expect(frames[0]).toMatchObject({
    threadId: "thread-9",
    runId: "client-run",
    parentRunId: "parent",
    metadata: { "countersign.projection": { ledgerRunId: 1 } },
  });
  expect(frames.at(-1)).toMatchObject({ threadId: "thread-9", runId: "client-run" });
});

test("projecting twice gives the same frames", () => {
  expect(projectAll(everyKind()).frames).toEqual(projectAll(everyKind()).frames);
});

test("a repeated or late row produces nothing", () => {
  const rows = transcript();
  const { frames, codes } = projectAll([rows[0], rows[0], ...rows.slice(1), rows[2]]);
  expect(frames).toEqual(projectAll(rows).frames);
  expect(codes).toEqual(["DUPLICATE_EVENT", "DUPLICATE_EVENT"]);
});

test("an event of another conversation produces nothing", () => {
  const other = { ...row(2, "agent.run.started", {}), scopeRef: { kind: "session", scopeId: "x" } };
  const { frames, codes } = projectAll([transcript()[0], other, ...transcript().slice(2)]);
  expect(codes).toEqual(["OTHER_SCOPE"]);
  expect(frames.filter(({ type }) => type === "RUN_STARTED")).toHaveLength(1);
});

test("a row that is not a ledger event produces a diagnostic and no frame", () => {
  const broken = [null, 5, {}, { ...row(2, "x", {}), ts: Number.NaN }, { ...row(2, "", {}) }];
  const { frames, codes } = projectAll(broken);
  expect(frames).toEqual([]);
  expect(codes).toEqual(Array.from({ length: broken.length }, () => "MALFORMED_EVENT"));
});

test("a result recorded as an item and as an event is shown once", () => {
  const rows = transcript();
  const response = rows[2]?.payload as { items: object[] };
  response.items.push({ type: "tool_result", callId: "call-1", content: "first" });
  const results = projectAll(rows).frames.filter(({ type }) => type === "TOOL_CALL_RESULT");
  expect(results).toHaveLength(1);
});

test("usage is summed by model on the terminal event, and absent when there was none", () => {
  const response = (id: number, index: number) =>
    row(id, "llm.response", { turn: { id: 1, index }, items: [], usage });
  const request = (id: number, index: number, modelId: string) =>
    row(id, "llm.requested", { runId: 1, turn: { id: 1, index }, modelId, toolNames: [] });
  const completed = { runId: 1, final: true, output: "", outputKind: "text", tokensUsed: 45 };
  const { frames } = projectAll([
    row(1, "agent.run.started", { intent: "" }),
    request(2, 0, "small"),
    response(3, 0),
    request(4, 1, "small"),
    response(5, 1),
    request(6, 2, "large"),
    response(7, 2),
    row(8, "agent.run.completed", completed),
  ]);
  expect(frames.at(-1)).toMatchObject({
    usage: [
      { model: "small", inputTokens: 20, outputTokens: 10, totalTokens: 30 },
      { model: "large", inputTokens: 10, outputTokens: 5, totalTokens: 15 },
    ],
  });
  const none = projectAll([
    row(1, "agent.run.started", { intent: "" }),
    row(2, "agent.run.completed", completed),
  ]);
  expect(none.frames.at(-1)).not.toHaveProperty("usage");
});

test("an unanswered call of a client tool is pending; one of the agent's is answered as unrecorded", () => {
  const rows = [
    row(1, "agent.run.started", { intent: "" }),
    row(2, "llm.response", {
      turn: { id: 1, index: 0 },
      items: [callItem("c1", "pick_colour", {}), callItem("c2", "lookup", {})],
      usage,
    }),
    row(3, "agent.run.completed", {
      runId: 1,
      final: true,
      output: "",
      outputKind: "text",
      tokensUsed: 1,
    }),
  ];
  const { frames, codes } = projectAll(rows, { clientTools: ["pick_colour"] });
  expect(codes).toEqual(["CALL_UNANSWERED"]);
  expect(frames.at(-2)).toMatchObject({ toolCallId: "c2", content: '{"status":"unrecorded"}' });
  expect(frames.at(-1)).toMatchObject({
    outcome: { type: "success", pendingToolCallIds: ["c1"] },
  });
  expect(brokenRules(frames)).toEqual([]);
});

test("frames of product and workspace events wait for a run; without one they are reported", () => {
  const rekeyed = { fromKeyRef: "key:1", toKeyRef: "key:2" };
  const { frames, codes } = projectAll([
    row(1, "runtime.rekeyed", rekeyed),
    row(2, "agent.run.started", { intent: "" }),
    row(3, "agent.run.completed", {
      runId: 2,
      final: true,
      output: "",
      outputKind: "text",
      tokensUsed: 0,
    }),
    row(4, "runtime.rekeyed", rekeyed),
  ]);
  expect(outline(frames)).toEqual(["RUN_STARTED", "agent-os.runtime.rekeyed", "RUN_FINISHED"]);
  expect(codes).toEqual(["OUTSIDE_RUN"]);
});

test("at most 256 frames wait for a run; the oldest is discarded", () => {
  const rekeyed = (id: number) => row(id, "runtime.rekeyed", { fromKeyRef: "a", toKeyRef: "b" });
  const rows = (count: number) => [
    ...Array.from({ length: count }, (_, index) => rekeyed(index + 1)),
    row(count + 1, "agent.run.started", { intent: "" }),
  ];
  expect(projectAll(rows(256)).codes).toEqual(["STREAM_ENDED"]);
  expect(projectAll(rows(257)).codes).toEqual(["OUTSIDE_RUN", "STREAM_ENDED"]);
});

test("a run that starts while another is open ends that one in RUN_ERROR, never as finished", () => {
  const { frames, codes } = projectAll([
    row(1, "agent.run.started", { intent: "" }),
    row(2, "agent.run.started", { intent: "" }),
    row(3, "agent.run.completed", {
      runId: 1,
      final: true,
      output: "",
      outputKind: "text",
      tokensUsed: 0,
    }),
  ]);
  expect(outline(frames)).toEqual(["RUN_STARTED", "RUN_ERROR", "RUN_STARTED", "RUN_ERROR"]);
  expect(codes).toEqual(["RUN_SUPERSEDED", "OTHER_RUN", "STREAM_ENDED"]);
});

test("a stream for one run shows nothing of another", () => {
  const rows = [
    row(1, "agent.run.started", { intent: "" }),
    row(2, "agent.run.started", { intent: "" }),
    row(3, "chat.ingested", { runId: 1, intent: "" }),
    row(4, "chat.ingested", { runId: 2, intent: "" }),
  ];
  const { frames, codes } = projectAll(rows, { ledgerRunId: 2 });
  expect(outline(frames)).toEqual(["RUN_STARTED", "agent-os.chat.ingested", "RUN_ERROR"]);
  expect(codes).toEqual(["OTHER_RUN", "OTHER_RUN", "STREAM_ENDED"]);
});

test("a stream that ends inside a run ends with RUN_ERROR", () => {
  const { frames, codes } = projectAll(transcript().slice(0, 2));
  expect(frames.at(-1)).toMatchObject({ type: "RUN_ERROR", code: "agent-os.stream.ended" });
  expect(codes).toEqual(["STREAM_ENDED"]);
});

test("nothing can be pushed after the end", () => {
  const projection = createLedgerProjection();
  projection.end();
  expect(() => projection.push(transcript()[0])).toThrow(TypeError);
});

test("long text is split into deltas, never inside a character", () => {
  const text = `a${"😀".repeat(50_000)}`;
  const items = [{ type: "message", text }];
  const { frames } = projectAll([
    row(1, "agent.run.started", { intent: "" }),
    row(2, "llm.response", { turn: { id: 1, index: 0 }, items, usage }),
  ]);
  const deltas = frames.flatMap((frame) =>
    frame.type === "TEXT_MESSAGE_CONTENT" ? [frame.delta] : [],
  );
  expect(deltas.length).toBeGreaterThan(1);
  expect(deltas.join("")).toBe(text);
  for (const delta of deltas) expect(delta).not.toMatch(/\p{Surrogate}/u);
});

test("a lone surrogate in a message becomes a replacement character: strict readers refuse lone surrogates", () => {
  const items = [{ type: "message", text: "a\uD83D" }];
  const { frames } = projectAll([
    row(1, "agent.run.started", { intent: "" }),
    row(2, "llm.response", { turn: { id: 1, index: 0 }, items, usage }),
  ]);
  expect(frames[2]).toMatchObject({ delta: "a\uFFFD" });
});

test("an item of an unknown type, or a call without id, is skipped and reported with its path; the rest is shown", () => {
  const items = [
    { type: "hologram" },
    { type: "tool_call", call: { function: { name: "x" } } },
    5,
    { type: "message", text: "hello" },
  ];
  const { frames, diagnostics } = projectAll([
    row(1, "agent.run.started", { intent: "" }),
    row(2, "llm.response", { turn: { id: 1, index: 0 }, items, usage }),
  ]);
  expect(diagnostics.slice(0, 3).map(({ code, path }) => `${code} ${path}`)).toEqual([
    "ERR_PROJECTION_UNKNOWN_ITEM /items/0",
    "ERR_PROJECTION_UNKNOWN_ITEM /items/1",
    "ERR_PROJECTION_UNKNOWN_ITEM /items/2",
  ]);
  expect(outline(frames).slice(1, 4)).toEqual([
    "TEXT_MESSAGE_START",
    "TEXT_MESSAGE_CONTENT",
    "TEXT_MESSAGE_END",
  ]);
});
