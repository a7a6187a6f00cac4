import type { EventOf, EventType } from "../model/event.js";
import type { Judge } from "./judge.js";
import { judgeMessagesSnapshot, judgeRunFinished, judgeRunStarted } from "./run-rules.js";
import {
  judgeReasoningContinuation,
  judgeReasoningStart,
  judgeTextContinuation,
  judgeTextStart,
} from "./text-rules.js";
import {
  judgeToolCallContinuation,
  judgeToolCallResult,
  judgeToolCallStart,
} from "./tool-call-rules.js";
import {
  judgeActivityDelta,
  judgeActivitySnapshot,
  judgeEncryptedValue,
  judgeStep,
  judgeSubagentEnd,
  judgeSubagentStarted,
} from "./unit-rules.js";

/** What is judged at one event, after the rules about the run as a whole. */
export type EventRules = {
  readonly [Type in EventType]: (judge: Judge, event: EventOf<Type>) => void;
};

/** Nothing to hold against it: a tag on these is provenance, not ownership. */
function pass(): void {}

function refuseChunk(judge: Judge): void {
  judge.report("event/unexpanded-chunk");
}

/** One entry per event type. */
export const EVENT_RULES: EventRules = {
  RUN_STARTED: judgeRunStarted,
  RUN_FINISHED: judgeRunFinished,
  RUN_ERROR: pass,
  STEP_STARTED: judgeStep,
  STEP_FINISHED: judgeStep,
  TEXT_MESSAGE_START: judgeTextStart,
  TEXT_MESSAGE_CONTENT: judgeTextContinuation,
  TEXT_MESSAGE_END: judgeTextContinuation,
  TEXT_MESSAGE_CHUNK: refuseChunk,
  TOOL_CALL_START: judgeToolCallStart,
  TOOL_CALL_ARGS: judgeToolCallContinuation,
  TOOL_CALL_END: judgeToolCallContinuation,
  TOOL_CALL_CHUNK: refuseChunk,
  TOOL_CALL_RESULT: judgeToolCallResult,
  REASONING_START: judgeReasoningStart,
  REASONING_END: judgeReasoningContinuation,
  REASONING_MESSAGE_START: judgeReasoningStart,
  REASONING_MESSAGE_CONTENT: judgeReasoningContinuation,
  REASONING_MESSAGE_END: judgeReasoningContinuation,
  REASONING_MESSAGE_CHUNK: refuseChunk,
  REASONING_ENCRYPTED_VALUE: judgeEncryptedValue,
  STATE_SNAPSHOT: pass,
  STATE_DELTA: pass,
  MESSAGES_SNAPSHOT: judgeMessagesSnapshot,
  ACTIVITY_SNAPSHOT: judgeActivitySnapshot,
  ACTIVITY_DELTA: judgeActivityDelta,
  SUBAGENT_STARTED: judgeSubagentStarted,
  SUBAGENT_FINISHED: judgeSubagentEnd,
  SUBAGENT_ERROR: judgeSubagentEnd,
  RAW: pass,
  CUSTOM: pass,
};
