import type { ContentFinding } from "../content/finding.js";
import type { CapabilityFacts as Facts, JsonObject } from "@countersign/core";
import type { Aspect, EventFacts } from "../classify/facts.js";
import type { PolicyMode } from "../document/model.js";

/** A capability as the decision sees it: already verified, valid or not. */
export type CapabilityFacts = Facts<EventFacts, Aspect>;

/** Numbers a counter book hands to the decision, each with the event in question counted in. */
export type CounterFacts = {
  readonly eventsInSecond: number;
  /** One number per velocity rule of the policy, in its order; 0 where the rule does not look at the event. */
  readonly velocity: ArrayLike<number>;
};

/** A violation the run automaton found at this event. */
export type ViolationFacts = { readonly rule: string; readonly severity: "error" | "warning" };

/** The transport an event travels on. */
export type Transport = "sse" | "websocket";

/** Everything one decision rests on. */
export type DecisionFacts = {
  readonly event: EventFacts;
  readonly transport: Transport;
  readonly counters: CounterFacts;
  readonly capability?: CapabilityFacts | undefined;
  readonly violations?: readonly ViolationFacts[] | undefined;
  /** Calls denied on this thread within the window of `ag_ui_tools.quarantine`; none when left out. */
  readonly deniedCalls?: number | undefined;
  /** `observe` turns every block of this decision into a remark; `enforce` changes nothing. */
  readonly mode?: PolicyMode | undefined;
  /** What was found in the text so far (`ag_ui_content`), `null` for nothing; left out, the event is read by itself. */
  readonly content?: ContentFinding | null | undefined;
  /** Hosts of a request's content parts that were resolved and lead outside (`ag_ui_content.sources: resolve`). */
  readonly publicHosts?: ReadonlySet<string> | undefined;
  /** Values for conditions. */
  readonly variables?: ConditionValues | undefined;
};

/** What conditions may read beside the facts. */
export type ConditionValues = {
  readonly event?: JsonObject;
  readonly message?: JsonObject;
  readonly session?: JsonObject;
};

/** For tools that judge one event out of its stream: it is the first and only one. */
export const NO_COUNTERS: CounterFacts = Object.freeze({
  eventsInSecond: 1,
  velocity: Object.freeze(Array.from({ length: 32 }, () => 0)),
});
