import type { AgUiEvent, EventOf, EventType } from "../model/event.js";
import {
  applyActivityDelta,
  applyActivitySnapshot,
  applyMessagesSnapshot,
  applyStateDelta,
  applyStateSnapshot,
} from "./apply-documents.js";
import {
  applyRunError,
  applyRunFinished,
  applyRunStarted,
  applyStep,
  applySubagentEnd,
  applySubagentStarted,
} from "./apply-run.js";
import {
  applyEncryptedValue,
  applyTextContent,
  applyTextEnd,
  applyTextStart,
} from "./apply-text.js";
import {
  applyToolCallArgs,
  applyToolCallEnd,
  applyToolCallResult,
  applyToolCallStart,
} from "./apply-tool-calls.js";
import { resolveReduceLimits } from "./limits.js";
import type { ReduceLimits } from "./limits.js";
import { RunModel } from "./run-model.js";
import type { ReducerInitial } from "./run-model.js";
import type { RunView } from "./view.js";
import type { ErrorCode } from "@countersign/core";

declare module "@countersign/core" {
  interface ErrorFacts {
    /** A JSON Patch, or the document it makes, goes over a bound. */
    ERR_PATCH_TOO_LARGE: {
      limit: "maxOperations" | "maxSize" | "maxDepth" | "maxWork";
      allowed: number;
      operation: number;
    };
    /** The conversation a stream builds goes over a bound. */
    ERR_REDUCE_TOO_LARGE: {
      limit: "maxMessages" | "maxCharacters" | "maxMetadataKeys" | "maxUnits";
      allowed: number;
    };
  }
}

/** The codes that reduction throws. */
export type ReduceErrorCode = Extract<ErrorCode, `ERR_PATCH_${string}` | `ERR_REDUCE_${string}`>;

type Apply = { readonly [Type in EventType]: (model: RunModel, event: EventOf<Type>) => void };

/** No behaviour may be derived from it. */
function ignore(): void {}

function refuseChunk(): never {
  throw new TypeError("chunk events must be expanded before they are reduced");
}

const APPLY: Apply = {
  RUN_STARTED: applyRunStarted,
  RUN_FINISHED: applyRunFinished,
  RUN_ERROR: applyRunError,
  STEP_STARTED: applyStep,
  STEP_FINISHED: applyStep,
  TEXT_MESSAGE_START: applyTextStart,
  TEXT_MESSAGE_CONTENT: applyTextContent,
  TEXT_MESSAGE_END: applyTextEnd,
  TEXT_MESSAGE_CHUNK: refuseChunk,
  TOOL_CALL_START: applyToolCallStart,
  TOOL_CALL_ARGS: applyToolCallArgs,
  TOOL_CALL_END: applyToolCallEnd,
  TOOL_CALL_CHUNK: refuseChunk,
  TOOL_CALL_RESULT: applyToolCallResult,
  REASONING_START: ignore,
  REASONING_END: ignore,
  REASONING_MESSAGE_START: applyTextStart,
  REASONING_MESSAGE_CONTENT: applyTextContent,
  REASONING_MESSAGE_END: applyTextEnd,
  REASONING_MESSAGE_CHUNK: refuseChunk,
  REASONING_ENCRYPTED_VALUE: applyEncryptedValue,
  STATE_SNAPSHOT: applyStateSnapshot,
  STATE_DELTA: applyStateDelta,
  MESSAGES_SNAPSHOT: applyMessagesSnapshot,
  ACTIVITY_SNAPSHOT: applyActivitySnapshot,
  ACTIVITY_DELTA: applyActivityDelta,
  SUBAGENT_STARTED: applySubagentStarted,
  SUBAGENT_FINISHED: applySubagentEnd,
  SUBAGENT_ERROR: applySubagentEnd,
  RAW: ignore,
  CUSTOM: ignore,
};

/** Adds events up to a view. */
export type Reducer = {
  /**
   * Applies one event, after chunk expansion. A reference to an unknown id is ignored (the order
   * stage reports it). Throws `ERR_REDUCE_*` or `ERR_PATCH_*` over a bound; dead afterwards.
   */
  push(event: AgUiEvent): void;
  /** The view so far: the same object until something changes, and unchanged parts for longer. */
  snapshot(): RunView;
};

/**
 * Creates a reducer, optionally from an earlier conversation and state.
 *
 * The reducer keeps events without copying them: the caller must not alter them afterwards.
 */
export function createReducer(
  initial: ReducerInitial = {},
  limits?: Partial<ReduceLimits>,
): Reducer {
  const model = new RunModel(initial, resolveReduceLimits(limits));
  let failure: unknown;
  return {
    push(event) {
      if (failure !== undefined) throw failure;
      // The table is typed per event type; TypeScript cannot follow the union through the index.
      const apply = APPLY[event.type] as (model: RunModel, event: AgUiEvent) => void;
      try {
        apply(model, event);
      } catch (error) {
        failure = error;
        throw error;
      }
    },
    snapshot: () => model.view(),
  };
}

/** The view that a list of events adds up to. */
export function reduceEvents(
  events: Iterable<AgUiEvent>,
  initial?: ReducerInitial,
  limits?: Partial<ReduceLimits>,
): RunView {
  const reducer = createReducer(initial, limits);
  for (const event of events) reducer.push(event);
  return reducer.snapshot();
}
