import { isJsonObject, ownMember } from "@countersign/core";
import type { JsonObject } from "@countersign/core";
import type { AgUiEvent, EventOf } from "../../model/event.js";
import { flattenParts } from "../legacy/downgrade-content.js";
import { assertRoomForUnit } from "../limits.js";
import { UI_RENDER_HINT_NAME, VENDOR_KEY } from "../names.js";
import type { NoteSink } from "../note.js";
import { createCallBuffer, parseCarriedJson } from "./call-buffer.js";
import type { CallBufferLimits } from "./call-buffer.js";
import { downgradeUsage } from "./usage.js";

/** Codes of the errors that stand for an end which 0.1.0 cannot tell from success. */
const OUTCOME_CODES = { cancelled: "RUN_CANCELLED", interrupt: "RUN_INTERRUPTED" } as const;

/** Writes expanded 1.0 events as events of the 0.1.0 document. */
export function createSupersededDowngrader(
  limits: CallBufferLimits,
): (event: AgUiEvent, note: NoteSink) => JsonObject[] {
  const calls = createCallBuffer(limits);
  /** Messages whose text this dialect would show as the assistant's. */
  const foreign = new Set<string>();

  return (event, note) => {
    noteUniversalFields(event, note);
    switch (event.type) {
      case "RUN_STARTED":
        foreign.clear();
        return [runStarted(event, note)];
      case "TEXT_MESSAGE_START":
        if (event.role === undefined || event.role === "assistant") return [];
        assertRoomForUnit(foreign);
        foreign.add(event.messageId);
        note("role-dropped", "/role");
        return [];
      case "TEXT_MESSAGE_CONTENT":
        if (foreign.has(event.messageId)) return dropped(note);
        noteOwner(event, note);
        return [{ type: "TEXT_MESSAGE_CHUNK", delta: event.delta, messageId: event.messageId }];
      case "TEXT_MESSAGE_END":
        foreign.delete(event.messageId);
        return [];
      case "TOOL_CALL_START":
        if (event.parentMessageId !== undefined) note("field-dropped", "/parentMessageId");
        noteOwner(event, note);
        calls.open(event.toolCallId, event.toolCallName);
        return [];
      case "TOOL_CALL_ARGS":
        calls.append(event.toolCallId, event.delta);
        return [];
      case "TOOL_CALL_END":
        return calls.close(event.toolCallId, note);
      case "TOOL_CALL_RESULT":
        noteOwner(event, note);
        // A result may come before its call ends; it waits, so that the client learns of the call first.
        return calls.hold(event.toolCallId, toolCallResult(event, note));
      case "RUN_FINISHED":
        calls.drop(note);
        return [runFinished(event, note)];
      case "RUN_ERROR":
        calls.drop(note);
        return [failure(event.message, event.code)];
      case "CUSTOM":
        return renderHint(event, note);
      default:
        return dropped(note);
    }
  };
}

function dropped(note: NoteSink): JsonObject[] {
  note("event-dropped");
  return [];
}

/** Members of every 1.0 event that 0.1.0 has no place for; the vendor's own came from a translation. */
function noteUniversalFields(event: AgUiEvent, note: NoteSink): void {
  if (event.rawEvent !== undefined) note("field-dropped", "/rawEvent");
  if (event.timestamp !== undefined && event.type !== "RUN_STARTED") {
    note("field-dropped", "/timestamp");
  }
  if (
    event.metadata !== undefined &&
    Object.keys(event.metadata).some((key) => key !== VENDOR_KEY)
  ) {
    note("field-dropped", "/metadata");
  }
}

function noteOwner(event: { subagentRunId?: string }, note: NoteSink): void {
  if (event.subagentRunId !== undefined) note("field-dropped", "/subagentRunId");
}

function vendorMember(metadata: JsonObject | undefined, key: string): unknown {
  const vendor = metadata === undefined ? undefined : ownMember(metadata, VENDOR_KEY);
  return isJsonObject(vendor) ? ownMember(vendor, key) : undefined;
}

function runStarted(event: EventOf<"RUN_STARTED">, note: NoteSink): JsonObject {
  note("field-dropped", "/threadId");
  if (event.input !== undefined) note("field-dropped", "/input");
  if (event.parentRunId !== undefined) note("field-dropped", "/parentRunId");
  const agentId = vendorMember(event.metadata, "agentId");
  return {
    type: "RUN_STARTED",
    runId: event.runId,
    ...(typeof agentId === "string" ? { agentId } : {}),
    ...(event.timestamp === undefined ? {} : { timestamp: event.timestamp / 1000 }),
  };
}

function toolCallResult(event: EventOf<"TOOL_CALL_RESULT">, note: NoteSink): JsonObject {
  const text =
    typeof event.content === "string"
      ? event.content
      : flattenParts(event.content, "/content", note);
  const isError = vendorMember(event.metadata, "isError");
  const value = vendorMember(event.metadata, "json") === true ? parseCarriedJson(text) : undefined;
  return {
    type: "TOOL_CALL_RESULT",
    toolCallId: event.toolCallId,
    result: value === undefined ? text : value,
    ...(typeof isError === "boolean" ? { isError } : {}),
  };
}

function runFinished(event: EventOf<"RUN_FINISHED">, note: NoteSink): JsonObject {
  if (event.result !== undefined) note("field-dropped", "/result");
  const { outcome } = event;
  if (outcome?.type === "cancelled" || outcome?.type === "interrupt") {
    note("outcome-is-error", "/outcome");
    return failure(
      outcome.type === "cancelled" ? "The run was cancelled." : "The run waits for an answer.",
      OUTCOME_CODES[outcome.type],
    );
  }
  if (outcome?.pendingToolCallIds !== undefined) {
    note("field-dropped", "/outcome/pendingToolCallIds");
  }
  return {
    type: "RUN_FINISHED",
    runId: event.runId,
    status: "success",
    ...downgradeUsage(event.usage, note),
  };
}

function failure(message: string, code: string | undefined): JsonObject {
  return { type: "ERROR", ...(code === undefined ? {} : { code }), message };
}

function renderHint(event: EventOf<"CUSTOM">, note: NoteSink): JsonObject[] {
  const { name, value } = event;
  if (name !== UI_RENDER_HINT_NAME || !isJsonObject(value)) return dropped(note);
  const component = ownMember(value, "component");
  if (typeof component !== "string") return dropped(note);
  const props = ownMember(value, "props");
  return [{ type: "UI_RENDER_HINT", component, ...(props === undefined ? {} : { props }) }];
}
