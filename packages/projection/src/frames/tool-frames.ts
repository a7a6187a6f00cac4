import type { JsonObject } from "@countersign/core";
import type { AgUiEvent } from "@countersign/wire";
import type { Disclosed } from "../safe/disclosure.js";
import type { OpenRun, RunStream, FrameSource } from "./run-stream.js";
import { METADATA_KEY } from "./names.js";

/** Maximum number of calls remembered per run. */
const MAX_CALLS = 20_000;

/** The data needed to show a call. */
export type CallFacts = { toolCallId: string; toolName: string; arguments: Disclosed };

/**
 * Shows a call. A client keeps the argument text and sends it back as history, so redacted
 * arguments are marked: a reader of that history must not mistake a summary for the executed
 * arguments.
 */
export function emitCall(
  stream: RunStream,
  { run, runId }: OpenRun,
  place: FrameSource,
  call: CallFacts,
  parentMessageId?: string,
): boolean {
  const { toolCallId, toolName } = call;
  if (run.calls.has(toolCallId) || run.calls.size >= MAX_CALLS) return false;
  run.calls.set(toolCallId, { name: toolName, runId, isAnswered: false });
  stream.emit(place, {
    type: "TOOL_CALL_START",
    toolCallId,
    toolCallName: toolName,
    ...(parentMessageId !== undefined && { parentMessageId }),
    ...marked(call.arguments),
  });
  stream.emit(place, {
    type: "TOOL_CALL_ARGS",
    toolCallId,
    delta: JSON.stringify(call.arguments.value),
  });
  stream.emit(place, { type: "TOOL_CALL_END", toolCallId });
  return true;
}

/**
 * Shows the first result of a call; the runtime may record it twice, as an item and as an event.
 */
export function emitResult(
  stream: RunStream,
  { run }: OpenRun,
  place: FrameSource,
  toolCallId: string,
  result: Disclosed,
): void {
  const call = run.calls.get(toolCallId);
  if (call === undefined || call.isAnswered) return;
  call.isAnswered = true;
  const { value } = result;
  const frame: AgUiEvent = {
    type: "TOOL_CALL_RESULT",
    messageId: run.resultId(toolCallId),
    toolCallId,
    content: typeof value === "string" ? value : JSON.stringify(value),
    role: "tool",
    ...marked(result),
  };
  stream.emit(place, frame);
}

/**
 * The calls without a result when the run completes. The client executes calls of its own tools. An
 * unanswered call of the agent would look like one of these, so it is answered with its status.
 */
export function settleCalls(stream: RunStream, open: OpenRun, place: FrameSource): string[] {
  const pending: string[] = [];
  for (const [toolCallId, call] of open.run.calls) {
    if (call.isAnswered) continue;
    if (stream.options.clientTools.has(call.name)) {
      // The list covers its own run only; a call from before an interrupt belongs to that run's
      // list.
      if (call.runId === open.runId) pending.push(toolCallId);
    } else {
      const message = "the run completed without a recorded result of a call";
      stream.diagnose("ERR_PROJECTION_CALL_UNANSWERED", message, place);
      emitResult(stream, open, place, toolCallId, {
        value: { status: "unrecorded" },
        redacted: false,
      });
    }
  }
  return pending;
}

function marked(shown: Disclosed): { metadata?: JsonObject } {
  return shown.redacted ? { metadata: { [METADATA_KEY]: { redacted: true } } } : {};
}
