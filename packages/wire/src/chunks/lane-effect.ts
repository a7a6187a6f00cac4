import type { EventType } from "../model/event.js";

/**
 * The effect of an event on the streams that chunks are assembling.
 *
 * - `own`: closes the stream of the lane its tag names (untagged: the parent's).
 * - `all`: closes every lane, because the event concerns the whole run.
 * - `none`: closes nothing.
 * - `chunk`: is itself a chunk.
 */
export type LaneEffect = "own" | "all" | "none" | "chunk";

/** The lane effect of every event type (AG-UI 1.0, chunk expansion). */
export const LANE_EFFECTS: Readonly<Record<EventType, LaneEffect>> = Object.freeze({
  RUN_STARTED: "all",
  RUN_FINISHED: "all",
  RUN_ERROR: "all",
  MESSAGES_SNAPSHOT: "all",
  STEP_STARTED: "own",
  STEP_FINISHED: "own",
  TEXT_MESSAGE_START: "own",
  TEXT_MESSAGE_CONTENT: "own",
  TEXT_MESSAGE_END: "own",
  TOOL_CALL_START: "own",
  TOOL_CALL_ARGS: "own",
  TOOL_CALL_END: "own",
  TOOL_CALL_RESULT: "own",
  REASONING_START: "own",
  REASONING_END: "own",
  REASONING_MESSAGE_START: "own",
  REASONING_MESSAGE_CONTENT: "own",
  REASONING_MESSAGE_END: "own",
  STATE_SNAPSHOT: "own",
  STATE_DELTA: "own",
  CUSTOM: "own",
  // Their tag is required, so the lane they close is always a subagent's, never the parent's.
  SUBAGENT_FINISHED: "own",
  SUBAGENT_ERROR: "own",
  SUBAGENT_STARTED: "none",
  REASONING_ENCRYPTED_VALUE: "none",
  ACTIVITY_SNAPSHOT: "none",
  ACTIVITY_DELTA: "none",
  RAW: "none",
  TEXT_MESSAGE_CHUNK: "chunk",
  TOOL_CALL_CHUNK: "chunk",
  REASONING_MESSAGE_CHUNK: "chunk",
});
