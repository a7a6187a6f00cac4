import type { JsonValue } from "@countersign/core";
import type { EventFacts } from "@countersign/policy";

/** Reserves this many events of the limited tokens. Returns a promise if it has to ask the store. */
export type Reserve = (
  presented: JsonValue | undefined,
  events: number,
) => Promise<void> | undefined;

/** Rate caps that several gateways count together. */
export type SharedCaps = {
  /** Reserves this many events like this one; without facts, of any kind. Returns a promise if it has to ask the store. */
  reserve(facts: EventFacts | undefined, events: number): Promise<void> | undefined;
  /** Returns the reserved events that the run did not need. */
  release(): void;
  /** The run ended: other runs may use the session's reserved events. */
  end(): void;
};

/** The reservations that a run may need before an event is judged. */
export type Reservations = { readonly reserve: Reserve; readonly caps: SharedCaps | undefined };
