import type { AgUiEvent } from "../model/event.js";
import type { PendingStream } from "./lanes.js";

/** The fields of a chunk that ride on the events made from it. */
export type ChunkOrigin = Pick<AgUiEvent, "metadata" | "rawEvent"> & { subagentRunId?: string };

/** The START that a first chunk stands for; the chunk's `rawEvent` belongs to the content. */
export function startOf(stream: PendingStream, origin: ChunkOrigin): AgUiEvent {
  const event = bareStart(stream);
  if (stream.subagentRunId !== undefined) event.subagentRunId = stream.subagentRunId;
  if (origin.metadata !== undefined) event.metadata = origin.metadata;
  return event;
}

function bareStart(stream: PendingStream): AgUiEvent & { subagentRunId?: string } {
  switch (stream.kind) {
    case "text":
      return {
        type: "TEXT_MESSAGE_START",
        messageId: stream.id,
        role: stream.role ?? "assistant",
        ...(stream.name !== undefined && { name: stream.name }),
      };
    case "tool-call":
      return {
        type: "TOOL_CALL_START",
        toolCallId: stream.id,
        toolCallName: stream.toolCallName ?? "",
        ...(stream.parentMessageId !== undefined && { parentMessageId: stream.parentMessageId }),
      };
    case "reasoning":
      return { type: "REASONING_MESSAGE_START", messageId: stream.id, role: "reasoning" };
  }
}

/** The CONTENT or ARGS of a chunk, with its metadata and `rawEvent`. */
export function contentOf(stream: PendingStream, delta: string, origin: ChunkOrigin): AgUiEvent {
  const event: AgUiEvent & { subagentRunId?: string } =
    stream.kind === "tool-call"
      ? { type: "TOOL_CALL_ARGS", toolCallId: stream.id, delta }
      : stream.kind === "text"
        ? { type: "TEXT_MESSAGE_CONTENT", messageId: stream.id, delta }
        : { type: "REASONING_MESSAGE_CONTENT", messageId: stream.id, delta };
  const owner = origin.subagentRunId === undefined ? stream.subagentRunId : origin.subagentRunId;
  if (owner !== undefined) event.subagentRunId = owner;
  if (origin.metadata !== undefined) event.metadata = origin.metadata;
  if (origin.rawEvent !== undefined) event.rawEvent = origin.rawEvent;
  return event;
}

/** The END of a stream: only its id and its owner, for no chunk said it. */
export function endOf(stream: PendingStream): AgUiEvent {
  const event: AgUiEvent & { subagentRunId?: string } =
    stream.kind === "tool-call"
      ? { type: "TOOL_CALL_END", toolCallId: stream.id }
      : stream.kind === "text"
        ? { type: "TEXT_MESSAGE_END", messageId: stream.id }
        : { type: "REASONING_MESSAGE_END", messageId: stream.id };
  if (stream.subagentRunId !== undefined) event.subagentRunId = stream.subagentRunId;
  return event;
}
