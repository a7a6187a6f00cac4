import type { JsonObject } from "@countersign/core";
import type { Decision, EventFacts, StreamRuleId } from "@countersign/policy";
import type { AgUiEvent } from "@countersign/wire";
import type { EnvelopeClaim } from "@countersign/wire/dialects";
import type { Violation } from "@countersign/wire/order";
import type { UpstreamPiece } from "../agent/upstream.js";

/** A broken rule about a stream that needs more than its order; of a message list it may name one message. */
export type StreamViolation = {
  readonly rule: StreamRuleId;
  readonly severity: "error";
  readonly messageId?: string;
};

/**
 * One thing on its way from the agent to the person; each stage fills in what it finds out.
 *
 * A stage may turn one event into several (a chunk stands for START, CONTENT and END) or into none.
 */
export type EventContext = {
  /** The gateway's clock when the bytes arrived, in milliseconds. */
  readonly receivedAt: number;
  /** Before decode: what the transport handed over. */
  piece: UpstreamPiece | undefined;
  /** After decode: one JSON object. */
  value: JsonObject | undefined;
  /** After translate: what an envelope says about the event. */
  claim: EnvelopeClaim | undefined;
  /** After translate: the dialect has no run, so this event is ours; nobody judges or signs for it. */
  supplied: boolean;
  /** After enforce: an event of AG-UI 1.0. This value is judged, hashed and sent. */
  event: AgUiEvent | undefined;
  /** After order: the rules it breaks, if any. */
  violations: readonly (Violation | StreamViolation)[] | undefined;
  /** After classify. */
  facts: EventFacts | undefined;
  /** After classify: what the client had then (`ClientState.version`). */
  clientVersion: number;
  /** After decide. */
  decision: Decision | undefined;
  /** After decide: the token that was considered. */
  capabilityId: string | undefined;
  /** After decide: what leaves instead of `event`, where something was taken out of it. */
  emitted: AgUiEvent | undefined;
  /** After decide: a part of a message list that was judged by itself; it is signed for, never sent. */
  part: boolean;
  /** The code under which something was refused that is no event at all; it is signed for, never sent. */
  refused: string | undefined;
  /** After record: the canonical JSON of what leaves. It is what was hashed, and it is what is sent. */
  text: string | undefined;
  /** After record: the receipt that stands for it. */
  receiptId: string | undefined;
  /** After record: its place in the log. */
  seq: number | undefined;
};

/**
 * A event about which nothing is known yet. All members are there from the beginning: events that
 * grow, or are spread into new ones, each get a hidden class of their own, which made every later look
 * at them slow (a third of the time per event).
 */
export function createEventContext(receivedAt: number): EventContext {
  return {
    receivedAt,
    piece: undefined,
    value: undefined,
    claim: undefined,
    supplied: false,
    event: undefined,
    violations: undefined,
    facts: undefined,
    clientVersion: 0,
    decision: undefined,
    capabilityId: undefined,
    emitted: undefined,
    part: false,
    refused: undefined,
    text: undefined,
    receiptId: undefined,
    seq: undefined,
  };
}

/** How the agent's side ended: by itself, or by a failure with the code the person is told. */
export type StreamEnd = { readonly failure?: { readonly code: string; readonly message: string } };

/** One stage of one run. It gets what the stage before it passes on. */
export type Step = {
  push(context: EventContext): void;
  /** The events pushed since the last flush are signed for and delivered together. */
  flush(arrivedAt: number): void;
  end(end: StreamEnd): void;
  /** Ends the run after `end` threw in some stage: the failure goes straight to the record and to the person. */
  fail(failure: NonNullable<StreamEnd["failure"]>): void;
};

/** A step that passes on what it does not handle itself. */
export abstract class PassingStep implements Step {
  protected readonly next: Step;

  constructor(next: Step) {
    this.next = next;
  }

  abstract push(context: EventContext): void;

  flush(arrivedAt: number): void {
    this.next.flush(arrivedAt);
  }

  end(end: StreamEnd): void {
    this.next.end(end);
  }

  fail(failure: NonNullable<StreamEnd["failure"]>): void {
    this.next.fail(failure);
  }
}
