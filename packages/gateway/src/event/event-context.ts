import type { JsonObject } from "@countersign/core";
import type { Decision, EventFacts, StreamRuleId, SurfaceView } from "@countersign/policy";
import type { SurfaceFacts } from "@countersign/surface";
import type { AgUiEvent } from "@countersign/wire";
import type { EnvelopeClaim } from "@countersign/wire/dialects";
import type { Violation } from "@countersign/wire/order";
import type { UpstreamPiece } from "../agent/upstream.js";

/** A violation of a stream rule that depends on more than the order of events. For a message list it may name one message. */
export type StreamViolation = {
  readonly rule: StreamRuleId;
  readonly severity: "error";
  readonly messageId?: string;
};

/**
 * One event in the pipeline, with everything that the stages find out about it.
 *
 * A stage may turn one event into several (a chunk stands for START, CONTENT and END) or drop it.
 */
export type EventContext = {
  /** The gateway's clock when the bytes arrived, in milliseconds. */
  readonly receivedAt: number;
  /** Before decode: the bytes or frame from the transport. */
  piece: UpstreamPiece | undefined;
  /** After decode: one JSON object. */
  value: JsonObject | undefined;
  /** After translate: the fields of the agent's envelope. */
  claim: EnvelopeClaim | undefined;
  /**
   * After translate: the gateway created this event because the agent's dialect has no runs. No policy judges it and it has no receipt.
   */
  isSynthetic: boolean;
  /** After enforce: an event of AG-UI 1.0. This value is judged, hashed and sent. */
  event: AgUiEvent | undefined;
  /** After decode: a delta that has only its text new since the event before it. The stages skip what they know from that event. */
  isContinued: boolean;
  /** After order: the rules that the event breaks. */
  violations: readonly (Violation | StreamViolation)[] | undefined;
  /** After classify. */
  facts: EventFacts | undefined;
  /** In decide: the interface that the event draws, with every component that it changes. */
  surface: SurfaceView | undefined;
  /** In decide: the interfaces that the delivered messages of a list draw. */
  listedSurfaces: SurfaceFacts[] | undefined;
  /** In decide: the activities that a message list removes from the client. */
  removedActivities: readonly string[] | undefined;
  /** After classify: the version of the client's state at that time (`ClientState.version`). */
  clientVersion: number;
  /** After decide. */
  decision: Decision | undefined;
  /** After decide: the whole event is delivered, so the next delta of its message can be a continued one. */
  canContinue: boolean;
  /** After decide: the token that the decision considered. */
  capabilityId: string | undefined;
  /** After decide: the event that the gateway sends instead of `event`, if the gateway removed a part of it. */
  emitted: AgUiEvent | undefined;
  /** After decide: one part of a message list, judged on its own. It has a receipt and is never sent. */
  isListedPart: boolean;
  /** The error code of input that is not an event. It has a receipt and is never sent. */
  refused: string | undefined;
  /** After record: the canonical JSON of the event that is sent. The receipt has the hash of this text. */
  text: string | undefined;
  /** After record: the id of the receipt. */
  receiptId: string | undefined;
  /** After record: its place in the log. */
  seq: number | undefined;
};

/**
 * Creates the context of an event before the first stage. The object has all members from the start, so that every event has the same
 * hidden class. Contexts that grew, or that were spread into new objects, cost a third of the time per event.
 */
export function createEventContext(receivedAt: number): EventContext {
  return {
    receivedAt,
    piece: undefined,
    value: undefined,
    claim: undefined,
    isSynthetic: false,
    event: undefined,
    isContinued: false,
    violations: undefined,
    facts: undefined,
    surface: undefined,
    listedSurfaces: undefined,
    removedActivities: undefined,
    clientVersion: 0,
    decision: undefined,
    canContinue: false,
    capabilityId: undefined,
    emitted: undefined,
    isListedPart: false,
    refused: undefined,
    text: undefined,
    receiptId: undefined,
    seq: undefined,
  };
}
