import type { ContentFinding } from "../content/finding.js";
import type { CapabilityFacts as Facts, JsonObject } from "@countersign/core";
import type { Aspect, EventFacts } from "../classify/facts.js";
import type { PolicyMode } from "../document/model.js";
import type { MatchedRequest } from "../surface/request.js";
import type { SurfaceView } from "../surface/view.js";

/** A capability as input of the decision: already verified, valid or not. */
export type CapabilityFacts = Facts<EventFacts, Aspect>;

/** Numbers of a counter book for the decision, each including the current event. */
export type CounterFacts = {
  readonly eventsInSecond: number;
  /**
   * One number per velocity rule of the policy, in order; 0 if the rule does not match the event.
   */
  readonly velocity: ArrayLike<number>;
};

/** A violation that the run automaton found at this event. */
export type ViolationFacts = { readonly rule: string; readonly severity: "error" | "warning" };

/** The transport of an event. */
export type Transport = "sse" | "websocket";

/** All inputs of one decision. */
export type DecisionFacts = {
  readonly event: EventFacts;
  readonly transport: Transport;
  readonly counters: CounterFacts;
  readonly capability?: CapabilityFacts | undefined;
  readonly violations?: readonly ViolationFacts[] | undefined;
  /** Calls denied on this thread within the window of `ag_ui_tools.quarantine`; default none. */
  readonly deniedCalls?: number | undefined;
  /**
   * `observe` turns every block of this decision into an observation; `enforce` changes nothing.
   */
  readonly mode?: PolicyMode | undefined;
  /**
   * The finding in the text so far (`ag_ui_content`), `null` for none; if omitted, the event is
   * scanned alone.
   */
  readonly content?: ContentFinding | null | undefined;
  /**
   * Hosts of a request's content parts that resolve to public addresses (`ag_ui_content.sources:
   * resolve`).
   */
  readonly publicHosts?: ReadonlySet<string> | undefined;
  /** The generative UI that the event changes; `event` has its components (`addSurface`). */
  readonly surface?: SurfaceView | undefined;
  /** Clicks and requests of apps, matched; `event` has them (`addRequests`). */
  readonly requests?: readonly MatchedRequest[] | undefined;
  /** Values for conditions. */
  readonly variables?: ConditionValues | undefined;
};

/** Further values that conditions may read. */
export type ConditionValues = {
  readonly event?: JsonObject;
  readonly message?: JsonObject;
  readonly session?: JsonObject;
};

/** For tools that evaluate one event without its stream: it is the first and only one. */
export const NO_COUNTERS: CounterFacts = Object.freeze({
  eventsInSecond: 1,
  velocity: Object.freeze(Array.from({ length: 32 }, () => 0)),
});
