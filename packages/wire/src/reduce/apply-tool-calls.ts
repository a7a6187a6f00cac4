import type { SmallMap } from "@countersign/core";
import type {
  ToolCallArgsEvent,
  ToolCallEndEvent,
  ToolCallResultEvent,
  ToolCallStartEvent,
} from "../model/event.js";
import type { Message, ToolCall, ToolMessage } from "../model/message.js";
import { requireWithin } from "./limits.js";
import type { MessageEntry } from "./message-entry.js";
import type { CallLocation } from "./message-store.js";
import type { RunModel } from "./run-model.js";

/** Attaches a call to its assistant message; a known call is renamed and keeps its arguments. */
export function applyToolCallStart(model: RunModel, event: ToolCallStartEvent): void {
  note(model, model.startedCalls, event.toolCallId);
  const known = model.store.findCall(event.toolCallId);
  if (known !== undefined) {
    reopen(model, event, known);
    return;
  }
  const call: ToolCall = {
    id: event.toolCallId,
    type: "function",
    function: { name: event.toolCallName, arguments: "" },
  };
  model.mergeMetadata(call, event.metadata);
  model.hold(event.toolCallId.length + event.toolCallName.length + 64);
  model.store.addCall(ownerOf(model, event), call);
  model.messagesChanged();
}

function note(model: RunModel, calls: SmallMap<string, true>, id: string): void {
  if (calls.has(id)) return;
  model.holdForRun(id.length + 64);
  calls.set(id, true);
  requireWithin("maxUnits", calls.size, model.limits);
}

function reopen(model: RunModel, event: ToolCallStartEvent, place: CallLocation): void {
  const current = place.entry.current;
  const name =
    current.role === "assistant" ? current.toolCalls?.[place.position]?.function.name : undefined;
  if (name === event.toolCallName && event.metadata === undefined) return;
  const call = place.entry.draftCall(place.position);
  if (call === undefined) return;
  call.function.name = event.toolCallName;
  model.mergeMetadata(call, event.metadata);
  model.messagesChanged();
}

/**
 * The assistant message named as parent. If there is none, a new message under the parent's id;
 * under the call's id when the event names no parent, an empty one, or one that is not an assistant
 * message.
 */
function ownerOf(model: RunModel, event: ToolCallStartEvent): MessageEntry {
  const parent = event.parentMessageId === "" ? undefined : event.parentMessageId;
  const named = parent === undefined ? undefined : model.store.find(parent);
  if (named?.current.role === "assistant") return named;
  const id = parent === undefined || named !== undefined ? event.toolCallId : parent;
  const message: Message = { id, role: "assistant", toolCalls: [] };
  if (event.subagentRunId !== undefined && !model.store.has(id)) {
    message.subagentRunId = event.subagentRunId;
  }
  return model.store.append(message);
}

/** Appends arguments; they are text, whatever they look like. */
export function applyToolCallArgs(model: RunModel, event: ToolCallArgsEvent): void {
  const place = model.store.findCall(event.toolCallId);
  const call = place?.entry.draftCall(place.position);
  if (call === undefined) return;
  model.hold(event.delta.length);
  call.function.arguments += event.delta;
  model.mergeMetadata(call, event.metadata);
  model.messagesChanged();
}

/** Only its metadata matters. */
export function applyToolCallEnd(model: RunModel, event: ToolCallEndEvent): void {
  if (event.metadata === undefined) return;
  const place = model.store.findCall(event.toolCallId);
  const call = place?.entry.draftCall(place.position);
  if (call === undefined) return;
  model.mergeMetadata(call, event.metadata);
  model.messagesChanged();
}

/** A new tool message beside its call; a second one under the same id is a second message. */
export function applyToolCallResult(model: RunModel, event: ToolCallResultEvent): void {
  note(model, model.answeredCalls, event.toolCallId);
  const message: ToolMessage = {
    id: event.messageId,
    role: "tool",
    toolCallId: event.toolCallId,
    content: event.content,
  };
  if (event.subagentRunId !== undefined) message.subagentRunId = event.subagentRunId;
  model.mergeMetadata(message, event.metadata);
  model.hold(model.measure(event.content) + 64);
  model.store.insertResult(message, event.toolCallId);
  model.messagesChanged();
}
