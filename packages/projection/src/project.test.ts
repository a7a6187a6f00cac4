import { reduceEvents } from "@countersign/wire/reduce";
import { expect, test } from "vitest";
import { RUNTIME_CUSTOM_NAMES } from "./frames/names.js";
import { verifyAgUiFrameSafety } from "./safety/index.js";
import { outline, projectAll } from "./testing/drive.js";
import { brokenRules } from "./testing/official-client.js";
import { everyKind, row, transcript } from "./testing/sample-ledger.js";

const SECRETS = ["provider.example", "provider-secret", "/etc/passwd", "root:x", "private"];

test("B1: every run states its protocol version", () => {
  const started = projectAll(transcript()).frames[0];
  expect(started).toMatchObject({ type: "RUN_STARTED", protocolVersion: "1.0" });
});

test("B3: the reference transcript becomes nineteen frames, without host, token, arguments or result", () => {
  const { frames, diagnostics } = projectAll(transcript());
  expect(diagnostics).toEqual([]);
  expect(outline(frames)).toEqual([
    "RUN_STARTED",
    "agent-os.chat.ingested",
    "TEXT_MESSAGE_START",
    "TEXT_MESSAGE_CONTENT",
    "TEXT_MESSAGE_END",
    "REASONING_START",
    "REASONING_MESSAGE_START",
    "REASONING_MESSAGE_CONTENT",
    "REASONING_MESSAGE_END",
    "REASONING_END",
    "agent-os.tool.started",
    "TOOL_CALL_START",
    "TOOL_CALL_ARGS",
    "TOOL_CALL_END",
    "agent-os.llm.completed",
    "agent-os.llm.usage",
    "TOOL_CALL_RESULT",
    "agent-os.tool.completed",
    "RUN_FINISHED",
  ]);
  expect(frames[3]).toMatchObject({
    messageId: "agent-os:run:1:turn:0:message:0",
    delta: "I will read it.",
    timestamp: 1_763_200_000_003,
  });
  expect(frames[12]).toMatchObject({
    toolCallId: "call-1",
    delta: '{"redacted":true,"reason":"tool_arguments","type":"string","bytesUpTo":64}',
  });
  expect(frames[16]).toMatchObject({
    messageId: "agent-os:run:1:tool-result:call-1",
    content: '{"redacted":true,"reason":"tool_result","type":"object"}',
  });
  expect(verifyAgUiFrameSafety(frames, { forbiddenLiterals: SECRETS })).toEqual([]);
});

test("B4: a model request and a completion after tools become CUSTOM without prompt or arguments", () => {
  const { frames } = projectAll(everyKind());
  const custom = frames.filter((frame) => frame.type === "CUSTOM");
  expect(custom.find(({ name }) => name === "agent-os.llm.requested")?.value).toEqual({
    runId: 1,
    turnIndex: 0,
    modelId: "model-x",
    toolNames: ["read_file"],
    toolChoice: "auto",
  });
  expect(
    custom.find(({ name }) => name === "agent-os.runtime.completed_after_tools")?.value,
  ).toEqual({ runId: 1, turnIndex: 0, toolNames: ["read_file"], tokensUsed: 3 });
});

test("B5: the start and the end of a tool become CUSTOM with only ids and name, no paths or bytes", () => {
  const custom = projectAll(transcript()).frames.filter((frame) => frame.type === "CUSTOM");
  const value = { runId: 1, toolCallId: "call-1", toolName: "read_file" };
  expect(custom.find(({ name }) => name === "agent-os.tool.started")?.value).toEqual({
    ...value,
    turnIndex: 0,
  });
  expect(custom.find(({ name }) => name === "agent-os.tool.completed")?.value).toEqual(value);
});

test("B8: reduced, the transcript is a message with its call, the call's result, and reasoning", () => {
  const view = reduceEvents(projectAll(transcript()).frames);
  expect(view.status).toBe("finished");
  expect(view.messages.map(({ role }) => role)).toEqual(["assistant", "tool", "reasoning"]);
  expect(view.messages[0]).toMatchObject({ toolCalls: [{ id: "call-1" }] });
  expect(view.messages[2]).toMatchObject({ content: "[redacted reasoning]" });
});

test("B9: a failure is RUN_ERROR with a fixed message and the run's usage, without ids", () => {
  const aborted = row(4, "agent.aborted.tool_error", {
    runId: 1,
    tokensUsed: 9,
    toolName: "read_file",
    cause: "connect https://user:password@provider.example failed",
  });
  const frame = projectAll([...transcript().slice(0, 3), aborted]).frames.at(-1);
  expect(frame).toEqual({
    type: "RUN_ERROR",
    message: "A tool failed and the run was stopped.",
    code: "agent.aborted.tool_error",
    usage: [{ inputTokens: 10, outputTokens: 5, totalTokens: 15 }],
    metadata: { "countersign.projection": { ledgerRunId: 1 } },
    timestamp: 1_763_200_000_004,
  });
});

test("B9: limits and cancellations are the outcome cancelled, without a result", () => {
  for (const kind of [
    "budget_tokens",
    "budget_time",
    "client_disconnect",
    "cancelled",
    "expired",
  ]) {
    const rows = [transcript()[0], row(2, `agent.aborted.${kind}`, { runId: 1, tokensUsed: 0 })];
    const frame = projectAll(rows).frames.at(-1);
    expect(frame).toMatchObject({
      type: "RUN_FINISHED",
      outcome: { type: "cancelled" },
      metadata: { "countersign.projection": { abortKind: kind } },
    });
    expect(frame).not.toHaveProperty("result");
  }
});

test("B10: a rejected call gets a result and a CUSTOM, and the run continues", () => {
  for (const [phase, name] of [
    ["policy", "agent-os.tool.policy_rejected"],
    ["execution", "agent-os.tool.rejected"],
  ]) {
    const rejected = row(4, "tool.rejected", {
      runId: 1,
      toolCallId: "call-1",
      name: "read_file",
      args: {},
      execution: {},
      claim: { rejectionKind: "denied", reason: "the key is hunter2" },
      diagnostics: { phase, reason: "hunter2", argumentSummary: "hunter2", schemaIssues: [] },
    });
    const { frames } = projectAll([...transcript().slice(0, 3), rejected, transcript()[4]]);
    expect(outline(frames).slice(-3)).toEqual(["TOOL_CALL_RESULT", name, "RUN_FINISHED"]);
    expect(JSON.stringify(frames)).not.toContain("hunter2");
    expect(brokenRules(frames)).toEqual([]);
  }
});

test("B11: a malformed runtime payload produces a coded diagnostic and no frame, and the stream continues", () => {
  const rows = transcript();
  rows[1] = row(2, "chat.ingested", { runId: "one", intent: 5 });
  const { frames, diagnostics } = projectAll(rows);
  expect(diagnostics).toEqual([
    {
      code: "ERR_PROJECTION_MALFORMED_PAYLOAD",
      message: "the payload does not match its kind at /runId",
      eventId: 2,
      kind: "chat.ingested",
      owner: "@agent-os/runtime",
      path: "/runId",
    },
  ]);
  expect(outline(frames)).not.toContain("agent-os.chat.ingested");
  expect(frames.at(-1)).toMatchObject({ type: "RUN_FINISHED", outcome: { type: "success" } });
});

test("B21: an interrupt closes the run with its outcome, the answer opens the next run", () => {
  const { frames } = projectAll(everyKind());
  const lifecycle = frames.filter(({ type }) => type.startsWith("RUN_"));
  expect(lifecycle).toMatchObject([
    { type: "RUN_STARTED", runId: "1" },
    {
      type: "RUN_FINISHED",
      runId: "1",
      outcome: {
        type: "interrupt",
        interrupts: [{ id: "interrupt-1", reason: "tool_call", toolCallId: "call-4" }],
      },
    },
    { type: "RUN_STARTED", runId: "1:resumed:16" },
    { type: "RUN_FINISHED", runId: "1:resumed:16", outcome: { type: "success" } },
  ]);
  const interrupted = frames.find(
    (frame) => frame.type === "CUSTOM" && frame.name === "agent-os.run.interrupted",
  );
  expect(interrupted).toMatchObject({ value: { hasResumeSchema: true } });
  expect(JSON.stringify(frames)).not.toContain("responseSchema");
  expect(JSON.stringify(frames)).not.toContain("typed by the person");
});

test("B22: an interrupt contains the reference for its answer", () => {
  const { frames } = projectAll(everyKind());
  const finished = frames.find(({ type }) => type === "RUN_FINISHED");
  expect(finished).toMatchObject({
    outcome: {
      interrupts: [
        {
          metadata: {
            "countersign.projection": {
              kind: "approval",
              subjectRef: "subject:1",
              ref: {
                kind: "agent.run.input_request",
                scopeKey: "conversation:demo",
                runId: 1,
                interruptId: "interrupt-1",
                interruptionEventId: 15,
                gateRef: "gate:1",
                requestKind: "approval",
              },
            },
          },
        },
      ],
    },
  });
});

test("the form of an interrupt is withheld, shown as structure, or shown in full, as the policy says", () => {
  const interrupt = (resumeSchema: "structure" | "full") => {
    const rows = [
      row(1, "agent.run.started", { intent: "" }),
      row(2, "agent.run.interrupted", {
        runId: 1,
        turn: { id: 1, index: 0 },
        interruptId: "i",
        reason: "user_input_required",
        tokensUsed: 0,
        resumeSchema: {
          type: "object",
          properties: { city: { type: "string", description: "private words" } },
        },
      }),
    ];
    const finished = projectAll(rows, { disclosure: { resumeSchema } }).frames.at(-1);
    return JSON.stringify(finished);
  };
  expect(interrupt("structure")).toContain('"properties":{"city":{"type":"string"}}');
  expect(interrupt("structure")).toContain('"reason":"input_required"');
  expect(interrupt("full")).toContain("private words");
});

test("B27: every run id in a CUSTOM of the runtime is a number, and the names are a closed list", () => {
  const names = new Set<string>(RUNTIME_CUSTOM_NAMES);
  for (const frame of projectAll(everyKind()).frames) {
    if (frame.type !== "CUSTOM" || frame.name.startsWith("agent-os.workspace_")) continue;
    expect(names).toContain(frame.name);
    const { runId } = frame.value as { runId?: unknown };
    expect(runId === undefined || typeof runId === "number").toBe(true);
  }
});

test("B30: compaction and rekeying show only references; a missing one is malformed", () => {
  const { frames, codes } = projectAll([
    row(1, "agent.run.started", { intent: "" }),
    row(2, "runtime.rekeyed", { fromKeyRef: "key:1", toKeyRef: "key:2", material: "bytes" }),
    row(3, "runtime.rekeyed", { fromKeyRef: "key:1", material: "bytes" }),
    row(4, "runtime.history_compacted", { sourceRef: "history:1", summaryText: "text" }),
  ]);
  expect(frames[1]).toMatchObject({
    name: "agent-os.runtime.rekeyed",
    value: { safePayload: { fromKeyRef: "key:1", toKeyRef: "key:2" } },
  });
  expect(codes).toEqual(["MALFORMED_PAYLOAD", "MALFORMED_PAYLOAD", "STREAM_ENDED"]);
});
