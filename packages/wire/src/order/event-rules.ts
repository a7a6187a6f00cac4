import type { EventOf, EventType } from "../model/event.js";
import type { RuleContext } from "./rule-context.js";
import { checkMessagesSnapshot, checkRunFinished, checkRunStarted } from "./run-rules.js";
import {
  checkReasoningContinuation,
  checkReasoningStart,
  checkTextContinuation,
  checkTextStart,
} from "./text-rules.js";
import {
  checkToolCallContinuation,
  checkToolCallResult,
  checkToolCallStart,
} from "./tool-call-rules.js";
import {
  checkActivityDelta,
  checkActivitySnapshot,
  checkEncryptedValue,
  checkStep,
  checkSubagentEnd,
  checkSubagentStarted,
} from "./unit-rules.js";

/** The rules of each event type, checked after the rules of the run as a whole. */
export type EventRules = {
  readonly [Type in EventType]: (context: RuleContext, event: EventOf<Type>) => void;
};

/** Nothing to hold against it: a tag on these is provenance, not ownership. */
function pass(): void {}

function refuseChunk(context: RuleContext): void {
  context.report("event/unexpanded-chunk");
}

/** One entry per event type. */
export const EVENT_RULES: EventRules = {
  RUN_STARTED: checkRunStarted,
  RUN_FINISHED: checkRunFinished,
  RUN_ERROR: pass,
  STEP_STARTED: checkStep,
  STEP_FINISHED: checkStep,
  TEXT_MESSAGE_START: checkTextStart,
  TEXT_MESSAGE_CONTENT: checkTextContinuation,
  TEXT_MESSAGE_END: checkTextContinuation,
  TEXT_MESSAGE_CHUNK: refuseChunk,
  TOOL_CALL_START: checkToolCallStart,
  TOOL_CALL_ARGS: checkToolCallContinuation,
  TOOL_CALL_END: checkToolCallContinuation,
  TOOL_CALL_CHUNK: refuseChunk,
  TOOL_CALL_RESULT: checkToolCallResult,
  REASONING_START: checkReasoningStart,
  REASONING_END: checkReasoningContinuation,
  REASONING_MESSAGE_START: checkReasoningStart,
  REASONING_MESSAGE_CONTENT: checkReasoningContinuation,
  REASONING_MESSAGE_END: checkReasoningContinuation,
  REASONING_MESSAGE_CHUNK: refuseChunk,
  REASONING_ENCRYPTED_VALUE: checkEncryptedValue,
  STATE_SNAPSHOT: pass,
  STATE_DELTA: pass,
  MESSAGES_SNAPSHOT: checkMessagesSnapshot,
  ACTIVITY_SNAPSHOT: checkActivitySnapshot,
  ACTIVITY_DELTA: checkActivityDelta,
  SUBAGENT_STARTED: checkSubagentStarted,
  SUBAGENT_FINISHED: checkSubagentEnd,
  SUBAGENT_ERROR: checkSubagentEnd,
  RAW: pass,
  CUSTOM: pass,
};
