import type { JsonObject } from "@countersign/core";
import type { Decision, EventFacts } from "@countersign/policy";
import type { AgUiEvent } from "@countersign/wire";
import type { EnvelopeClaim } from "@countersign/wire/dialects";
import type { Violation } from "@countersign/wire/order";
import type { UpstreamPiece } from "../upstream/upstream.js";

/**
 * One thing on its way from the agent to the person; each stage fills in what it finds out.
 *
 * A stage may turn one passage into several (a chunk stands for START, CONTENT and END) or into none.
 */
export type Passage = {
  /** The gateway's clock when the bytes arrived, in milliseconds. */
  readonly receivedAt: number;
  /** Before decode: what the transport handed over. */
  piece?: UpstreamPiece;
  /** After decode: one JSON object. */
  value?: JsonObject;
  /** After translate: what an envelope says about the event. */
  claim?: EnvelopeClaim;
  /** After translate: the dialect has no run, so this event is ours; nobody judges or signs for it. */
  supplied?: true;
  /** After translate: the translation of a dialect gave the event its reserved name, not the agent. */
  isHint?: true;
  /** After enforce: an event of AG-UI 1.0. This value is judged, hashed and sent. */
  event?: AgUiEvent;
  /** After order: the first rule it breaks, if any. */
  violation?: Violation;
  /** After classify. */
  facts?: EventFacts;
  /** After decide. */
  decision?: Decision;
  /** After decide: the token that was considered. */
  capabilityId?: string;
  /** After decide: what leaves instead of `event`, where something was taken out of it. */
  emitted?: AgUiEvent;
  /** After decide: a part of a message list that was judged by itself; it is signed for, never sent. */
  part?: true;
  /** The code under which something was refused that is no event at all; it is signed for, never sent. */
  refused?: string;
  /** After record: the receipt that stands for it. */
  receiptId?: string;
  /** After record: its place in the log. */
  seq?: number;
};

/** How the agent's side ended: by itself, or by a failure with the code the person is told. */
export type StreamEnd = { readonly failure?: { readonly code: string; readonly message: string } };

/** Takes what the stage before it lets through. */
export type Step = {
  push(passage: Passage): void;
  /** What was pushed since the last time belongs together; only stages that gather need to know. */
  flush?(arrivedAt: number): void;
  end(end: StreamEnd): void;
};
