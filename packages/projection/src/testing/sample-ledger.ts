import type { LedgerEvent } from "../ledger/event.js";
import { RUNTIME_OWNER } from "../owners/runtime/project-runtime.js";
import { WORKSPACE_JOB_OWNER, WORKSPACE_OP_OWNER } from "../owners/workspace.js";

/** A time with a fraction, as ledgers record it. */
const MOMENT = 1_763_200_000_000.75;

/** One row of the conversation `demo`. */
export function row(
  id: number,
  kind: string,
  payload: unknown,
  factOwnerRef: string = RUNTIME_OWNER,
): LedgerEvent {
  return {
    id,
    ts: MOMENT + id,
    kind,
    scopeRef: { kind: "conversation", scopeId: "demo" },
    factOwnerRef,
    effectAuthorityRef: { authorityId: "runtime", authorityClass: "system" },
    payload,
  };
}

/** Usage of one response. */
export const usage = { promptTokens: 10, completionTokens: 5, totalTokens: 15 };

/** A call item as a model provider returns it. */
export function callItem(id: string, name: string, args: unknown): object {
  return {
    type: "tool_call",
    call: {
      id,
      type: "function",
      function: { name, arguments: JSON.stringify(args) },
      metadata: { providerUrl: "https://provider.example/v1" },
    },
  };
}

/** Started, ingested, one response, one execution, completed: run 1. */
export function transcript(): LedgerEvent[] {
  return [
    row(1, "agent.run.started", { intent: "read the file" }),
    row(2, "chat.ingested", { runId: 1, intent: "read the file", context: { private: "yes" } }),
    row(3, "llm.response", {
      turn: { id: 1, index: 0 },
      items: [
        { type: "message", text: "I will read it." },
        { type: "reasoning", metadata: { signature: "provider-secret" } },
        callItem("call-1", "read_file", { path: "/etc/passwd" }),
      ],
      usage: { ...usage, providerUrl: "https://provider.example/v1" },
    }),
    row(4, "tool.executed", {
      runId: 1,
      toolCallId: "call-1",
      name: "read_file",
      args: { path: "/etc/passwd" },
      execution: { domain: "host" },
      result: { bytes: "root:x:0:0" },
      claim: { kind: "settled" },
    }),
    row(5, "agent.run.completed", {
      runId: 1,
      final: true,
      output: "done with root:x",
      outputKind: "text",
      tokensUsed: 15,
    }),
  ];
}

const turn = { id: 1, index: 0 };
const trace = { traceContext: { traceparent: "00-trace-span-01" } };

/**
 * At least one event of each built-in kind, inside run 1, with every field the runtime may write.
 */
export function everyKind(): LedgerEvent[] {
  const events: [string, object, string?][] = [
    ["agent.run.started", { intent: "intent text", ...trace }],
    ["chat.ingested", { runId: 1, intent: "intent text", context: { system: "prompt" }, ...trace }],
    [
      "llm.requested",
      {
        runId: 1,
        turn,
        modelId: "model-x",
        toolNames: ["read_file"],
        toolChoice: "auto",
        ...trace,
      },
    ],
    [
      "llm.response",
      {
        turn,
        items: [
          { type: "message", text: "message text" },
          { type: "reasoning", summaryRef: "summary text", metadata: { raw: "thoughts" } },
          {
            type: "reasoning",
            redacted: true,
            summaryRef: "hidden",
            metadata: { raw: "thoughts" },
          },
          callItem("call-1", "read_file", { path: "/secret/path", note: "text" }),
          callItem("call-2", "write_file", { path: "/secret/path" }),
          callItem("call-3", "run_command", { command: "ls" }),
          callItem("call-4", "approve_me", { amount: 5 }),
          { type: "tool_result", callId: "call-1", name: "read_file", content: "file content" },
          { type: "refusal", reason: "refusal text" },
          { type: "error", message: "error text" },
          { type: "future", anything: "text" },
        ],
        usage: { ...usage, endpoint: "https://provider.example" },
        ...trace,
      },
    ],
    [
      "tool.executed",
      {
        runId: 1,
        toolCallId: "call-2",
        name: "write_file",
        args: { path: "/secret/path" },
        execution: { domain: "host", token: "text" },
        result: { content: "text", nested: { more: ["text"] } },
        claim: { kind: "settled", materialRef: "text" },
        ...trace,
      },
    ],
    [
      "tool.rejected",
      {
        runId: 1,
        toolCallId: "call-3",
        name: "run_command",
        args: { command: "rm -rf /" },
        execution: { domain: "host" },
        claim: { rejectionKind: "policy_denied", reason: "reason text" },
        diagnostics: {
          phase: "policy",
          reason: "reason text",
          argumentSummary: "argument text",
          schemaIssues: [{ path: "/command", message: "text" }],
        },
        ...trace,
      },
    ],
    ["runtime.completed_after_tools", { runId: 1, turn, toolNames: ["read_file"], tokensUsed: 3 }],
    [
      "runtime.history_compacted",
      {
        sourceRef: "history:1",
        summaryRef: "history:2",
        target: "turns",
        strategy: "summary",
        sourceTokens: 100,
        summaryTokens: 10,
        summaryText: "text",
      },
    ],
    [
      "runtime.rekeyed",
      { fromKeyRef: "key:1", toKeyRef: "key:2", purpose: "rotation", material: "key bytes" },
    ],
    [
      "agent.material.resolved",
      { runId: 1, materialRef: "material:1", value: "resolved material" },
    ],
    [
      "workspace_op.requested",
      {
        toolName: "shell",
        toolCallId: "call-3",
        path: "/home/me/file",
        cwd: "/home/me",
        command: "curl -H token",
        envRefs: ["env:1"],
        materialRefs: ["material:1"],
        env: { TOKEN: "text" },
      },
      WORKSPACE_OP_OWNER,
    ],
    [
      "workspace_op.completed",
      {
        requestedEventId: 11,
        toolName: "shell",
        path: "/home/me/file",
        bytesWritten: 3,
        replacementCount: 1,
        exitCode: 0,
        durationMs: 7,
        stdout: "output text",
      },
      WORKSPACE_OP_OWNER,
    ],
    [
      "workspace_op.rejected",
      {
        requestedEventId: 11,
        toolName: "shell",
        reason: "reason text",
        claim: { rejectionKind: "policy_denied", reason: "reason text" },
      },
      WORKSPACE_OP_OWNER,
    ],
    [
      "workspace_job.verified",
      {
        runId: 1,
        idempotencyKey: "key-1",
        requestedBy: "person-1",
        terminalSchemaId: "schema-1",
        workspaceRef: "workspace:1",
        inputRef: "input:1",
        inputHash: "sha256:00",
        attempt: 1,
        artifact: { artifactRef: "a:1", path: "/out/a", schemaId: "s:1", sha256: "00", bytes: 3 },
        checks: {
          total: 1,
          passed: 1,
          failed: 0,
          checks: [
            {
              name: "check-1",
              status: "passed",
              message: "message text",
              proofRef: "proof:1",
              fingerprint: "f:1",
            },
          ],
        },
        phase: "verify",
        code: "ok",
        reason: "reason text",
        retryable: false,
        fileBytes: "file bytes",
      },
      WORKSPACE_JOB_OWNER,
    ],
    [
      "agent.run.interrupted",
      {
        runId: 1,
        turn,
        interruptId: "interrupt-1",
        reason: "approval_required",
        resumeSchema: { type: "object", properties: { approved: { type: "boolean" } } },
        tokensUsed: 15,
        decision: {
          gateRef: "gate:1",
          subjectRef: "subject:1",
          toolCallId: "call-4",
          toolName: "approve_me",
        },
        ...trace,
      },
    ],
    [
      "agent.run.resumed",
      {
        runId: 1,
        turn,
        interruptId: "interrupt-1",
        resume: { approved: true, secret: "typed by the person" },
        resumedAtEventId: 15,
        ...trace,
      },
    ],
    [
      "tool.executed",
      {
        runId: 1,
        toolCallId: "call-4",
        name: "approve_me",
        args: { amount: 5 },
        execution: {},
        result: "paid",
        claim: {},
      },
    ],
    [
      "agent.run.completed",
      {
        runId: 1,
        final: "final text",
        output: { answer: "output text" },
        outputKind: "json",
        tokensUsed: 30,
        turn,
        ...trace,
      },
    ],
  ];
  return events.map(([kind, payload, owner], index) => row(index + 1, kind, payload, owner));
}

/** Every reason to abort a run. */
export const ABORTS = [
  "budget_tokens",
  "budget_time",
  "tool_error",
  "upstream_failure",
  "retries",
  "client_disconnect",
  "rejected",
  "cancelled",
  "expired",
];
