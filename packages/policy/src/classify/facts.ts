import type { JsonValue } from "@countersign/core";
import type { EventType } from "@countersign/wire";
import type { Classification } from "../vocabulary/classification.js";
import type { UiEventType } from "../vocabulary/event-type.js";
import type { Target } from "../vocabulary/target.js";

/** One thing an event does: its type, where, and how strict that is. */
export type Aspect = {
  readonly eventType: UiEventType;
  /** The name beside `custom`. */
  readonly customName?: string;
  readonly target?: Target;
  /** The effective class: ours, or a stricter one that came with the event. */
  readonly classification: Classification;
  /** The class we derived ourselves. */
  readonly derived: Classification;
};

/** A tool call an event carries or belongs to. */
export type ToolCallFacts = {
  readonly name: string;
  /** Whether the client advertised this tool, so that the call acts on the person's side. */
  readonly byClient: boolean;
  /** `whole`: `arguments` is the parsed value; `unparsable`: complete but no JSON; `partial`: not there yet. */
  readonly state: "partial" | "whole" | "unparsable";
  readonly arguments?: JsonValue;
};

/** Where an event comes from: the agent (`outbound`) or the browser (`inbound`). */
export type Direction = "outbound" | "inbound";

/** What kind of thing was classified. */
export type FactsSource = EventType | "RUN_AGENT_INPUT" | "ENVELOPE";

/** Everything the decision needs to know of one event; built by `classifyEvent` and its siblings. */
export type EventFacts = Aspect & {
  readonly source: FactsSource;
  readonly direction: Direction;
  /** The class that arrived with the event, where one did. */
  readonly claimed?: Classification;
  /** A claim the event may not make: the sentence that blocks it. */
  readonly mismatch?: string;
  /** Further things the same event does; all of them must be allowed. */
  readonly also?: readonly Aspect[];
  readonly toolCalls?: readonly ToolCallFacts[];
  /**
   * Of a state or an activity: the operations as they were sent, and every path that they add, remove or replace.
   * Made when a condition reads it, before the event takes effect.
   *
   * @throws Error when it cannot be told
   */
  readonly changes?: () => JsonValue;
  /** Tools a client offers with its request. */
  readonly declaredTools?: readonly string[];
};
