import type { JsonValue } from "@countersign/core";
import type { EventFacts } from "@countersign/policy";

/** Asks that so many events of limited tokens be at hand; a promise where that takes a question. */
export type Reserve = (
  presented: JsonValue | undefined,
  events: number,
) => Promise<void> | undefined;

/** Caps over time that are counted together with other gateways. */
export type SharedCaps = {
  /** Asks that so many events like this one can be counted, or of whatever kind; a promise where that takes a question. */
  reserve(facts: EventFacts | undefined, events: number): Promise<void> | undefined;
  /** Most of what was asked for was not needed. */
  release(): void;
  /** The run is over: what was asked for its session may be used elsewhere. */
  end(): void;
};

/** What may have to be asked for before an event is judged. */
export type Reservations = { readonly reserve: Reserve; readonly caps: SharedCaps | undefined };
