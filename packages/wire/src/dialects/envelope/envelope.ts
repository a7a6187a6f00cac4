import type { Classification, JsonValue, NamedEventType } from "@countersign/core";

/** The surface an event speaks to. */
export type EnvelopeTarget = { component_type: string; component_id?: string };

/** The event envelope: what an agent claims about an event, and its payload. */
export type Envelope = {
  event_id: string;
  /** Seconds since the epoch. */
  timestamp: number;
  agent_id: string;
  session_id?: string;
  event_type: NamedEventType;
  target?: EnvelopeTarget;
  classification: Classification;
  payload: JsonValue;
};

/** An envelope as it arrived, with the capability that came beside it. */
export type EnvelopeClaim = {
  envelope: Envelope;
  /** A token in any form; it never enters an event. */
  capability?: JsonValue;
};
