import type { Direction, JsonValue } from "@countersign/core";
import type { EventType } from "@countersign/wire";
import type { Classification } from "../vocabulary/classification.js";
import type { UiEventType } from "../vocabulary/event-type.js";
import type { Target } from "../vocabulary/target.js";

/** A component of generative UI, as receipts name it. */
export type ShownPart = {
  /** `a2ui:Button`. */
  readonly type: string;
  /** `<surface>/<id>`. */
  readonly id: string;
  /** Name of its action, if it has one. */
  readonly action?: string;
  /** SHA-256 (hex) of what a person sees and sends with it. */
  readonly subtreeHash: string;
};

/** One effect of an event: its type, target and class. */
export type Aspect = {
  readonly eventType: UiEventType;
  /** The name of a `custom` type. */
  readonly customName?: string;
  readonly target?: Target;
  /** The effective class: ours, or a stricter claimed one. */
  readonly classification: Classification;
  /** The class that we derived. */
  readonly derived: Classification;
  /** The path of a state that the effect comes from, as {@link plainPointer} writes it. */
  readonly path?: string;
  /** The component of generative UI that the effect is about. */
  readonly shown?: ShownPart;
};

/** A tool call that an event contains or belongs to. */
export type ToolCallFacts = {
  readonly name: string;
  /** Whether the client advertised this tool, so that the call acts in the client. */
  readonly byClient: boolean;
  /**
   * `whole`: `arguments` is the parsed value; `unparsable`: complete but not JSON; `partial`:
   * incomplete.
   */
  readonly state: "partial" | "whole" | "unparsable";
  readonly arguments?: JsonValue;
};

export type { Direction } from "@countersign/core";

/** The kind of input that was classified. */
export type FactsSource = EventType | "RUN_AGENT_INPUT" | "ENVELOPE";

/** All facts about one event that a decision needs; built by `classifyEvent` and its siblings. */
export type EventFacts = Aspect & {
  readonly source: FactsSource;
  readonly direction: Direction;
  /** The class that the event claims, if any. */
  readonly claimed?: Classification;
  /** A claim that the event may not make: the reason to block it. */
  readonly mismatch?: string;
  /** Further effects of the same event; all of them must be allowed. */
  readonly also?: readonly Aspect[];
  readonly toolCalls?: readonly ToolCallFacts[];
  /**
   * Of a state or an activity: the operations as sent, and every path that they add, remove or
   * replace. Computed when a condition reads it, before the event takes effect.
   * @throws Error when the changes are unknown
   */
  readonly changes?: () => JsonValue;
  /** Tools a client offers with its request. */
  readonly declaredTools?: readonly string[];
};
