import type { JsonObject } from "@countersign/core";
import type { Interrupt } from "@countersign/wire";
import { ABORT_KINDS } from "../owners/runtime/project-runtime.js";
import type { AbortKind, RuntimeKind, RuntimePayloads } from "../owners/runtime/project-runtime.js";
import { emitMessage, emitReasoning } from "./message-frames.js";
import { inputRequest, interruptReason } from "./interrupts.js";
import { METADATA_KEY, RESERVED_PREFIX } from "./names.js";
import type { RuntimeCustomName } from "./names.js";
import type { FrameSource, OpenRun, RunStream } from "./run-stream.js";
import { emitCall, emitResult, settleCalls } from "./tool-frames.js";

/** The source of a safe runtime event. */
export type RuntimeSource = FrameSource & { readonly scopeKey: string };

type Maker<Kind extends RuntimeKind> = (
  stream: RunStream,
  place: RuntimeSource,
  payload: RuntimePayloads[Kind],
) => void;

/** Fixed messages: the cause of a failure may contain confidential data. */
const FAILURES: Record<string, string> = {
  tool_error: "A tool failed and the run was stopped.",
  upstream_failure: "The model provider failed and the run was stopped.",
  retries: "The run was stopped after too many attempts.",
};

/** The frames of each kind of runtime event. */
export const RUNTIME_FRAMES: { readonly [Kind in RuntimeKind]: Maker<Kind> } = {
  "agent.run.started": (stream, place, { runId }) => stream.start(place, runId, false),

  "agent.run.resumed": (stream, place, payload) => {
    stream.start(place, payload.runId, true);
    stream.custom(place, "agent-os.run.resumed", payload);
  },

  "chat.ingested": (stream, place, payload) => {
    if (stream.within(place, payload.runId)) {
      stream.custom(place, "agent-os.chat.ingested", payload);
    }
  },

  "llm.requested": (stream, place, payload) => {
    const open = stream.within(place, payload.runId);
    if (open === undefined) return;
    open.run.turn(payload.turnIndex).modelId = payload.modelId;
    stream.custom(place, "agent-os.llm.requested", payload as JsonObject);
  },

  "llm.response": (stream, place, payload) => {
    const open = stream.within(place, payload.runId);
    if (open !== undefined) emitResponse(stream, place, open, payload);
  },

  "tool.executed": (stream, place, payload) => {
    const open = stream.within(place, payload.runId);
    if (open === undefined) return;
    const { runId, toolCallId, toolName } = payload;
    emitCall(stream, open, place, payload);
    emitResult(stream, open, place, toolCallId, payload.result);
    stream.custom(place, "agent-os.tool.completed", { runId, toolCallId, toolName });
  },

  "tool.rejected": (stream, place, payload) => {
    const open = stream.within(place, payload.runId);
    if (open === undefined) return;
    const { arguments: _, ...facts } = payload;
    emitCall(stream, open, place, payload);
    const { phase, rejectionKind } = payload;
    const value = {
      status: "rejected",
      ...(phase && { phase }),
      ...(rejectionKind && { rejectionKind }),
    };
    emitResult(stream, open, place, payload.toolCallId, { value, redacted: true });
    const name = phase === "policy" ? "agent-os.tool.policy_rejected" : "agent-os.tool.rejected";
    stream.custom(place, name, facts as JsonObject);
  },

  "runtime.completed_after_tools": (stream, place, payload) => {
    if (stream.within(place, payload.runId)) {
      stream.custom(place, "agent-os.runtime.completed_after_tools", payload);
    }
  },

  "runtime.history_compacted": attachByKind,
  "runtime.rekeyed": attachByKind,

  "agent.run.interrupted": (stream, place, payload) => {
    const open = stream.within(place, payload.runId);
    if (open === undefined) return;
    const { responseSchema, ...facts } = payload;
    const request = inputRequest(place, payload);
    const value: JsonObject = {
      ...(facts as JsonObject),
      ...(request && { inputRequest: request }),
    };
    stream.closeLive(place);
    stream.custom(place, "agent-os.run.interrupted", value);
    const interrupt: Interrupt = {
      id: payload.interruptId,
      reason: interruptReason(payload.reason),
      ...(payload.decision && { toolCallId: payload.decision.toolCallId }),
      ...(responseSchema && { responseSchema }),
      ...(request && { metadata: { [METADATA_KEY]: request } }),
    };
    stream.finish(place, { type: "interrupt", interrupts: [interrupt] });
  },

  "agent.run.completed": (stream, place, payload) => {
    const open = stream.within(place, payload.runId);
    if (open === undefined) return;
    stream.closeLive(place);
    const pendingToolCallIds = settleCalls(stream, open, place);
    const { final, output, outputKind, tokensUsed } = payload;
    stream.finish(
      place,
      pendingToolCallIds.length === 0
        ? { type: "success" }
        : { type: "success", pendingToolCallIds },
      { result: { final, output, outputKind, tokensUsed } },
    );
  },

  "agent.aborted": (stream, place, payload) => {
    if (stream.within(place, payload.runId) === undefined) return;
    const { abortKind } = payload;
    if (ABORT_KINDS[abortKind as AbortKind] === "outcome") {
      stream.finish(place, { type: "cancelled" }, { facts: { abortKind } });
    } else {
      const message = payload.cause ?? FAILURES[abortKind] ?? "The run failed.";
      stream.fail(place, message, `agent.aborted.${abortKind}`);
    }
  },
};

function emitResponse(
  stream: RunStream,
  place: RuntimeSource,
  open: OpenRun,
  payload: RuntimePayloads["llm.response"],
): void {
  const { runId, turnIndex, usage } = payload;
  const turn = open.run.turn(turnIndex);
  for (const [index, item] of payload.items.entries()) {
    switch (item.type) {
      case "message":
        emitMessage(stream, open, place, turnIndex, item.text);
        break;
      case "reasoning":
        emitReasoning(stream, open, place, turnIndex, item.text);
        break;
      case "tool_call": {
        const { toolCallId, toolName } = item;
        if (open.run.calls.has(toolCallId)) skipped(stream, place, index);
        else {
          stream.custom(place, "agent-os.tool.started", { runId, turnIndex, toolCallId, toolName });
          emitCall(stream, open, place, item, turn.lastMessageId);
        }
        break;
      }
      case "tool_result":
        if (!open.run.calls.has(item.toolCallId)) skipped(stream, place, index);
        else emitResult(stream, open, place, item.toolCallId, item.result);
        break;
      case "refusal":
      case "error": {
        const value = { runId, turnIndex, summary: item.summary };
        stream.custom(place, `${RESERVED_PREFIX}llm.${item.type}`, value);
        break;
      }
      default:
        skipped(stream, place, index);
    }
  }
  stream.closeLive(place);
  open.usage.add(turn.modelId, usage);
  stream.custom(place, "agent-os.llm.completed", { runId, turnIndex, usage });
  stream.custom(place, "agent-os.llm.usage", { runId, turnIndex, usage });
}

function skipped(stream: RunStream, place: RuntimeSource, index: number): void {
  stream.report({
    code: "ERR_PROJECTION_UNKNOWN_ITEM",
    message: "an item of the response was skipped",
    eventId: place.id,
    kind: place.kind,
    owner: place.factOwnerRef,
    path: `/items/${index}`,
  });
}

function attachByKind(stream: RunStream, place: RuntimeSource, safePayload: JsonObject): void {
  const name = `${RESERVED_PREFIX}${place.kind}` as RuntimeCustomName;
  stream.attach(place, {
    type: "CUSTOM",
    name,
    value: { id: place.id, kind: place.kind, safePayload },
  });
}
