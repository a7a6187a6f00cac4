import type { JsonValue } from "@countersign/core";

/** What an enveloped event does, in the words of the envelope. */
export type EnvelopeEventType =
  | "text_stream"
  | "state_update"
  | "navigation"
  | "lifecycle"
  | "form_action"
  | "notification"
  | "error"
  | { custom: string };

/** What an event does to the screen, seen by a guard. */
export type EnvelopeClassification =
  | "display"
  | "mutate"
  | "navigate"
  | "create"
  | "destroy"
  | "submit"
  | "alert";

/** The surface an event speaks to. */
export type EnvelopeTarget = { component_type: string; component_id?: string };

/** The event envelope: what an agent claims about an event, and its payload. */
export type Envelope = {
  event_id: string;
  /** Seconds since the epoch. */
  timestamp: number;
  agent_id: string;
  session_id?: string;
  event_type: EnvelopeEventType;
  target?: EnvelopeTarget;
  classification: EnvelopeClassification;
  payload: JsonValue;
};

/** An envelope as it arrived, with the capability that came beside it. */
export type EnvelopeClaim = {
  envelope: Envelope;
  /** A token in any form; it never enters an event. */
  capability?: JsonValue;
};

/** Every plain event type. */
export const ENVELOPE_EVENT_TYPES: readonly string[] = [
  "text_stream",
  "state_update",
  "navigation",
  "lifecycle",
  "form_action",
  "notification",
  "error",
];

/** Every classification. */
export const ENVELOPE_CLASSIFICATIONS: readonly string[] = [
  "display",
  "mutate",
  "navigate",
  "create",
  "destroy",
  "submit",
  "alert",
];
