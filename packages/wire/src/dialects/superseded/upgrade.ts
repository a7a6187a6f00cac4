import type { JsonObject } from "@countersign/core";
import type { FieldReader } from "../fields.js";
import { wholeMilliseconds } from "../legacy/timestamp.js";
import { UI_RENDER_HINT_NAME, VENDOR_KEY } from "../names.js";
import type { NoteSink } from "../note.js";
import type { UpgradeOptions } from "../options.js";
import { upgradeUsage } from "./usage.js";

/** The state of translating one stream. */
export type SupersededState = {
  options: Pick<UpgradeOptions, "threadId" | "runId" | "mintId">;
  threadId: string | undefined;
  /** The id of the open run as 1.0 sees it, and as the agent wrote it. */
  runId: string | undefined;
  agentRunId: string | undefined;
  requestedRunUsed: boolean;
  /** The message that chunks without an id continue. */
  messageId: string | undefined;
};

type Translate = (read: FieldReader, state: SupersededState, note: NoteSink) => JsonObject[];

/** One entry per event type of the 0.1.0 document. */
export const SUPERSEDED_EVENTS: ReadonlyMap<string, Translate> = new Map<string, Translate>([
  ["RUN_STARTED", runStarted],
  ["TEXT_MESSAGE_CHUNK", textMessageChunk],
  ["TOOL_CALL_START", toolCallStart],
  ["TOOL_CALL_RESULT", toolCallResult],
  ["RUN_FINISHED", runFinished],
  ["ERROR", failure],
  ["UI_RENDER_HINT", renderHint],
]);

function threadOf(state: SupersededState, note: NoteSink): string {
  if (state.threadId === undefined) {
    note("thread-id-supplied");
    state.threadId = state.options.threadId ?? state.options.mintId("thread");
  }
  return state.threadId;
}

function runStarted(read: FieldReader, state: SupersededState, note: NoteSink): JsonObject[] {
  const agentRunId = read.text("runId");
  const agentId = read.text("agentId");
  const time = read.number("timestamp");
  const timestamp = time === undefined ? undefined : wholeMilliseconds(time);
  if (time !== undefined && timestamp === undefined) {
    read.refuse("timestamp", "seconds or milliseconds since the epoch");
  }
  // The dialect's request cannot carry our run id, so its first run is the one that was asked for.
  const requested = state.requestedRunUsed ? undefined : state.options.runId;
  state.requestedRunUsed = true;
  state.agentRunId = agentRunId;
  state.runId = requested ?? agentRunId ?? state.options.mintId("run");
  state.messageId = undefined;
  if (agentRunId === undefined) note("run-id-supplied");
  else if (agentRunId !== state.runId) note("run-id-replaced", "/runId");
  const vendor = {
    ...(agentId === undefined ? {} : { agentId }),
    ...(agentRunId === undefined || agentRunId === state.runId ? {} : { agentRunId }),
  };
  return [
    {
      type: "RUN_STARTED",
      threadId: threadOf(state, note),
      runId: state.runId,
      protocolVersion: "1.0",
      ...(timestamp === undefined ? {} : { timestamp }),
      ...(Object.keys(vendor).length === 0 ? {} : { metadata: { [VENDOR_KEY]: vendor } }),
    },
  ];
}

function textMessageChunk(read: FieldReader, state: SupersededState, note: NoteSink): JsonObject[] {
  const delta = read.text("delta");
  const named = read.text("messageId");
  if (named !== undefined) state.messageId = named;
  if (delta === undefined) {
    note("empty-chunk-dropped");
    return [];
  }
  if (state.messageId === undefined) {
    note("message-id-minted");
    state.messageId = state.options.mintId("message");
  }
  // The id is repeated on every chunk: an event injected between two of them closes the lane.
  return [{ type: "TEXT_MESSAGE_CHUNK", messageId: state.messageId, role: "assistant", delta }];
}

function toolCallStart(read: FieldReader, state: SupersededState, note: NoteSink): JsonObject[] {
  const named = read.text("toolCallId");
  const toolCallName = read.text("toolName");
  const args = read.object("args");
  state.messageId = undefined;
  // Nothing can be executed from it and no policy could judge it.
  if (toolCallName === undefined) {
    note("nameless-call-dropped");
    return [];
  }
  if (named === undefined) note("tool-call-id-minted");
  const toolCallId = named ?? state.options.mintId("toolCall");
  return [
    { type: "TOOL_CALL_START", toolCallId, toolCallName },
    ...(args === undefined
      ? []
      : [{ type: "TOOL_CALL_ARGS", toolCallId, delta: JSON.stringify(args) }]),
    { type: "TOOL_CALL_END", toolCallId },
  ];
}

function toolCallResult(read: FieldReader, state: SupersededState, note: NoteSink): JsonObject[] {
  const toolCallId = read.text("toolCallId");
  const result = read.any("result");
  const isError = read.flag("isError");
  state.messageId = undefined;
  if (toolCallId === undefined) {
    note("orphan-result-dropped");
    return [];
  }
  const vendor = {
    ...(isError === undefined ? {} : { isError }),
    ...(result === undefined || typeof result === "string" ? {} : { json: true }),
  };
  return [
    {
      type: "TOOL_CALL_RESULT",
      messageId: `${toolCallId}:result`,
      toolCallId,
      content: typeof result === "string" ? result : (JSON.stringify(result) ?? ""),
      role: "tool",
      ...(Object.keys(vendor).length === 0 ? {} : { metadata: { [VENDOR_KEY]: vendor } }),
    },
  ];
}

function runFinished(read: FieldReader, state: SupersededState, note: NoteSink): JsonObject[] {
  const named = read.text("runId");
  const status = read.text("status");
  const usage = upgradeUsage(read, note);
  state.messageId = undefined;
  if (status !== undefined && status !== "success") {
    note("status-is-error", "/status");
    return [
      {
        type: "RUN_ERROR",
        message: "The agent finished the run with a status other than success.",
        code: status,
        ...usage,
      },
    ];
  }
  if (named === undefined) note("run-id-supplied");
  // A finish that names another run than the agent's own keeps that name: ordering must see it.
  const own = named === undefined || named === state.agentRunId ? state.runId : undefined;
  const runId = own ?? named ?? state.options.runId ?? state.options.mintId("run");
  return [{ type: "RUN_FINISHED", threadId: threadOf(state, note), runId, ...usage }];
}

function failure(read: FieldReader, state: SupersededState, note: NoteSink): JsonObject[] {
  const code = read.text("code");
  const message = read.text("message") ?? "";
  if (read.any("details") !== undefined) note("field-dropped", "/details");
  state.messageId = undefined;
  return [{ type: "RUN_ERROR", message, ...(code === undefined ? {} : { code }) }];
}

function renderHint(read: FieldReader, state: SupersededState, note: NoteSink): JsonObject[] {
  const component = read.text("component");
  const props = read.any("props");
  state.messageId = undefined;
  if (component === undefined) {
    note("empty-hint-dropped");
    return [];
  }
  const value = { component, ...(props === undefined ? {} : { props }) };
  return [{ type: "CUSTOM", name: UI_RENDER_HINT_NAME, value }];
}
