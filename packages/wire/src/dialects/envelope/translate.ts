import { isJsonObject, ownMember } from "@countersign/core";
import type { Classification, JsonObject, JsonValue, NamedEventType } from "@countersign/core";
import type { AgUiEvent } from "../../model/event.js";
import { ENVELOPE_NAME, VENDOR_KEY } from "../names.js";
import type { NoteSink } from "../note.js";
import type { UpgradeOptions } from "../options.js";
import type { Envelope, EnvelopeTarget } from "./envelope.js";

/** The run that envelopes ride in: their dialect has none, and 1.0 allows no event outside one. */
export function openEnvelopeRun(
  envelope: Envelope,
  options: Pick<UpgradeOptions, "threadId" | "runId" | "mintId">,
  note: NoteSink,
): JsonObject {
  note("run-supplied");
  return {
    type: "RUN_STARTED",
    threadId: options.threadId ?? envelope.session_id ?? options.mintId("thread"),
    runId: options.runId ?? options.mintId("run"),
    protocolVersion: "1.0",
    metadata: { [VENDOR_KEY]: { agentId: envelope.agent_id } },
  };
}

/** The text of an envelope that is nothing but text. */
function plainText(envelope: Envelope): string | undefined {
  const { event_type: type, payload } = envelope;
  if (type !== "text_stream" || !isJsonObject(payload)) return undefined;
  const text = ownMember(payload, "text");
  return typeof text === "string" && Object.keys(payload).length === 1 ? text : undefined;
}

/**
 * An envelope as native events. Plain text becomes one whole message, because the dialect marks no
 * message that several envelopes would share; anything else rides in a CUSTOM event as it was claimed.
 * No event carries the capability: clients keep events and send them back.
 */
export function upgradeEnvelope(envelope: Envelope): JsonObject[] {
  const timestamp = envelope.timestamp * 1000;
  const text = plainText(envelope);
  if (text === undefined) return [carryEnvelope(envelope)];
  const messageId = envelope.event_id;
  return [
    { type: "TEXT_MESSAGE_START", timestamp, messageId, role: "assistant" },
    { type: "TEXT_MESSAGE_CONTENT", timestamp, messageId, delta: text },
    { type: "TEXT_MESSAGE_END", timestamp, messageId },
  ];
}

/** An envelope as one CUSTOM event, whatever it holds: one envelope, one event, one decision. */
export function carryEnvelope(envelope: Envelope): JsonObject {
  const timestamp = envelope.timestamp * 1000;
  return { type: "CUSTOM", timestamp, name: ENVELOPE_NAME, value: { ...envelope } };
}

/** The gateway's own decision about an event. The agent supplies none of these values. */
export type EnvelopeFacts = {
  eventId: string;
  /** Whole seconds since the epoch. */
  timestamp: number;
  agentId: string;
  sessionId?: string;
  eventType: NamedEventType;
  target?: EnvelopeTarget;
  classification: Classification;
};

/**
 * A judged event in the shape that an envelope client expects, or nothing where the shape has no
 * content for it (the start and end of a text message). All claims come from `facts`: of a carried
 * envelope only the payload is used, because a native agent can write that CUSTOM event too.
 */
export function wrapEnvelope(event: AgUiEvent, facts: EnvelopeFacts): Envelope | undefined {
  if (event.type === "TEXT_MESSAGE_START" || event.type === "TEXT_MESSAGE_END") return undefined;
  return {
    event_id: facts.eventId,
    timestamp: facts.timestamp,
    agent_id: facts.agentId,
    ...(facts.sessionId === undefined ? {} : { session_id: facts.sessionId }),
    event_type: facts.eventType,
    ...(facts.target === undefined ? {} : { target: facts.target }),
    classification: facts.classification,
    payload: payloadOf(event),
  };
}

function payloadOf(event: AgUiEvent): JsonValue {
  if (event.type === "TEXT_MESSAGE_CONTENT") return { text: event.delta };
  if (event.type === "TEXT_MESSAGE_CHUNK") return { text: event.delta ?? "" };
  if (event.type === "CUSTOM" && event.name === ENVELOPE_NAME && isJsonObject(event.value)) {
    const payload = ownMember(event.value, "payload");
    if (payload !== undefined) return payload;
  }
  return event as unknown as JsonObject;
}
